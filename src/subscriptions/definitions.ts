import { createSerial } from '../async/serial.js'
import type { EventStore, WaitOptions } from '../store/store.js'
import { untilAborted } from '../errors.js'
import { readAll, readState } from '../store/read-states.js'
import {
  changeStates,
  type ChannelState,
  PREFIX,
  REVISION,
  type RevisionState,
  type StoredSubscription,
} from './states.js'

/** The subscriptions and channels in the store. */
export interface Definitions {
  readonly revision: number
  /** Subscriptions by id. */
  readonly subscriptions: ReadonlyMap<string, StoredSubscription>
  /** Channels by id. */
  readonly channels: ReadonlyMap<string, ChannelState>
}

/** Computes the next value of a key from the present one; `undefined` removes the key. */
export type Write = (present: unknown) => object | undefined

/** Writes of a change, by key. */
export type Writes = ReadonlyMap<string, Write>

/** Decides the writes and the result of a change. Throws to refuse the change. May be called more than once. */
export type Decide<Result> = (present: Definitions) => {
  readonly writes: Writes
  readonly result: Result
}

/**
 * Changes definitions atomically, in this process and across processes. So names stay unique, and a used channel is
 * not removed.
 */
export type ChangeDefinitions = <Result>(
  decide: Decide<Result>,
  options?: WaitOptions,
) => Promise<Result>

export async function readDefinitions(
  store: EventStore,
  options?: WaitOptions,
): Promise<Definitions> {
  // The revision is read first, so that a change during the other reads is detected.
  const stored = await readState<RevisionState>(store, REVISION, options)
  const subscriptions = await readAll<StoredSubscription>(store, PREFIX.subscription, options)
  const channels = await readAll<ChannelState>(store, PREFIX.channel, options)
  return { revision: stored?.revision ?? 0, subscriptions, channels }
}

export function createChangeDefinitions(store: EventStore): ChangeDefinitions {
  // Parallel calls of one process would only cause retries of each other.
  const inOrder = createSerial()

  const changeNow = async <Result>(
    decide: Decide<Result>,
    options: WaitOptions,
  ): Promise<Result> => {
    for (;;) {
      const present = await readDefinitions(store, options)
      const { writes, result } = decide(present)
      if (writes.size === 0 || (await write(store, present.revision, writes, options)))
        return result
    }
  }
  return (decide, options = {}) =>
    untilAborted(
      inOrder(() => changeNow(decide, options)),
      options.signal,
    )
}

/** Resolves to false if the definitions have changed since this revision. */
async function write(
  store: EventStore,
  revision: number,
  writes: Writes,
  options: WaitOptions,
): Promise<boolean> {
  let isCurrent = false
  await changeStates(
    store,
    [REVISION, ...writes.keys()],
    (states) => {
      const stored = states.get(REVISION) as RevisionState | undefined
      isCurrent = (stored?.revision ?? 0) === revision
      if (!isCurrent) return
      states.set(REVISION, { revision: revision + 1 })
      for (const [key, change] of writes) states.set(key, change(states.get(key)))
    },
    options,
  )
  return isCurrent
}
