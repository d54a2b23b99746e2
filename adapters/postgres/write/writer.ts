import type { EventDraft } from '../../../src/event/event.js'
import { createIntervalLoop } from '../../../src/async/loops.js'
import { timeoutSignal } from '../../../src/async/timeout-signal.js'
import type { AppendOptions } from '../../../src/store/store.js'
import { type Attempts, createAttempts, type OnVisible } from './append.js'
import type { Appended } from './append-call.js'
import { appendWithRetry } from './append-retry.js'
import { MAX_MOVED_DRAFTS } from '../schema/append-function.js'
import type { PostgresLog } from '../log/log.js'
import { createCallQueue } from './call-queue.js'
import { createPartitionsAhead } from './partitions-ahead.js'
import { warn } from '../../../src/async/warn.js'

const POLL_MS = 1000
const POLL_ATTEMPT_MS = 2000

/** Appends for one process, one call at a time. */
export interface Writer {
  readonly adopt: Attempts['adopt']
  append(drafts: readonly EventDraft[], options: AppendOptions): Promise<Appended>
  /** Moves all drafts of the outbox. */
  move(signal: AbortSignal | undefined): Promise<void>
  /** Emits a process warning if events of rejected calls may be stored, and the server does not answer. */
  close(): Promise<void>
}

/** Resolves when an append may begin. Never rejects. */
export type Ready = (signal: AbortSignal | undefined, deadline?: number) => Promise<void>

function warnOfKept(count: number): void {
  if (count === 0) return
  warn(
    `the log may have up to ${count} event${count === 1 ? '' : 's'} whose calls were rejected: ` +
      'it was closed before the Postgres server answered whether they are stored',
  )
}

/** `onVisible` is called when this process has made events visible. */
export function createWriter(
  log: PostgresLog,
  onVisible: OnVisible,
  ready: Ready | undefined,
): Writer {
  const attempts = createAttempts(log, onVisible)
  const partitions = createPartitionsAhead(log)
  // One call at a time, so that each recovers from the lost attempts of the earlier ones.
  const queue = createCallQueue()
  let lastFailure = -Infinity
  let isClosed = false

  const noteFailure = (error: unknown): never => {
    lastFailure = performance.now()
    throw error
  }
  /** True if the caller may still retry a lost attempt. Until then, the events that it stored must not be removed. */
  const mayBeRetried = (): boolean =>
    attempts.hasLost() && performance.now() - lastFailure < POLL_MS

  /** Moves one batch of the outbox; true if more may be left. */
  const moveSome = async (signal?: AbortSignal): Promise<boolean> => {
    await ready?.(signal)
    if (isClosed || mayBeRetried()) return false
    using wait = timeoutSignal(POLL_ATTEMPT_MS, signal)
    const deadline = performance.now() + POLL_ATTEMPT_MS
    const { moved } = await attempts.run({ drafts: [], deadline }, wait.signal)
    return moved === MAX_MOVED_DRAFTS
  }

  /** One batch a turn, so that appends need not wait for all batches. */
  const move = async (signal?: AbortSignal): Promise<void> => {
    let isLeft = true
    while (isLeft) isLeft = await queue.run(() => moveSome(signal), signal)
  }

  /** After a second without appends: true if the outbox is not empty, or a lost attempt needs recovery. */
  const isMoveDue = async (): Promise<boolean> => {
    // An unused store opens no connection.
    if (!log.state() || attempts.idleMs() < POLL_MS || mayBeRetried()) return false
    await partitions.createWhenDue()
    using wait = timeoutSignal(POLL_ATTEMPT_MS)
    const isFilled = await attempts.synchronize(wait.signal)
    return isFilled || attempts.hasLost()
  }

  const poll = async (): Promise<void> => {
    if (await queue.run(isMoveDue)) await move()
  }

  // The server may be away; the next poll retries.
  const polling = createIntervalLoop(poll, POLL_MS)
  polling.start()

  return {
    adopt: attempts.adopt,
    append: (drafts, options) =>
      queue.run(async () => {
        await ready?.(options.signal, options.deadline)
        return appendWithRetry(attempts, partitions, drafts, options).catch(noteFailure)
      }, options.signal),
    move,
    async close() {
      isClosed = true
      polling.pause()
      await queue.settled()
      if (!attempts.hasLost()) return
      const deadline = performance.now() + POLL_MS
      using wait = timeoutSignal(POLL_MS)
      await attempts.run({ drafts: [], deadline }, wait.signal).catch(() => {})
      warnOfKept(attempts.lostDrafts())
    },
  }
}
