import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Appender } from './appender.js'
import type { Availability } from './availability.js'
import type { Attempt } from './committer.js'
import type { JournalReplay } from './journal-replay.js'
import type { Queue, QueueEntry } from './queue.js'
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
  /** Resolves when the calls of all batches so far have their results. */
  let settled: Promise<void> = Promise.resolve()
  let isRetryDue = false
  let endClosing = (): void => {}
  const closing = new Promise<void>((resolve) => (endClosing = resolve))
  const hasWork = (): boolean => !queue.isEmpty() || replay.isDue()
  const isNextDue = (): boolean =>
    store.appendsInBackground === true && queue.has(store.maxBatch) && !replay.isDue()
  /** Prepares what the calls of this turn have recorded. */
  const prepareNext = async (): Promise<void> => {
    if (!store.prepare || queue.inFlight().length === 0) return
    await nextTurn()
    store.prepare(queue.peek(store.maxBatch).map(({ draft }) => draft))
  }
  /** Resolves when the calls of the batch have their results, after those of `earlier` ones. */
  const write = async (
    batch: readonly QueueEntry[],
    earlier: Promise<void>,
    onStored: () => void,
  ): Promise<void> => {
    const { isStored, settle, again } = await attempt(batch, onStored)
    isRetryDue = again.length > 0
    if (settle) await earlier
    if (isStored && isNextDue()) {
      // The store works on the next batch, which it sends in this turn, while the calls of this one continue.
      onStored()
      await nextTurn()
    }
    settle?.()
    queue.land(batch)
    queue.putBack(again)
    if (availability.isDown()) settlement.allToJournal(queue)
    void prepareNext()
  }
  /** Writes the next batch; resolves when another may follow, so that at most two are stored but not durable. */
  const writeNext = async (): Promise<void> => {
    isRetryDue = false
    const batch = queue.take(store.maxBatch)
    if (batch.length === 0) return queue.land(batch)
    const earlier = settled
    await new Promise<void>((resolve) => {
      settled = write(batch, earlier, resolve)
      void settled.then(resolve)
    })
    await Promise.race([earlier, closing])
  }
  const run = async (): Promise<void> => {
    while (hasWork()) {
      // Collects all calls of this turn; and the event loop gets a turn between two commits.
      if (!isNextDue()) await nextTurn()
      if (!queue.isEmpty()) await writeNext()
      // Before any replay: otherwise the store would remove what the failed attempt may have stored.
      if (isRetryDue || !replay.isDue()) continue
      await Promise.race([settled, closing])
      await replay.attempt()
    }
    running = undefined
  }
  return {
    start() {
      if (hasWork()) running ??= run()
    },
    async close() {
      replay.stop()
      endClosing()
      if (queue.inFlight().length === 0 && running) appender.abortAttempt()
      await running
    },
  }
}
