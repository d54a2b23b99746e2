import { timeoutSignal } from '../../../src/async/timeout-signal.js'
import { quoteName } from '../../../src/store-kit/sql.js'
import type { Watchers } from '../../../src/store-kit/watchers.js'
import {
  askAll,
  checkOut,
  giveBack,
  type PostgresPool,
  type PostgresPoolClient,
} from '../connection/client.js'
import { until } from '../connection/connection.js'
import type { Names } from '../schema/names.js'

const CONNECT_MS = 5000
const RECONNECT_MS = 1000

/**
 * A connection that listens for the notifications of other processes, and passes them to the watchers. It holds the
 * advisory lock `listeners`. A process sends notifications only while some connection holds that lock.
 */
export interface Listener {
  /** Connects, unless it has. Connects again if the connection is lost, while there are watchers. */
  start(): void
  /** Gives the connection back to the pool. To be called when there are no watchers. */
  release(): void
  /** To be called after `closing` was aborted. */
  close(): void
}

export interface ListenerOptions {
  readonly pool: PostgresPool
  readonly names: Pick<Names, 'channel' | 'locks'>
  readonly watchers: Watchers
  /** Aborts when the store is closed. */
  readonly closing: AbortSignal
}

export function createListener({ pool, names, watchers, closing }: ListenerOptions): Listener {
  const hintAll = (): void => watchers.hint()
  const isUnused = (): boolean => watchers.size === 0 || closing.aborted
  let client: PostgresPoolClient | undefined
  let isConnecting = false
  let reconnect: NodeJS.Timeout | undefined

  const drop = (): void => {
    client?.removeListener('notification', hintAll)
    client?.removeListener('end', onLost)
    if (client) giveBack(client, false)
    client = undefined
  }

  const onLost = (): void => {
    drop()
    if (isUnused() || reconnect) return
    reconnect = setTimeout(() => {
      reconnect = undefined
      void connect()
    }, RECONNECT_MS)
    reconnect.unref()
  }

  const connect = async (): Promise<void> => {
    if (client || isConnecting || closing.aborted) return
    isConnecting = true
    using wait = timeoutSignal(CONNECT_MS, closing)
    try {
      client = await until(
        checkOut(pool),
        wait.signal,
        'no connection to Postgres came free',
        (late) => giveBack(late, true),
      )
      client.on('end', onLost)
      client.on('notification', hintAll)
      const asking = askAll(
        client,
        `LISTEN ${quoteName(names.channel)}; SELECT pg_advisory_lock_shared(${names.locks.listeners})`,
      )
      await until(asking, wait.signal, 'Postgres did not answer')
      // Notifications that were sent before LISTEN took effect are lost.
      watchers.hint()
      if (isUnused()) drop()
    } catch {
      onLost()
    } finally {
      isConnecting = false
    }
  }

  // Otherwise `connect` drops the connection once it has it.
  const release = (): void => {
    if (!isConnecting) drop()
  }

  return {
    start: () => void connect(),
    release,
    close() {
      clearTimeout(reconnect)
      release()
    },
  }
}
