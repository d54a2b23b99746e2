import { createFirstTimer, type FirstTimer } from '../async/timers.js'
import type { Appender } from './appender.js'
import type { Queue, QueueEntry } from './queue.js'
import type { Settlement } from './settlement.js'

/** Enforces the deadlines of all entries with one timer. */
export type Deadlines = FirstTimer

/**
 * Tests entries against one time, on the scale of `performance.now()`. If each entry read the clock anew,
 * a later one could be due although an earlier one was not.
 */
export const dueAt =
  (now: number) =>
  ({ deadline }: QueueEntry): boolean =>
    deadline <= now

export function createDeadlines(
  queue: Queue,
  settlement: Pick<Settlement, 'expire' | 'allToJournal'>,
  appender: Pick<Appender, 'abortAttempt'>,
): Deadlines {
  return createFirstTimer((now) => {
    const isDue = dueAt(now)
    const dueInFlight = queue.inFlight().filter(isDue)
    if (dueInFlight.some(({ stage }) => stage === 'waiting')) appender.abortAttempt()
    const unconfirmed = dueInFlight.filter(({ stage }) => stage === 'stored')
    for (const entry of unconfirmed) settlement.expire(entry)
    // The store is down, and the write loop may wait for it.
    if (unconfirmed.length > 0 && !queue.fliesJournalBound()) settlement.allToJournal(queue)
    // Entries for the journal stay: the batch in flight is older, and has to get there first.
    const due = queue.extract((entry) => isDue(entry) && entry.policy !== 'queue')
    for (const entry of due) if (entry.stage !== 'settled') settlement.expire(entry)
    let next = Infinity
    // An entry that is due and still there waits for the batch in flight; it needs no timer.
    for (const { deadline } of queue.all()) if (deadline > now && deadline < next) next = deadline
    return next
  })
}
