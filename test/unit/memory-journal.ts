import { AuditLogError, type EventJournal, type JournalEntry } from 'daybook'

export interface MemoryJournal extends EventJournal {
  readonly entries: readonly JournalEntry[]
  /** The number of entries of each `add`. */
  readonly adds: readonly number[]
  failing: Error | undefined
  closed: number
}

/** A journal in memory with at most `max` entries. `found` are the entries of an earlier process. */
export function memoryJournal(max = Infinity, found: readonly JournalEntry[] = []): MemoryJournal {
  let entries: readonly JournalEntry[] = found
  const adds: number[] = []
  return {
    adds,
    failing: undefined,
    closed: 0,
    get entries() {
      return entries
    },
    get length() {
      return entries.length
    },
    add(added) {
      if (this.failing) throw this.failing
      adds.push(added.length)
      if (entries.length + added.length > max)
        throw new AuditLogError('QUEUE_FULL', 'the journal is full')
      entries = [...entries, ...added]
    },
    first: (count) => entries.slice(0, count),
    try(count, since) {
      entries = entries.map((entry, i) => (i < count ? { ...entry, since } : entry))
    },
    remove(count) {
      entries = entries.slice(count)
    },
    close() {
      this.closed++
    },
  }
}
