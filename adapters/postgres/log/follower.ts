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

// Each commit with a NOTIFY takes a lock that the whole server shares, so notifications are coalesced
// and sent in transactions of their own (https://www.postgresql.org/docs/current/sql-notify.html).
const NOTIFY_EVERY_MS = 50
const CONNECT_MS = 5000
const RECONNECT_MS = 1000

/** Notifies other processes that events became visible, and listens for their notifications. */
export interface Follower {
  /** To be called when this process has made events visible. */
  readonly notify: () => void
  /** Calls `hint` when events may have become visible; returns a function that stops that. */
  watch(hint: () => void): () => void
  /** Resolves when no notification is being sent any more. */
  close(): Promise<void>
}

export function createFollower(log: PostgresLog, pool: PostgresPool): Follower {
  const watchers = createWatchers()
  const hintAll = (): void => watchers.hint()
  const { channel } = log.names
  let isNotifying = false
  let sending: Promise<void> = Promise.resolve()
  let isPending = false
  const closing = new AbortController()
  const isClosed = (): boolean => closing.signal.aborted
  let listener: PostgresPoolClient | undefined
  let isConnecting = false
  let reconnect: NodeJS.Timeout | undefined

  const send = async (): Promise<void> => {
    using wait = timeoutSignal(CONNECT_MS)
    await log.use(wait.signal, (client) => ask(client, `SELECT pg_notify($1, '')`, channel))
  }

  const notify = (): void => {
    watchers.hint()
    isPending = true
    if (isNotifying || isClosed()) return
    isNotifying = true
    isPending = false
    sending = send()
      .catch(() => {})
      .finally(() => {
        const timer = setTimeout(() => {
          isNotifying = false
          if (isPending) notify()
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
      // Notifications that were sent before LISTEN took effect are lost.
      watchers.hint()
      if (watchers.size === 0 || isClosed()) dropListener()
    } catch {
      onLost()
    } finally {
      isConnecting = false
    }
  }

  return {
    notify,
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
      return sending
    },
  }
}
