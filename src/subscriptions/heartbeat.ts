import type { JsonValue } from '../event/event.js'
import { type Microseconds, SECOND } from '../event/timestamp.js'
import type { EventStore } from '../store/store.js'
import { keyOf, type OfferedChannel } from './states.js'

/** How often a process says that it is alive. */
export const HEARTBEAT_MS = 2000
/** A process that has not said so for this long delivers nothing, and others take its channels. */
export const LIVENESS_MS = 6000

/** Says in the store that this process is alive, and to what it can deliver. */
export interface Heartbeat {
  /** Calls `onLapsed` first if others may have taken this process for dead since the last heartbeat. */
  send(signal: AbortSignal, onLapsed: () => void): Promise<void>
  /** False if the last heartbeat may have expired. */
  readonly isAlive: () => boolean
  /** The store's time, from the last heartbeat and the time since. */
  readonly now: () => Microseconds
  /** Removes what was said. */
  end(signal: AbortSignal): Promise<void>
}

export function createHeartbeat(
  store: EventStore,
  me: string,
  channels: () => readonly OfferedChannel[],
): Heartbeat {
  const key = keyOf('deliverer', me)
  let renewals = 0
  let sentAt = -Infinity
  let time: { readonly store: Microseconds; readonly own: number } | undefined
  const isAlive = (): boolean => performance.now() - sentAt < LIVENESS_MS
  return {
    async send(signal, onLapsed) {
      // From before the call, so that others see the heartbeat for at least as long as this process relies on it.
      const since = performance.now()
      const value = { renewals: ++renewals, channels: channels() } as unknown as JsonValue
      const write = (_: JsonValue | undefined, now: Microseconds): JsonValue => {
        time = { store: now, own: performance.now() }
        return value
      }
      const keepFor = (LIVENESS_MS / 1000) * SECOND
      await store.updateState(key, write, { signal, keepFor })
      // Before this process counts as alive again: another one may have its channels.
      if (!isAlive()) onLapsed()
      sentAt = since
    },
    isAlive,
    now: () => (time ? time.store + Math.floor((performance.now() - time.own) * 1000) : 0),
    async end(signal) {
      await store.updateState(key, () => undefined, { signal })
    },
  }
}
