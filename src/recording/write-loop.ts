import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Appender } from './appender.js'
import type { Availability } from './availability.js'
import type { Attempt, Attempted } from './committer.js'
import type { JournalReplay } from './journal-replay.js'
import type { Queue } from './queue.js'
import type { Settlement } from './settlement.js'
import type { EventStore } from '../store/store.js'

export interface WriteLoopDependencies {
  readonly store: EventStore
  readonly queue: Queue
  readonly availability: Availability
  readonly appender: Appender
  readonly settlement: Settlement
  readonly attempt: Attempt
  readonly replay: JournalReplay
}

/** The result of an attempt without a batch. */
const NOTHING: Promise<Attempted> = Promise.resolve({ settle: undefined, again: [] })

/** Writes batches and replays the journal while there is work. */
export interface WriteLoop {
  start(): void
  /** Aborts a replay; resolves when the loop has ended. */
  close(): Promise<void>
}

export function createWriteLoop({
  store,
  queue,
  availability,
  appender,
  settlement,
  attempt,
  replay,
}: WriteLoopDependencies): WriteLoop {
  let running: Promise<void> | undefined
  const hasWork = (): boolean => !queue.isEmpty() || replay.isDue()
  const isNextDue = (): boolean =>
    store.appendsInBackground === true && queue.has(store.maxBatch) && !replay.isDue()
  const attemptNext = (): Promise<Attempted> => {
    const batch = queue.take(store.maxBatch)
    return batch.length > 0 ? attempt(batch) : NOTHING
  }
  /** Prepares what the calls of this turn have recorded. */
  const prepareNext = async (): Promise<void> => {
    if (!store.prepare) return
    await nextTurn()
    store.prepare(queue.peek(store.maxBatch).map(({ draft }) => draft))
  }
  const run = async (): Promise<void> => {
    let next: Promise<Attempted> | undefined
    while (next || hasWork()) {
      // Collects all calls of this turn; and the event loop gets a turn between two commits.
      if (!next) await nextTurn()
      const { settle, again } = await (next ?? attemptNext())
      next = undefined
      if (settle) {
        if (isNextDue()) {
          // The store works on the next batch, which it sends in this turn, while the calls of this one continue.
          next = attemptNext()
          await nextTurn()
        }
        settle()
      }
      queue.land(again)
      if (availability.isDown()) settlement.allToJournal(queue)
      // Before any replay: otherwise the store would remove what the failed attempt may have stored.
      if (next) await prepareNext()
      if (next || again.length > 0) continue
      if (replay.isDue()) await replay.attempt()
    }
    running = undefined
  }
  return {
    start() {
      if (hasWork()) running ??= run()
    },
    async close() {
      replay.stop()
      if (queue.inFlight().length === 0 && running) appender.abortAttempt()
      await running
    },
  }
}
