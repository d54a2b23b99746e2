import { quoteName } from '../../../src/store-kit/sql.js'
import { createWatchers } from '../../../src/store-kit/watchers.js'
import { timeoutSignal } from '../../../src/async/timeout-signal.js'
import {
  ask,
  checkOut,
  giveBack,
  type PostgresPool,
  type PostgresPoolClient,
} from '../connection/client.js'
import { until } from '../connection/connection.js'
import type { PostgresLog } from './log.js'

// NOTIFY takes a lock that the whole server shares, at each commit: so it has transactions of its
// own, and few of them (https://www.postgresql.org/docs/current/sql-notify.html).
const NOTIFY_EVERY_MS = 50
const CONNECT_MS = 5000
const RECONNECT_MS = 1000

/** Hints between processes that events became visible. */
export interface Follower {
  /** This process has made some visible. */
  readonly tell: () => void
  watch(hint: () => void): () => void
  /** Resolves when nothing of it is under way any more. */
  close(): Promise<void>
}

export function createFollower(log: PostgresLog, pool: PostgresPool): Follower {
  const watchers = createWatchers()
  const hintAll = (): void => watchers.hint()
  const { channel } = log.names
  let isTelling = false
  let telling: Promise<void> = Promise.resolve()
  let isUntold = false
  const closing = new AbortController()
  const isClosed = (): boolean => closing.signal.aborted
  let listener: PostgresPoolClient | undefined
  let isConnecting = false
  let reconnect: NodeJS.Timeout | undefined

  const notify = async (): Promise<void> => {
    using wait = timeoutSignal(CONNECT_MS)
    await log.use(wait.signal, (client) => ask(client, `SELECT pg_notify($1, '')`, channel))
  }

  const tell = (): void => {
    watchers.hint()
    isUntold = true
    if (isTelling || isClosed()) return
    isTelling = true
    isUntold = false
    telling = notify()
      .catch(() => {})
      .finally(() => {
        const timer = setTimeout(() => {
          isTelling = false
          if (isUntold) tell()
        }, NOTIFY_EVERY_MS)
        timer.unref()
      })
  }

  const dropListener = (): void => {
    listener?.removeListener('notification', hintAll)
    listener?.removeListener('end', onLost)
    if (listener) giveBack(listener, false)
    listener = undefined
  }

  const onLost = (): void => {
    dropListener()
    if (watchers.size === 0 || isClosed() || reconnect) return
    reconnect = setTimeout(() => {
      reconnect = undefined
      void listen()
    }, RECONNECT_MS)
    reconnect.unref()
  }

  const listen = async (): Promise<void> => {
    if (listener || isConnecting || isClosed()) return
    isConnecting = true
    using wait = timeoutSignal(CONNECT_MS, closing.signal)
    try {
      listener = await until(
        checkOut(pool),
        wait.signal,
        'no connection to Postgres came free',
        (late) => giveBack(late, true),
      )
      listener.on('end', onLost)
      listener.on('notification', hintAll)
      const asking = ask(listener, `LISTEN ${quoteName(channel)}`)
      await until(asking, wait.signal, 'Postgres did not answer')
      // What was told while nobody listened.
      watchers.hint()
      if (watchers.size === 0 || isClosed()) dropListener()
    } catch {
      onLost()
    } finally {
      isConnecting = false
    }
  }

  return {
    tell,
    watch(hint) {
      const unwatch = watchers.add(hint)
      void listen()
      return () => {
        unwatch()
        if (watchers.size === 0 && !isConnecting) dropListener()
      }
    },
    close() {
      closing.abort()
      watchers.clear()
      clearTimeout(reconnect)
      if (!isConnecting) dropListener()
      return telling
    },
  }
}
