import { AuditLogError } from '../errors.js'
import type { EventDraft } from '../event/event.js'
import type { EventJournal, JournalEntry } from '../store/journal.js'
import { withOccurredAt } from '../event/occurred-at.js'
import type { Clock, Microseconds } from '../event/timestamp.js'

/** Keeps some drafts, and gives what is to be done once they are out of the journal. */
export type KeepDrafts = (
  drafts: readonly EventDraft[],
  since: Microseconds | undefined,
) => Promise<() => void>

/** The way into the journal, in which calls of one turn go together, and out of it again. */
export interface Journaling {
  /** How many drafts wait, with those on their way into it. */
  length(): number
  readonly now: Clock
  /** `done` is told once the entry is durable, or why it is not. */
  add(entry: JournalEntry, done: (error?: AuditLogError) => void): void
  /** Writes what is on its way. */
  flush(): void
  /** True when something waits and the store may be tried. */
  isDue(): boolean
  /** Calls `start` whenever that begins to hold, and now if it does. */
  onDue(start: () => void): void
  /**
   * Has `keep` keep the oldest drafts, at most so many, all of them later than `floor`, and removes
   * them. Where that fails it rejects, and the store is tried again after a pause.
   */
  replay(count: number, floor: Microseconds, keep: KeepDrafts): Promise<void>
  close(): void
}

// So many calls of one turn are written without waiting for its end.
const MAX_GROUP = 500
const FIRST_PAUSE_MS = 250
const MAX_PAUSE_MS = 5000

export function createJournaling(journal: EventJournal, now: Clock): Journaling {
  let group: { readonly entry: JournalEntry; readonly done: (error?: AuditLogError) => void }[] = []
  let pauseMs = 0
  let timer: NodeJS.Timeout | undefined
  let start = (): void => {}

  const flush = (): void => {
    const written = group
    group = []
    if (written.length === 0) return
    try {
      journal.add(written.map(({ entry }) => entry))
    } catch (error) {
      // What has no room together may have some one by one, in the same order.
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
    onDue(given) {
      start = given
      if (journal.length > 0) start()
    },
    async replay(count, floor, keep) {
      try {
        const entries = journal.first(count)
        const tried = entries.flatMap(({ since }) => since ?? [])
        const since = tried.length > 0 ? Math.min(...tried) : undefined
        journal.try(entries.length, since ?? floor)
        const visibleAt = now()
        const finish = await keep(
          entries.map((entry) => withOccurredAt(entry, visibleAt)),
          since,
        )
        journal.remove(entries.length)
        pauseMs = 0
        finish()
      } catch (error) {
        pauseMs = Math.min(Math.max(pauseMs * 2, FIRST_PAUSE_MS), MAX_PAUSE_MS)
        timer = setTimeout(() => {
          timer = undefined
          start()
        }, pauseMs).unref()
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
