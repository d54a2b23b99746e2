import type { AuditEvent } from '../../event/event.js'
import type { Microseconds } from '../../event/timestamp.js'
import { type Columns, createColumns } from './columns.js'

/** The attributes of some events, in the order of time. */
export interface Extract {
  readonly times: readonly Microseconds[]
  readonly columns: Columns
  /** Ordinals of events that the index cannot represent, ascending. */
  readonly unindexed: readonly number[]
}

/** An event as read from a store's row. */
export interface ExtractedRow extends Pick<AuditEvent, 'type' | 'username' | 'system'> {
  readonly time: Microseconds
  /** JSON text. */
  readonly attributes: string
}

export interface Extractor {
  readonly size: number
  /** The event must be later than all before it. */
  add(row: ExtractedRow): void
  extract(): Extract
}

// A lone surrogate cannot be stored in a database's text, which would hold a replacement character.
const MAYBE_LONE_SURROGATE = /\\u[dD][89a-fA-F]/

export function createExtractor(): Extractor {
  const columns = createColumns()
  const times: Microseconds[] = []
  const unreadable: number[] = []
  return {
    get size() {
      return times.length
    },
    add({ time, type, username, system, attributes: text }) {
      const isReadable = !MAYBE_LONE_SURROGATE.test(text)
      if (!isReadable) unreadable.push(times.length)
      const attributes = isReadable ? (JSON.parse(text) as AuditEvent['attributes']) : {}
      columns.add({ type, username, system, attributes })
      times.push(time)
    },
    extract: () => ({
      times,
      columns,
      unindexed: [...new Set([...columns.unindexed, ...unreadable])].toSorted((a, b) => a - b),
    }),
  }
}
