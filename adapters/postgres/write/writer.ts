import { AuditLogError } from '../../../src/errors.js'
import type { EventDraft } from '../../../src/event/event.js'
import { timeoutSignal } from '../../../src/async/timeout-signal.js'
import type { AppendOptions } from '../../../src/store/store.js'
import { type Appender, type AppendRequest, createAppender } from './append.js'
import type { Appended } from './append-call.js'
import { MAX_MOVED } from '../schema/append-function.js'
import { ask } from '../connection/client.js'
import {
  asAuditLogError,
  codeOf,
  DATATYPE_MISMATCH,
  isTransient,
  NO_PARTITION,
  QUERY_CANCELED,
  TOO_LATE,
} from '../connection/failures.js'
import type { PostgresLog } from '../log/log.js'
import { createCallQueue } from './call-queue.js'
import { createPartitionsAhead } from './partitions-ahead.js'
import { abortedAfter, pause } from '../connection/backoff.js'

/** The time limit of an attempt if the caller sets no deadline. */
const ATTEMPT_MS = 10_000
const POLL_MS = 1000
const POLL_ATTEMPT_MS = 2000

/** Appends for one process, one call at a time. */
export interface Writer {
  synchronize: Appender['synchronize']
  append(drafts: readonly EventDraft[], options: AppendOptions): Promise<Appended>
  /** Moves all drafts of the outbox. */
  move(signal: AbortSignal | undefined): Promise<void>
  close(): Promise<void>
}

/** `onVisible` is called when this process has made events visible. */
export function createWriter(log: PostgresLog, onVisible: () => void): Writer {
  const appender = createAppender(log)
  // One call at a time, so that each recovers from the lost attempts of the earlier ones.
  const queue = createCallQueue()
  const partitions = createPartitionsAhead(log)
  let lastAppend = -Infinity
  let lastFailure = -Infinity
  let isClosed = false

  /** Gives the appender the server's state; true if the outbox is not empty. */
  const synchronize = async (signal: AbortSignal): Promise<boolean> => {
    const [row] = await log.use(signal, (client) =>
      ask(
        client,
        `SELECT last_value, (extract(epoch FROM clock_timestamp()) * 1000000)::bigint,
           EXISTS (SELECT FROM ${log.names.outbox}) FROM ${log.names.highWater}`,
      ),
    )
    appender.synchronize({ highWater: Number(row![0]), serverTime: Number(row![1]) })
    return row![2] === 't'
  }

  const attempt = async (request: AppendRequest, signal: AbortSignal): Promise<Appended> => {
    // An attempt that the server has begun is awaited until its deadline, after which it stores nothing.
    const appended = await log.use(
      signal,
      (client) => appender.attempt(client, request),
      request.deadline,
    )
    const visible = appended.stored.length + appended.moved
    // A call whose drafts are all suppressed does not move the outbox.
    if (visible > 0 || request.drafts.length === 0) lastAppend = performance.now()
    if (visible > 0) onVisible()
    return appended
  }

  const append = async (
    drafts: readonly EventDraft[],
    { signal, deadline, since, retriedLater }: AppendOptions,
  ): Promise<Appended> => {
    let failure: unknown
    for (let attempts = 0; ; attempts++) {
      const until = deadline ?? performance.now() + ATTEMPT_MS
      using wait = timeoutSignal(until - performance.now(), signal)
      if (signal?.aborted || until <= performance.now())
        throw abortedAfter(failure ?? signal?.reason)
      try {
        return await attempt({ drafts, deadline: until, since, retriedLater }, wait.signal)
      } catch (error) {
        if (codeOf(error) === NO_PARTITION && attempts < 2) {
          await partitions.create(wait.signal).catch(() => {})
          continue
        }
        // The row type has another OID, which the next attempt reads.
        if (codeOf(error) === DATATYPE_MISMATCH && attempts < 2) continue
        const isAborted = error instanceof AuditLogError && error.code === 'ABORTED'
        const isOver = isAborted || codeOf(error) === TOO_LATE || codeOf(error) === QUERY_CANCELED
        if (!isOver && !isTransient(error)) throw asAuditLogError(error)
        // An earlier failure says more than the time limit.
        if (!isOver) failure = error
        else failure ??= isAborted ? error.cause : error
        // Before the deadline this means that a clock was changed or this machine was paused.
        if (codeOf(error) === TOO_LATE) await synchronize(wait.signal).catch(() => {})
      }
      await pause(attempts, signal)
    }
  }

  const noteFailure = (error: unknown): never => {
    lastFailure = performance.now()
    throw error
  }
  /** True if the caller may still retry a lost attempt: what it stored must not be removed before. */
  const mayBeRetried = (): boolean =>
    appender.hasLost() && performance.now() - lastFailure < POLL_MS

  /** Moves one batch of the outbox; true if more may be left. */
  const moveSome = async (signal?: AbortSignal): Promise<boolean> => {
    if (isClosed || mayBeRetried()) return false
    using wait = timeoutSignal(POLL_ATTEMPT_MS, signal)
    const deadline = performance.now() + POLL_ATTEMPT_MS
    const { moved } = await attempt({ drafts: [], deadline }, wait.signal)
    return moved === MAX_MOVED
  }

  /** One batch a turn, so that appends need not wait for all batches. */
  const move = async (signal?: AbortSignal): Promise<void> => {
    let isLeft = true
    while (isLeft) isLeft = await queue.run(() => moveSome(signal), signal)
  }

  /** After a second without appends: true if the outbox is not empty, or a lost attempt needs recovery. */
  const isMoveDue = async (): Promise<boolean> => {
    // An unused store opens no connection.
    if (!log.state() || performance.now() - lastAppend < POLL_MS || mayBeRetried()) return false
    await partitions.createWhenDue()
    using wait = timeoutSignal(POLL_ATTEMPT_MS)
    const isFilled = await synchronize(wait.signal)
    return isFilled || appender.hasLost()
  }

  const poll = async (): Promise<void> => {
    if (await queue.run(isMoveDue)) await move()
  }

  let isPolling = false
  const timer = setInterval(() => {
    if (isPolling) return
    isPolling = true
    void poll()
      // The server may be away; the next poll retries.
      .catch(() => {})
      .finally(() => (isPolling = false))
  }, POLL_MS)
  timer.unref()

  return {
    synchronize: appender.synchronize,
    append: (drafts, options) =>
      queue.run(() => append(drafts, options).catch(noteFailure), options.signal),
    move,
    async close() {
      isClosed = true
      clearInterval(timer)
      await queue.settled()
      if (!appender.hasLost()) return
      const deadline = performance.now() + POLL_MS
      using wait = timeoutSignal(POLL_MS)
      await attempt({ drafts: [], deadline }, wait.signal).catch(() => {})
    },
  }
}
