import type { PostgresNotification } from '../connection/client.js'
import { RETRY_MS } from '../../../src/async/backoff.js'
import { createOneTimer } from '../../../src/async/timers.js'
import { timeoutSignal } from '../../../src/async/timeout-signal.js'
import type { Watchers } from '../../../src/store-kit/watchers.js'
import type { Names } from '../schema/names.js'
import type { Listening } from './listening.js'

const CONNECT_MS = 5000

/**
 * Listens for the notifications of other processes, and passes them to the watchers of one log. A process sends notifications only
 * while some connection holds the advisory lock `listeners` of the log.
 */
export interface Listener {
  /** Listens, unless it does. Listens again if the connection is lost, while there are watchers. */
  start(): void
  /** Stops listening. To be called when there are no watchers. */
  release(): void
  /** To be called after `closing` was aborted. */
  close(): void
}

export interface ListenerOptions {
  readonly listening: Listening
  readonly names: Pick<Names, 'channel' | 'locks'>
  readonly watchers: Watchers
  /** Called with the payload of each notification. */
  readonly onNotified: (payload: string) => void
  /** Called once a connection listens: notifications that were sent before are lost. */
  readonly onListening: () => void
  /** Aborts when the store is closed. */
  readonly closing: AbortSignal
}

export function createListener(options: ListenerOptions): Listener {
  const { listening, names, watchers, onNotified, onListening, closing } = options
  const isUnused = (): boolean => watchers.size === 0 || closing.aborted
  let stop: (() => void) | undefined
  let isConnecting = false

  const drop = (): void => {
    stop?.()
    stop = undefined
  }

  const onLost = (): void => {
    stop = undefined
    if (!isUnused()) timer.watch(performance.now() + RETRY_MS)
  }

  const connect = async (): Promise<void> => {
    if (stop || isConnecting || closing.aborted) return
    isConnecting = true
    using wait = timeoutSignal(CONNECT_MS, closing)
    try {
      const log = {
        names,
        onNotified: ({ payload = '' }: PostgresNotification) => onNotified(payload),
        onLost,
      }
      stop = await listening.listen(log, wait.signal)
      onListening()
      if (isUnused()) drop()
    } catch {
      onLost()
    } finally {
      isConnecting = false
    }
  }

  const timer = createOneTimer(() => void connect())

  // Otherwise `connect` stops once it listens.
  const release = (): void => {
    if (!isConnecting) drop()
  }

  return {
    start: () => void connect(),
    release,
    close() {
      timer.clear()
      release()
    },
  }
}
