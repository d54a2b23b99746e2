import { type Backoff, backoffMs } from '../async/backoff.js'
import { AuditLogError } from '../errors.js'
import type { EventDraft } from '../event/event.js'
import type { EventJournal, JournalEntry } from '../store/journal.js'
import { withOccurredAt } from '../event/occurred-at.js'
import type { Clock, Microseconds } from '../event/timestamp.js'

/** Stores drafts. Returns a function, which must be called once the drafts are removed from the journal. */
export type StoreDrafts = (
  drafts: readonly EventDraft[],
  since: Microseconds | undefined,
) => Promise<() => void>

/** Writes the events of each turn of the event loop to the journal together, and reads them back. */
export interface Journaling {
  /** Number of drafts in the journal or about to be written to it. */
  length(): number
  readonly now: Clock
  /** Calls `done` once the entry is durable, or with the error if it is not. */
  add(entry: JournalEntry, done: (error?: AuditLogError) => void): void
  /** Writes all added entries now. */
  flush(): void
  /** True if the journal holds drafts and no pause after a failed replay is running. */
  isDue(): boolean
  /** Calls `start` whenever a replay may have become due, and at once if one is. */
  onDue(start: () => void): void
  /**
   * Passes up to `count` of the oldest drafts to `store`, then removes them from the journal. `floor` is a time
   * before their events. If anything fails, the call rejects, and the next replay is due after a pause.
   */
  replay(count: number, floor: Microseconds, store: StoreDrafts): Promise<void>
  close(): void
}

// A turn with this many entries writes them before its end.
const MAX_GROUP = 500
const REPLAYS: Backoff = { firstMs: 250, maxMs: 5000 }

export function createJournaling(journal: EventJournal, now: Clock): Journaling {
  let group: { readonly entry: JournalEntry; readonly done: (error?: AuditLogError) => void }[] = []
  let failures = 0
  let timer: NodeJS.Timeout | undefined
  let start = (): void => {}

  const flush = (): void => {
    const written = group
    group = []
    if (written.length === 0) return
    try {
      journal.add(written.map(({ entry }) => entry))
    } catch (error) {
      // The journal may have room for some entries, so they are tried one by one, in order.
      if (written.length === 1) written[0]!.done(asJournalFailure(error))
      else for (const one of written) addOne(one)
      return
    }
    for (const { done } of written) done()
  }
  const addOne = ({ entry, done }: (typeof group)[number]): void => {
    try {
      journal.add([entry])
    } catch (error) {
      return done(asJournalFailure(error))
    }
    return done()
  }

  return {
    length: () => journal.length + group.length,
    now,
    add(entry, done) {
      if (group.push({ entry, done }) >= MAX_GROUP) flush()
      else if (group.length === 1)
        setImmediate(() => {
          flush()
          start()
        })
    },
    flush,
    isDue: () => journal.length > 0 && timer === undefined,
    onDue(callback) {
      start = callback
      if (journal.length > 0) start()
    },
    async replay(count, floor, store) {
      try {
        const entries = journal.first(count)
        const tried = entries.flatMap(({ since }) => since ?? [])
        const since = tried.length > 0 ? Math.min(...tried) : undefined
        journal.try(entries.length, since ?? floor)
        const visibleAt = now()
        const finish = await store(
          entries.map((entry) => withOccurredAt(entry, visibleAt)),
          since,
        )
        journal.remove(entries.length)
        failures = 0
        finish()
      } catch (error) {
        timer = setTimeout(
          () => {
            timer = undefined
            start()
          },
          backoffMs(failures++, REPLAYS),
        ).unref()
        throw error
      }
    },
    close() {
      clearTimeout(timer)
      flush()
      journal.close()
    },
  }
}

function asJournalFailure(error: unknown): AuditLogError {
  if (error instanceof AuditLogError) return error
  return new AuditLogError('STORE_FAILED', 'the journal failed', { cause: error })
}
