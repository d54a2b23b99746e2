import { randomUUID } from 'node:crypto'
import type { JsonObject, JsonValue } from '../event/event.js'
import type { IdSuffix } from '../event/event-id.js'
import type { Microseconds } from '../event/timestamp.js'
import { createOwnHeartbeats, type Heartbeat } from '../coordination/heartbeats.js'
import { TIMES } from '../coordination/times.js'
import { readAll, readState } from '../store/read-states.js'
import type { EventStore } from '../store/store.js'

/** The content of the event of an intent. */
export type IntendedEvent = {
  readonly type: string
  readonly username: string | null
  readonly source: string | null
  readonly attributes: JsonObject
  /** A time before the event of the intent and before any outcome with its suffix. */
  readonly since: Microseconds
}

export type IntendedEvents = Readonly<Record<IdSuffix, IntendedEvent>>

/** The intents that a process has left. */
export interface LeftIntents {
  readonly intents: IntendedEvents
  /** The store's time when this was read. */
  readonly readAt: Microseconds
  /** Removes these intents, and the owner if it has no others. */
  readonly forget: (suffixes: readonly IdSuffix[], signal: AbortSignal) => Promise<void>
}

/*
 * The intents of a process are one value of the shared state. Only this process writes the value while it lives.
 * Another value has the heartbeats of all processes that have had intents. A process without intents sends no
 * heartbeat; it is forgotten, and registers again. A process that takes over intents first changes the heartbeat to a
 * negative number, which no owner sends. So all other processes begin a new wait.
 */
export interface IntentState {
  /** Replaces the intents of this process. `make` gets the time of the store. */
  save(make: (now: Microseconds) => IntendedEvents, signal: AbortSignal): Promise<void>
  beat(signal: AbortSignal): Promise<void>
  /** True if no process takes over the intents of this process within `ms`. */
  isOwnFor(ms: number): boolean
  /** The heartbeats of the other processes that have intents, or had some recently. Reads one value. */
  others(signal: AbortSignal): Promise<readonly Heartbeat[]>
  /** The intents of the other processes as they were saved last. */
  ofOthers(signal: AbortSignal | undefined): Promise<IntendedEvents>
  /**
   * Takes over the intents of a process whose heartbeat has ended. Resolves to `undefined` if another process takes
   * them over, or if the heartbeat has resumed.
   */
  readonly claim: (dead: Heartbeat, signal: AbortSignal) => Promise<LeftIntents | undefined>
  /** Removes this process, which has no intents. */
  leave(signal: AbortSignal): Promise<void>
}

type Owners = Readonly<Record<string, number>>

const OWNERS = 'intents'
const PREFIX = 'intents:'
const keyOf = (owner: string): string => PREFIX + owner

/** The object without the members; `undefined` if nothing is left. */
function without(value: JsonValue | undefined, names: readonly string[]): JsonObject | undefined {
  const rest = Object.entries((value ?? {}) as JsonObject).filter(([name]) => !names.includes(name))
  return rest.length > 0 ? Object.fromEntries(rest) : undefined
}

/** Creates the state. `watched` is the same store, for looking at the other processes. */
export function createIntentState(store: EventStore, watched: EventStore): IntentState {
  const owner = randomUUID()
  const own = createOwnHeartbeats(TIMES.work)
  const beat = (signal: AbortSignal): Promise<void> =>
    own.send((count) =>
      store.updateState(OWNERS, (value) => ({ ...(value as Owners), [owner]: count }), { signal }),
    )

  const claim = async (
    { id, heartbeats }: Heartbeat,
    signal: AbortSignal,
  ): Promise<LeftIntents | undefined> => {
    const claimed = -Math.abs(heartbeats) - 1
    let isClaimed = false
    const take = (value: JsonValue | undefined): JsonValue | undefined => {
      isClaimed = (value as Owners | undefined)?.[id] === heartbeats
      return isClaimed ? { ...(value as Owners), [id]: claimed } : value
    }
    await store.updateState(OWNERS, take, { signal })
    if (!isClaimed) return undefined
    let readAt: Microseconds = 0
    const read = (value: JsonValue | undefined, now: Microseconds): JsonValue | undefined => {
      readAt = now
      return value
    }
    const intents = ((await store.updateState(keyOf(id), read, { signal })) ?? {}) as IntendedEvents
    return {
      intents,
      readAt,
      async forget(suffixes, until) {
        const rest = (value: JsonValue | undefined): JsonValue | undefined =>
          without(value, suffixes)
        if (await store.updateState(keyOf(id), rest, { signal: until })) return
        const remove = (value: JsonValue | undefined): JsonValue | undefined =>
          (value as Owners | undefined)?.[id] === claimed ? without(value, [id]) : value
        await store.updateState(OWNERS, remove, { signal: until })
      },
    }
  }

  return {
    async save(make, signal) {
      // The heartbeat is written before the intents, so that no process forgets this process in between.
      if (own.areDue()) await beat(signal)
      const write = (_: unknown, now: Microseconds): JsonObject => ({ ...make(now) })
      await store.updateState(keyOf(owner), write, { signal })
    },
    beat,
    isOwnFor: own.areValidFor,
    async others(signal) {
      const owners = (await readState<Owners>(watched, OWNERS, { signal })) ?? {}
      return Object.entries(owners).flatMap(([id, heartbeats]) =>
        id === owner ? [] : [{ id, heartbeats }],
      )
    },
    async ofOthers(signal) {
      const all = await readAll<IntendedEvents>(store, PREFIX, { signal })
      all.delete(owner)
      return Object.assign({}, ...all.values()) as IntendedEvents
    },
    claim,
    async leave(signal) {
      if (!own.haveBegun()) return
      await store.updateState(keyOf(owner), () => undefined, { signal })
      await store.updateState(OWNERS, (value) => without(value, [owner]), { signal })
    },
  }
}
