import { randomUUID } from 'node:crypto'
import type { JsonObject, JsonValue } from '../event/event.js'
import type { IdSuffix } from '../event/event-id.js'
import type { Microseconds } from '../event/timestamp.js'
import { createLivenessCheck, HEARTBEAT_MS, LIVENESS_TIMEOUT_MS } from '../store/liveness.js'
import type { EventStore } from '../store/store.js'

/** The event that is recorded if the process ends before the outcome is. */
export type IntendedEvent = {
  readonly type: string
  readonly username: string | null
  readonly attributes: JsonObject
  /** The event, or the outcome under the same suffix, is later than this. */
  readonly since: Microseconds
}

export type IntendedEvents = Readonly<Record<IdSuffix, IntendedEvent>>

/** A process whose heartbeat has ended. */
export interface DeadOwner {
  read(signal: AbortSignal): Promise<LeftIntents>
}

/** The intents that a process has left. */
export interface LeftIntents {
  readonly intents: IntendedEvents
  /** The store's time when this was read. */
  readonly readAt: Microseconds
  /** Removes the given intents, and the owner if its heartbeat has not come back. */
  readonly forget: (signal: AbortSignal) => Promise<void>
}

/*
 * The intents of a process are one value of the shared state, which only that process writes while it lives.
 * Another value has the heartbeats of all processes that have had intents. A process without intents sends
 * no heartbeat; it is forgotten, and registers again.
 */
export interface IntentState {
  /** Replaces the intents of this process. `make` gets the time of the store. */
  save(make: (now: Microseconds) => IntendedEvents, signal: AbortSignal): Promise<void>
  beat(signal: AbortSignal): Promise<void>
  /** True if no process takes the intents of this one over within `ms`. */
  isOwnFor(ms: number): boolean
  /** The processes whose heartbeats have ended. Call it every few seconds: after a longer gap it begins to wait anew. */
  dead(signal: AbortSignal): Promise<readonly DeadOwner[]>
  /** Removes this process, which has no intents. */
  leave(signal: AbortSignal): Promise<void>
}

type Owners = Readonly<Record<string, number>>

const OWNERS = 'intents'
const keyOf = (owner: string): string => `intents:${owner}`

/** The members that are not named; `undefined` if there are none. */
function without(value: JsonValue | undefined, names: readonly string[]): JsonObject | undefined {
  const rest = Object.entries((value ?? {}) as JsonObject).filter(([name]) => !names.includes(name))
  return rest.length > 0 ? Object.fromEntries(rest) : undefined
}

export function createIntentState(store: EventStore): IntentState {
  const owner = randomUUID()
  const findAbandoned = createLivenessCheck()
  let beats = 0
  let beatAt = -Infinity

  const read = async (
    key: string,
    signal: AbortSignal,
  ): Promise<{ readonly value: JsonObject; readonly readAt: Microseconds }> => {
    let readAt: Microseconds = 0
    const same = (value: JsonValue | undefined, now: Microseconds): JsonValue | undefined => {
      readAt = now
      return value
    }
    const value = await store.updateState(key, same, { signal })
    return { value: (value ?? {}) as JsonObject, readAt }
  }

  const beat = async (signal: AbortSignal): Promise<void> => {
    const start = performance.now()
    const count = ++beats
    await store.updateState(OWNERS, (value) => ({ ...(value as Owners), [owner]: count }), {
      signal,
    })
    beatAt = start
  }

  const readLeft = async (id: string, count: number, signal: AbortSignal): Promise<LeftIntents> => {
    const { value, readAt } = await read(keyOf(id), signal)
    const intents = value as IntendedEvents
    return {
      intents,
      readAt,
      async forget(until) {
        const names = Object.keys(intents)
        await store.updateState(keyOf(id), (value) => without(value, names), { signal: until })
        const remove = (value: JsonValue | undefined): JsonValue | undefined =>
          (value as Owners | undefined)?.[id] === count ? without(value, [id]) : value
        await store.updateState(OWNERS, remove, { signal: until })
      },
    }
  }

  return {
    async save(make, signal) {
      // Before the intents, so that no process forgets this one between the two.
      if (performance.now() - beatAt > HEARTBEAT_MS) await beat(signal)
      const write = (_: unknown, now: Microseconds): JsonObject => ({ ...make(now) })
      await store.updateState(keyOf(owner), write, { signal })
    },
    beat,
    isOwnFor: (ms) => performance.now() + ms < beatAt + LIVENESS_TIMEOUT_MS,
    async dead(signal) {
      const { value } = await read(OWNERS, signal)
      const others = Object.entries(value as Owners).filter(([id]) => id !== owner)
      const abandoned = findAbandoned(others.map(([id, heartbeats]) => ({ id, heartbeats })))
      return abandoned.map(({ id, heartbeats }) => ({
        read: (until) => readLeft(id, heartbeats, until),
      }))
    },
    async leave(signal) {
      if (beatAt === -Infinity) return
      await store.updateState(keyOf(owner), () => undefined, { signal })
      await store.updateState(OWNERS, (value) => without(value, [owner]), { signal })
    },
  }
}
