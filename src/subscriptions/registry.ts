import { AuditLogError } from '../errors.js'
import { BEGINNING, newestPosition } from '../tail/poll.js'
import { formatTimestamp } from '../event/timestamp.js'
import type { EventStore, WaitOptions } from '../store/store.js'
import {
  changeStates,
  type CursorState,
  keyOf,
  parkedKey,
  parkedPrefix,
  PREFIX,
  publicSubscription,
  readAll,
  readState,
  REVISION,
  type RevisionState,
  type StateChange,
  type StoredSubscription,
} from './states.js'
import { readTime, type Subscription } from './subscription.js'

const MAX_SUBSCRIPTIONS = 1000
const REMOVED_AT_ONCE = 100

/** The subscriptions in the store. Each change increases their revision, which makes other processes read them again. */
export interface Registry {
  read(options?: WaitOptions): Promise<ReadonlyMap<string, StoredSubscription>>
  get(id: string, options?: WaitOptions): Promise<StoredSubscription>
  /** `NAME_TAKEN`, `INVALID_SUBSCRIPTION`. Delivers the events after `start`. */
  create(subscription: Subscription, start: string, options?: WaitOptions): Promise<Subscription>
  /** `UNKNOWN_SUBSCRIPTION`, `NAME_TAKEN`. */
  update(id: string, change: Partial<Subscription>, options?: WaitOptions): Promise<Subscription>
  /** Puts the cursor after this time. */
  replay(id: string, position: string, options?: WaitOptions): Promise<Subscription>
  /** Removes the subscription with all that belongs to it. `UNKNOWN_SUBSCRIPTION`. */
  remove(id: string, options?: WaitOptions): Promise<void>
}

/** The position before the first event that is delivered. */
export async function startPosition(
  store: EventStore,
  from: string,
  options: WaitOptions,
): Promise<string> {
  if (from === 'beginning') return BEGINNING
  if (from === 'now') return newestPosition(store, options)
  return formatTimestamp(readTime(from, 'from') - 1)
}

type Write = (
  id: string,
  change: (present: StoredSubscription | undefined) => {
    readonly next: StoredSubscription | undefined
    readonly cursor?: (present: CursorState | undefined) => CursorState | undefined
  },
  options?: WaitOptions,
) => Promise<void>

/**
 * Changes one subscription and its cursor, in one transaction with the revision. `change` gets the subscription as it
 * is stored; what it refuses, it throws.
 */
const createWrite =
  (store: EventStore): Write =>
  async (id, change, options) => {
    const key = keyOf('subscription', id)
    const cursorKey = keyOf('cursor', id)
    let refusal: unknown
    await changeStates(
      store,
      [REVISION, key, cursorKey],
      (states) => {
        refusal = undefined
        try {
          const { next, cursor } = change(states.get(key) as StoredSubscription | undefined)
          const { revision = 0 } = (states.get(REVISION) as RevisionState | undefined) ?? {}
          states.set(REVISION, { revision: revision + 1 })
          states.set(key, next)
          if (cursor)
            states.set(cursorKey, cursor(states.get(cursorKey) as CursorState | undefined))
        } catch (error) {
          refusal = error
        }
      },
      options,
    )
    if (refusal !== undefined) throw refusal
  }

/** Removes the parked events of a subscription, some in each transaction. */
async function removeParked(
  store: EventStore,
  id: string,
  options: WaitOptions | undefined,
): Promise<void> {
  const parked = await readAll(store, parkedPrefix(id), options)
  const keys = Array.from(parked.keys(), (time) => parkedKey(id, time))
  for (let at = 0; at < keys.length; at += REMOVED_AT_ONCE) {
    const some = keys.slice(at, at + REMOVED_AT_ONCE)
    const remove = (states: StateChange): void => {
      for (const key of some) states.set(key, undefined)
    }
    await changeStates(store, some, remove, options)
  }
}

/** A present one, or an error. */
function known(id: string, present: StoredSubscription | undefined): StoredSubscription {
  if (present) return present
  throw new AuditLogError('UNKNOWN_SUBSCRIPTION', `there is no subscription ${id}`)
}

export function createRegistry(store: EventStore): Registry {
  const write = createWrite(store)
  const read: Registry['read'] = (options) =>
    readAll<StoredSubscription>(store, PREFIX.subscription, options)

  const get: Registry['get'] = async (id, options) =>
    known(id, await readState<StoredSubscription>(store, keyOf('subscription', id), options))

  /** Two processes may take one name at the same moment; both subscriptions work. */
  const checkName = async (id: string, name: string, options?: WaitOptions): Promise<void> => {
    const all = await read(options)
    for (const other of all.values())
      if (other.name === name && other.id !== id)
        throw new AuditLogError('NAME_TAKEN', `there is a subscription ${name} already`)
    if (!all.has(id) && all.size >= MAX_SUBSCRIPTIONS)
      throw new AuditLogError(
        'INVALID_SUBSCRIPTION',
        `a log has at most ${MAX_SUBSCRIPTIONS} subscriptions`,
      )
  }

  return {
    read,
    get,
    async create(subscription, position, options) {
      await checkName(subscription.id, subscription.name, options)
      const cursor: CursorState = { generation: 0, position, delivered: 0 }
      const next: StoredSubscription = { ...subscription, generation: 0 }
      // Several processes may store one in code: the first one decides where it begins.
      await write(
        subscription.id,
        (present) => (present ? { next: present } : { next, cursor: () => cursor }),
        options,
      )
      return subscription
    },
    async update(id, changed, options) {
      if (changed.name !== undefined) await checkName(id, changed.name, options)
      let result: StoredSubscription | undefined
      const change = (present: StoredSubscription | undefined) => {
        result = { ...known(id, present), ...changed }
        return { next: result }
      }
      await write(id, change, options)
      return publicSubscription(result!)
    },
    async replay(id, position, options) {
      let result: StoredSubscription | undefined
      const change = (present: StoredSubscription | undefined) => {
        const found = known(id, present)
        const generation = found.generation + 1
        result = { ...found, generation }
        const cursor = (last: CursorState | undefined): CursorState => ({
          generation,
          position,
          delivered: last?.delivered ?? 0,
        })
        return { next: result, cursor }
      }
      await write(id, change, options)
      return publicSubscription(result!)
    },
    async remove(id, options) {
      const forget = (present: StoredSubscription | undefined) => {
        known(id, present)
        return { next: undefined, cursor: () => undefined }
      }
      await write(id, forget, options)
      await removeParked(store, id, options)
    },
  }
}
