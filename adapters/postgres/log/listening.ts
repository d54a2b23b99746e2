import { timeoutSignal } from '../../../src/async/timeout-signal.js'
import { quoteName } from '../../../src/store-kit/sql.js'
import {
  ask,
  askAll,
  checkOut,
  giveBack,
  type PostgresNotification,
  type PostgresPool,
  type PostgresPoolClient,
} from '../connection/client.js'
import { until } from '../connection/connection.js'
import { createPoolingDetector, type PoolingDetector } from '../connection/pooling.js'
import { askInTime } from '../ha/server-probe.js'
import type { Timelines } from '../ha/timelines.js'
import type { Names } from '../schema/names.js'

const CONNECT_MS = 5000
const IS_POOLED = 'the connection leads through a pooler in transaction mode'
/** How often to ask whether the server answers, and is still the primary. */
const CHECK_MS = 5000

/** A log that listens. */
export interface ListeningLog {
  readonly names: Pick<Names, 'channel' | 'locks'>
  /** Called with each notification of the log. */
  readonly onNotified: (notification: PostgresNotification) => void
  /** Called if the connection is lost: the log does not listen any more. */
  readonly onLost: () => void
}

/**
 * One connection on which any number of logs listen for the notifications of other processes. For each of them it holds
 * the advisory lock `listeners`. It is open while a log listens.
 */
export interface Listening {
  readonly pool: PostgresPool
  /** LISTEN has no effect on connections that lead through a pooler in transaction mode. */
  readonly pooling: PoolingDetector
  /**
   * Resolves to a function that stops listening, once notifications that are sent from now on arrive. Rejects if there is no
   * connection, or once the signal aborts.
   */
  listen(log: ListeningLog, signal: AbortSignal): Promise<() => void>
}

/** An open connection. */
interface Connected {
  readonly client: PostgresPoolClient
  readonly logs: Set<ListeningLog>
  readonly onNotification: (notification: PostgresNotification) => void
  readonly onEnd: () => void
  /** The last statement that was sent. */
  last: Promise<unknown>
}

const startListening = ({ names }: ListeningLog): string =>
  `LISTEN ${quoteName(names.channel)}; SELECT pg_advisory_lock_shared(${names.locks.listeners})`

/** Two stores of one log may listen at the same time, and a connection holds the lock once for each. */
const stopListening = ({ names }: ListeningLog, isLast: boolean): string => {
  const unlock = `SELECT pg_advisory_unlock_shared(${names.locks.listeners})`
  return isLast ? `UNLISTEN ${quoteName(names.channel)}; ${unlock}` : unlock
}

/** Rejects if the server has been replaced: writers use the new one, so no notification comes from this one. */
async function checkPrimary(client: PostgresPoolClient, timelines: Timelines): Promise<void> {
  const [row] = await ask(client, 'SELECT pg_is_in_recovery()')
  if (row![0] === 't') throw new Error('the server is a standby')
  await timelines.check(client)
}

async function connect(
  { pool, pooling }: Pick<Listening, 'pool' | 'pooling'>,
  timelines: Timelines,
  onEnd: (connected: Connected) => void,
): Promise<Connected> {
  using wait = timeoutSignal(CONNECT_MS)
  const taking = checkOut(pool)
  const client = await until(taking, wait.signal, 'no connection to Postgres came free', (late) =>
    giveBack(late, true),
  )
  const check = (): Promise<void> => askInTime(client, (one) => checkPrimary(one, timelines))
  try {
    await check()
    const detecting = until(pooling.detect(client), wait.signal, 'Postgres did not answer')
    if ((await detecting) === 'transaction') throw new Error(IS_POOLED)
  } catch (error) {
    giveBack(client, false)
    throw error
  }
  const logs = new Set<ListeningLog>()
  const opened: Connected = {
    client,
    logs,
    onNotification(notification) {
      for (const log of logs)
        if (log.names.channel === notification.channel) log.onNotified(notification)
    },
    onEnd: () => onEnd(opened),
    last: Promise.resolve(),
  }
  client.on('end', opened.onEnd)
  client.on('notification', opened.onNotification)
  const checking = setInterval(() => {
    opened.last = opened.last.catch(() => {}).then(() => check().catch(() => onEnd(opened)))
  }, CHECK_MS)
  checking.unref()
  client.on('end', () => clearInterval(checking))
  return opened
}

export function createListening(pool: PostgresPool, timelines: Timelines): Listening {
  const pooling = createPoolingDetector(pool)
  let connected: Connected | undefined
  let connecting: Promise<Connected> | undefined
  /** Calls that wait for the connection. */
  let waiting = 0

  /** Closes the connection, and calls `onLost` of the logs that listen on it. */
  const drop = (dropped: Connected): void => {
    if (connected !== dropped) return
    connected = undefined
    const { client, logs } = dropped
    client.removeListener('notification', dropped.onNotification)
    client.removeListener('end', dropped.onEnd)
    giveBack(client, false)
    for (const log of logs) log.onLost()
  }

  const dropIfUnused = (): void => {
    if (connected && connected.logs.size === 0 && waiting === 0) drop(connected)
  }

  const connectOnce = (): Promise<Connected> =>
    (connecting ??= connect({ pool, pooling }, timelines, drop)
      .then((opened) => (connected = opened))
      .finally(() => {
        connecting = undefined
        // The calls may have given up meanwhile.
        dropIfUnused()
      }))

  /** A client runs one statement at a time. */
  const run = (on: Connected, sql: string): Promise<unknown> => {
    on.last = on.last.catch(() => {}).then(() => askAll(on.client, sql))
    return on.last
  }

  const stop = (on: Connected, log: ListeningLog): void => {
    if (!on.logs.delete(log)) return
    if (connected !== on) return
    if (on.logs.size === 0 && waiting === 0) return drop(on)
    const isLast = ![...on.logs].some(({ names }) => names.channel === log.names.channel)
    run(on, stopListening(log, isLast)).catch(() => drop(on))
  }

  return {
    pool,
    pooling,
    async listen(log, signal) {
      if (pooling.found() === 'transaction') throw new Error(IS_POOLED)
      waiting += 1
      try {
        const on = connected ?? (await until(connectOnce(), signal, 'no connection to Postgres'))
        on.logs.add(log)
        try {
          await until(run(on, startListening(log)), signal, 'Postgres did not answer')
        } catch (error) {
          on.logs.delete(log)
          drop(on)
          throw error
        }
        return () => stop(on, log)
      } finally {
        waiting -= 1
        dropIfUnused()
      }
    },
  }
}
