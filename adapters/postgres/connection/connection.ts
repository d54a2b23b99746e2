import { type AuditLogError, outcomeUnknown, throwIfAborted } from '../../../src/errors.js'
import { timeoutSignal } from '../../../src/async/timeout-signal.js'
import {
  ask,
  checkOut,
  giveBack,
  isPooled,
  isUnconfirmed,
  type PostgresPool,
  type PostgresPoolClient,
  type TextRow,
} from './client.js'
import { abortedAfter } from './backoff.js'
import { sendCancelRequest } from './cancel-request.js'
import { namingRole } from './roles.js'
import { sessionOf } from './session.js'
import { namingTable } from './unreadable.js'

/** Sends one statement; see {@link ask}. */
export type Ask = (text: string, ...values: unknown[]) => Promise<TextRow[]>

export const createAsk =
  (client: PostgresPoolClient): Ask =>
  (text, ...values) =>
    ask(client, text, ...values)

/**
 * Resolves with the value of the promise, or rejects with `ABORTED` once the signal aborts. A value that
 * comes after that is passed to `onLate`.
 */
export function until<Value>(
  promise: Promise<Value>,
  signal: AbortSignal,
  what: string,
  onLate: (value: Value) => void = () => {},
): Promise<Value> {
  return new Promise((resolve, reject) => {
    let isLate = false
    const onAbort = (): void => {
      isLate = true
      reject(abortedAfter(new Error(what)))
    }
    if (signal.aborted) onAbort()
    else signal.addEventListener('abort', onAbort, { once: true })
    promise
      .then((value) => (isLate ? onLate(value) : resolve(value)), reject)
      .finally(() => signal.removeEventListener('abort', onAbort))
  })
}

/** How long to wait for a statement that is being cancelled. */
const GRACE_MS = 250

/** The time limit of a cancel request. */
const CANCEL_MS = 1000

/** Asks the server to cancel the connection's statement, unless the work is over by then. */
async function cancel(
  pool: PostgresPool,
  working: PostgresPoolClient,
  isOver: () => boolean,
): Promise<void> {
  const { processID } = working
  if (processID === undefined || processID === null) return
  sessionOf(working).isCancelled = true
  if (isPooled(working)) {
    using sending = timeoutSignal(CANCEL_MS)
    return await sendCancelRequest(working, sending.signal)
  }
  const client = await checkOut(pool)
  try {
    // By now another connection may have the process id.
    if (isOver()) return
    using wait = timeoutSignal(CANCEL_MS)
    // Extensions such as Citus add a function of the same name for bigint.
    const asking = ask(client, 'SELECT pg_cancel_backend($1::int)', processID)
    await until(asking, wait.signal, 'Postgres did not answer')
  } finally {
    giveBack(client, false)
  }
}

/** `OUTCOME_UNKNOWN` for a commit that the disk or the synchronous standby has not confirmed. */
export const unconfirmedError = (cause?: unknown): AuditLogError =>
  outcomeUnknown(
    'Postgres committed, but did not confirm in time that the disk and the synchronous standbys have it',
    cause,
  )

/**
 * Calls `use` with a connection of the pool. When `signal` aborts, the statement under way is cancelled,
 * and its result is awaited until `end` (on the scale of `performance.now()`), but at least for
 * `GRACE_MS`. A connection whose work failed or was aborted is closed, as its state is unknown. If the
 * work fails after a commit that the standby has not confirmed, the error is `OUTCOME_UNKNOWN`.
 */
export async function withConnection<Result>(
  pool: PostgresPool,
  signal: AbortSignal,
  use: (client: PostgresPoolClient) => Promise<Result>,
  end = 0,
): Promise<Result> {
  throwIfAborted(signal)
  const connecting = checkOut(pool)
  const client = await until(connecting, signal, 'no connection to Postgres came free', (late) =>
    giveBack(late, true),
  )
  let isOver = false
  let isSound = false
  sessionOf(client).isLimited = true
  const work = use(client)
    .catch(async (error: unknown) => {
      throw await namingRole(client, await namingTable(client, error))
    })
    .finally(() => (isOver = true))
  try {
    const result = await until(work, signal, 'Postgres did not answer').catch(async (error) => {
      if (isOver) throw error
      let unanswered: unknown = error
      void cancel(pool, client, () => isOver).catch((cause: unknown) => {
        unanswered = abortedAfter(new Error('the statement could not be cancelled', { cause }))
      })
      using grace = timeoutSignal(Math.max(end - performance.now(), GRACE_MS))
      return await until(work, grace.signal, 'Postgres did not answer').catch(
        (failure: unknown) => {
          throw isOver ? failure : unanswered
        },
      )
    })
    isSound = !signal.aborted
    return result
  } catch (error) {
    if (isUnconfirmed(client)) throw unconfirmedError(error)
    throw error
  } finally {
    isOver = true
    giveBack(client, isSound)
  }
}
