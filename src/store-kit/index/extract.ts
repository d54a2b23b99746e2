import type { AuditEvent } from '../../event/event.js'
import type { Microseconds } from '../../event/timestamp.js'
import { type Columns, createColumns } from './columns.js'
import type { IndexBounds } from './index-bounds.js'

/** The attributes of some events, in the order of time. */
export interface Extract {
  readonly times: readonly Microseconds[]
  readonly columns: Columns
}

/** An event as read from a store's row. */
export interface ExtractedRow extends Pick<AuditEvent, 'type' | 'username' | 'system'> {
  readonly time: Microseconds
  /** JSON text. */
  readonly attributes: string
}

export interface Extractor {
  readonly size: number
  /** Approximate memory. */
  readonly bytes: number
  /** The event must be later than all before it. */
  add(row: ExtractedRow): void
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
    add({ time, type, username, system, attributes: text }) {
      const attributes = JSON.parse(text) as AuditEvent['attributes']
      columns.add({ type, username, system, attributes })
      times.push(time)
    },
    extract: () => ({ times, columns }),
  }
}
