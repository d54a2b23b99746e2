import type { JsonValue } from '../event/event.js'
import { createOwnHeartbeats, DELIVERY_TIMES } from '../coordination/heartbeats.js'
import type { Microseconds } from '../event/timestamp.js'
import type { EventStore } from '../store/store.js'
import { keyOf, type OfferedChannel } from './states.js'

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
  const own = createOwnHeartbeats(DELIVERY_TIMES)
  let time: { readonly store: Microseconds; readonly own: number } | undefined
  return {
    send: (signal, onLapsed) =>
      own.send(async (renewals) => {
        const value = { renewals, channels: channels() } as unknown as JsonValue
        const write = (_: JsonValue | undefined, now: Microseconds): JsonValue => {
          time = { store: now, own: performance.now() }
          return value
        }
        await store.updateState(key, write, { signal, keepFor: DELIVERY_TIMES.timeoutMs * 1000 })
        // Before this process counts as alive again: another one may have its channels.
        if (!own.areValidFor()) onLapsed()
      }),
    isAlive: () => own.areValidFor(),
    now: () => (time ? time.store + Math.floor((performance.now() - time.own) * 1000) : 0),
    async end(signal) {
      await store.updateState(key, () => undefined, { signal })
    },
  }
}
