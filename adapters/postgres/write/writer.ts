import { abortedError, AuditLogError, throwIfAborted } from '../../../src/errors.js'
import type { EventDraft } from '../../../src/event/event.js'
import { timeoutSignal } from '../../../src/async/timeout-signal.js'
import type { AppendOptions } from '../../../src/store/store.js'
import { type Appended, type Appender, type AppendRequest, createAppender } from './appender.js'
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
import { makePartitions, periodsAhead } from '../schema/partitions.js'
import { givenUp, pause } from '../connection/backoff.js'

/** How long the server may take for an attempt where the caller sets no deadline. */
const ATTEMPT_MS = 10_000
const POLL_MS = 1000
const POLL_ATTEMPT_MS = 2000
const PARTITIONS_MS = 3_600_000
const PARTITIONS_AGAIN_MS = 60_000

/** Appends for one process, one call after the other. */
export interface Writer {
  synchronize: Appender['synchronize']
  append(drafts: readonly EventDraft[], options: AppendOptions): Promise<Appended>
  /** Moves what is in the outbox. */
  move(signal: AbortSignal | undefined): Promise<void>
  close(): Promise<void>
}

/** `onVisible` is told whenever this process has made events visible. */
export function createWriter(log: PostgresLog, onVisible: () => void): Writer {
  const appender = createAppender(log.names, log.now)
  let queue: Promise<unknown> = Promise.resolve()
  let lastAppend = -Infinity
  let lastFailure = -Infinity
  let nextPartitions = performance.now() + PARTITIONS_MS
  let isClosed = false

  /** Calls take turns, so that what an earlier one may have left behind is cleared up in order. */
  const inTurn = <Result>(act: () => Promise<Result>, signal?: AbortSignal): Promise<Result> => {
    let hasBegun = false
    const turn = queue.then(() => {
      throwIfAborted(signal)
      hasBegun = true
      return act()
    })
    queue = turn.catch(() => {})
    if (!signal) return turn
    return new Promise((resolve, reject) => {
      const onAbort = (): void => {
        if (!hasBegun) reject(abortedError(signal))
      }
      signal.addEventListener('abort', onAbort, { once: true })
      turn.then(resolve, reject).finally(() => signal.removeEventListener('abort', onAbort))
    })
  }

  const makeAhead = (signal: AbortSignal): Promise<void> =>
    log.use(signal, async (client, { partitions }) => {
      const [row] = await ask(
        client,
        `SELECT greatest(last_value, coalesce($1, extract(epoch FROM now()) * 1000000)::bigint)
         FROM ${log.names.highWater}`,
        log.now() ?? null,
      )
      const times = periodsAhead(Number(row![0]), partitions)
      await makePartitions(client, log.names, partitions, times)
      nextPartitions = performance.now() + PARTITIONS_MS
    })

  /** Tells the appender where the server is by now; true where something is in the outbox. */
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
    // An attempt that the server has begun is waited for until nothing can come of it any more.
    const appended = await log.use(
      signal,
      (client) => appender.attempt(client, request),
      request.deadline,
    )
    const visible = appended.kept.length + appended.moved
    // What is held back does not look into the outbox.
    if (visible > 0 || request.drafts.length === 0) lastAppend = performance.now()
    if (visible > 0) onVisible()
    return appended
  }

  const append = async (
    drafts: readonly EventDraft[],
    { signal, deadline, since, retriedLater: comingAgain }: AppendOptions,
  ): Promise<Appended> => {
    let failure: unknown
    for (let attempts = 0; ; attempts++) {
      const until = deadline ?? performance.now() + ATTEMPT_MS
      using wait = timeoutSignal(until - performance.now(), signal)
      if (signal?.aborted || until <= performance.now()) throw givenUp(failure ?? signal?.reason)
      try {
        return await attempt({ drafts, deadline: until, since, comingAgain }, wait.signal)
      } catch (error) {
        if (codeOf(error) === NO_PARTITION && attempts < 2) {
          await makeAhead(wait.signal).catch(() => {})
          continue
        }
        // Of the rows' type, whose number is asked for again.
        if (codeOf(error) === DATATYPE_MISMATCH && attempts < 2) continue
        const isGivenUp = error instanceof AuditLogError && error.code === 'ABORTED'
        const isOver = isGivenUp || codeOf(error) === TOO_LATE || codeOf(error) === QUERY_CANCELED
        if (!isOver && !isTransient(error)) throw asAuditLogError(error)
        // What ended the waiting tells less than what failed before.
        if (!isOver) failure = error
        else failure ??= isGivenUp ? error.cause : error
        // Before the deadline it is a clock that went ahead, or this machine stood still.
        if (codeOf(error) === TOO_LATE) await synchronize(wait.signal).catch(() => {})
      }
      await pause(attempts, signal)
    }
  }

  const noteFailure = (error: unknown): never => {
    lastFailure = performance.now()
    throw error
  }
  /** What failed just now may be given again: what was kept of it must not be removed before that. */
  const isGivenAgain = (): boolean =>
    appender.hasLost() && performance.now() - lastFailure < POLL_MS

  /** True where more may be left. */
  const moveSome = async (signal?: AbortSignal): Promise<boolean> => {
    if (isClosed || isGivenAgain()) return false
    using wait = timeoutSignal(POLL_ATTEMPT_MS, signal)
    const deadline = performance.now() + POLL_ATTEMPT_MS
    const { moved } = await attempt({ drafts: [], deadline }, wait.signal)
    return moved === MAX_MOVED
  }

  /** In many turns, so that what is appended meanwhile need not wait for the last. */
  const move = async (signal?: AbortSignal): Promise<void> => {
    let isLeft = true
    while (isLeft) isLeft = await inTurn(() => moveSome(signal), signal)
  }

  /** An append that lacks a partition makes it: here it may fail, and is not tried again at once. */
  const makeAheadInTime = async (): Promise<void> => {
    if (performance.now() < nextPartitions) return
    nextPartitions = performance.now() + PARTITIONS_AGAIN_MS
    using wait = timeoutSignal(POLL_ATTEMPT_MS)
    await makeAhead(wait.signal).catch(() => {})
  }

  /** True where silence left something in the outbox, or something lost is to be cleared up. */
  const look = async (): Promise<boolean> => {
    // A store that is not used connects to nothing.
    if (!log.state() || performance.now() - lastAppend < POLL_MS || isGivenAgain()) return false
    await makeAheadInTime()
    using wait = timeoutSignal(POLL_ATTEMPT_MS)
    const isFilled = await synchronize(wait.signal)
    return isFilled || appender.hasLost()
  }

  const poll = async (): Promise<void> => {
    if (await inTurn(look)) await move()
  }

  let isPolling = false
  const timer = setInterval(() => {
    if (isPolling) return
    isPolling = true
    void poll()
      // The server is away: the next poll comes soon.
      .catch(() => {})
      .finally(() => (isPolling = false))
  }, POLL_MS)
  timer.unref()

  return {
    synchronize: appender.synchronize,
    append: (drafts, options) =>
      inTurn(() => append(drafts, options).catch(noteFailure), options.signal),
    move,
    async close() {
      isClosed = true
      clearInterval(timer)
      await queue
      if (!appender.hasLost()) return
      const deadline = performance.now() + POLL_MS
      using wait = timeoutSignal(POLL_MS)
      await attempt({ drafts: [], deadline }, wait.signal).catch(() => {})
    },
  }
}
