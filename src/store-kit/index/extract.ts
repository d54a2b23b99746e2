import type { AuditEvent } from '../../event/event.js'
import type { Microseconds } from '../../event/timestamp.js'
import type { Steps } from '../../filter/steps.js'
import { type Columns, createColumns } from './columns.js'
import type { IndexBounds } from './index-bounds.js'

/** The attributes of some events, in the order of time. */
export interface Extract {
  readonly times: readonly Microseconds[]
  readonly columns: Columns
}

/** An event as read from a store's row. */
export interface ExtractedRow extends Pick<AuditEvent, 'type' | 'username' | 'system' | 'source'> {
  readonly time: Microseconds
  /** JSON text. */
  readonly attributes: string
}

export interface Extractor {
  readonly size: number
  /** Approximate memory. */
  readonly bytes: number
  /**
   * The event must be later than all before it. Returns the rest of the work if the event has very many values; it
   * has to be done before the next addition.
   */
  add(row: ExtractedRow): Steps<void> | undefined
  extract(): Extract
}

export function createExtractor(bounds?: IndexBounds): Extractor {
  const columns = createColumns(bounds)
  const times: Microseconds[] = []
  return {
    get size() {
      return times.length
    },
    get bytes() {
      return columns.bytes
    },
    add({ time, attributes: text, ...own }) {
      const attributes = JSON.parse(text) as AuditEvent['attributes']
      times.push(time)
      return columns.add({ ...own, attributes })
    },
    extract: () => ({ times, columns }),
  }
}
