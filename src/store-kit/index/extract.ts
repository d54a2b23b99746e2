import type { AuditEvent } from '../../event/event.js'
import type { Microseconds } from '../../event/timestamp.js'
import { type Columns, createColumns } from './columns.js'

/** Events taken apart, in the order of their times. */
export interface Extract {
  readonly times: readonly Microseconds[]
  readonly columns: Columns
  /** The ordinals of those that cannot be in the index as they are, rising. */
  readonly unindexed: readonly number[]
}

/** An event as a store's rows have it. */
export interface ExtractedRow extends Pick<AuditEvent, 'type' | 'username' | 'system'> {
  readonly time: Microseconds
  /** As JSON text. */
  readonly attributes: string
}

export interface Extractor {
  readonly size: number
  /** The event is later than all before. */
  add(row: ExtractedRow): void
  extract(): Extract
}

// Texts of databases cannot hold half a character, so it would be found by another one.
const MAYBE_HALF_A_CHARACTER = /\\u[dD][89a-fA-F]/

export function createExtractor(): Extractor {
  const columns = createColumns()
  const times: Microseconds[] = []
  const unreadable: number[] = []
  return {
    get size() {
      return times.length
    },
    add({ time, type, username, system, attributes: text }) {
      const isReadable = !MAYBE_HALF_A_CHARACTER.test(text)
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
