import { throwIfAborted } from '../../../src/errors.js'
import { timeoutSignal } from '../../../src/async/timeout-signal.js'
import {
  ask,
  checkOut,
  giveBack,
  type PostgresPool,
  type PostgresPoolClient,
  type TextRow,
} from './client.js'
import { givenUp } from './backoff.js'

/** Asks one statement; see {@link ask}. */
export type Ask = (text: string, ...values: unknown[]) => Promise<TextRow[]>

export const asker =
  (client: PostgresPoolClient): Ask =>
  (text, ...values) =>
    ask(client, text, ...values)

/** The promise's outcome, or `ABORTED` with the signal; what comes too late goes to `onLate`. */
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
      reject(givenUp(new Error(what)))
    }
    if (signal.aborted) onAbort()
    else signal.addEventListener('abort', onAbort, { once: true })
    promise
      .then((value) => (isLate ? onLate(value) : resolve(value)), reject)
      .finally(() => signal.removeEventListener('abort', onAbort))
  })
}

const ignore = (): void => {}

/** How long a statement that is cancelled is waited for. */
const GRACE_MS = 250

/** How long the server may take to hear of that. */
const CANCEL_MS = 1000

/** Asks the server to stop what the connection does, as long as anybody waits for that. */
async function cancel(
  pool: PostgresPool,
  { processID }: PostgresPoolClient,
  isOver: () => boolean,
): Promise<void> {
  if (processID === undefined || processID === null) return
  const client = await checkOut(pool)
  try {
    // Later the number might be another's.
    if (isOver()) return
    using wait = timeoutSignal(CANCEL_MS)
    const asking = ask(client, 'SELECT pg_cancel_backend($1)', processID)
    await until(asking, wait.signal, 'Postgres did not answer')
  } finally {
    giveBack(client, false)
  }
}

/**
 * Has `use` work with one of the pool's connections until `signal` aborts. Then what the server does
 * is cancelled, and its answer waited for until `end`, on the scale of `performance.now()`, or a
 * moment. A connection whose work failed or was given up is closed: what it still does nobody knows.
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
  const work = use(client).finally(() => (isOver = true))
  try {
    const result = await until(work, signal, 'Postgres did not answer').catch(async (error) => {
      if (isOver) throw error
      void cancel(pool, client, () => isOver).catch(ignore)
      using grace = timeoutSignal(Math.max(end - performance.now(), GRACE_MS))
      return await until(work, grace.signal, 'Postgres did not answer')
    })
    isSound = !signal.aborted
    return result
  } finally {
    isOver = true
    giveBack(client, isSound)
  }
}
