import { parseTimestamp } from '../event/timestamp.js'
import type { AttributeType } from './attributes.js'
import { lowerAscii, readBoolean, readNumber, trimAscii } from './values.js'

interface ValueReader {
  /** True if a text can be read as the type. */
  readonly reads: (text: string) => boolean
  /** The message if it cannot. */
  readonly fault: string
  /** The normal form of a text. */
  readonly canonical: (text: string) => string
}

const asGiven = (text: string): string => text

/** How values in a query are read as the declared types. */
export const READERS: Readonly<Record<AttributeType, ValueReader>> = {
  string: { reads: () => true, fault: '', canonical: asGiven },
  // RFC 9562, section 4: written in lower case, read in either case. Other text equals no UUID.
  uuid: { reads: () => true, fault: '', canonical: lowerAscii },
  number: {
    reads: (text) => readNumber(text) !== undefined,
    fault: 'is not a number such as 7, -2.5 or 1e3',
    canonical: asGiven,
  },
  boolean: {
    reads: (text) => readBoolean(text) !== undefined,
    fault: 'is neither true nor false',
    canonical: asGiven,
  },
  timestamp: {
    reads: (text) => parseTimestamp(text) !== undefined,
    fault: 'is not an ISO 8601 timestamp such as 2026-03-01T12:00:00.000000Z',
    canonical: trimAscii,
  },
}
