import { AuditLogError } from '../errors.js'
import { BEGINNING, newestCursor } from '../tail/poll.js'
import { formatTimestamp } from '../event/timestamp.js'
import type { EventStore, WaitOptions } from '../store/store.js'
import { atReplay, withoutFailure } from './cursor.js'
import type { ChangeDefinitions, Definitions, Write, Writes } from './definitions.js'
import { readAll } from '../store/read-states.js'
import {
  changeStates,
  type CursorState,
  keyOf,
  parkedKey,
  parkedPrefix,
  publicSubscription,
  type StateChange,
  type StoredSubscription,
} from './states.js'
import { readTime, type Subscription } from './subscription.js'

const MAX_SUBSCRIPTIONS = 1000
const MAX_OF_OWNER = 100
const REMOVED_AT_ONCE = 100
const NOTHING: Writes = new Map()

/** A change, with the subscription that was stored before. */
export interface Changed {
  readonly before: Subscription
  readonly after: Subscription
}

/** A subscription and the cursor before its first event. */
export interface StartingSubscription {
  readonly subscription: Subscription
  readonly start: string
}

/** Changes the subscriptions in the store. */
export interface Registry {
  /**
   * Creates a subscription that gets the events after `start`. If several processes store a subscription in code, the
   * first process determines the start. `NAME_TAKEN`, `INVALID_SUBSCRIPTION`.
   */
  create(
    make: (present: Definitions) => Subscription,
    start: string,
    options?: WaitOptions,
  ): Promise<Subscription>
  /**
   * Stores the subscriptions in the code of this process in one transaction. New subscriptions are stored with their
   * starts, existing ones with their current options. Resolves to the subscriptions that are not stored because their
   * names are taken.
   */
  storeInCode(
    inCode: readonly StartingSubscription[],
    options?: WaitOptions,
  ): Promise<readonly Subscription[]>
  /** `UNKNOWN_SUBSCRIPTION`, `NAME_TAKEN`. */
  update(
    id: string,
    change: (subscription: Subscription, present: Definitions) => Partial<Subscription>,
    options?: WaitOptions,
  ): Promise<Changed>
  /** Puts the cursor after this time. */
  replay(id: string, start: string, options?: WaitOptions): Promise<Subscription>
  /** Removes the subscription with all that belongs to it. `UNKNOWN_SUBSCRIPTION`. */
  remove(id: string, options?: WaitOptions): Promise<Subscription>
}

/** Returns the cursor before the first event that is delivered. */
export async function startCursor(
  store: EventStore,
  from: string,
  options: WaitOptions,
): Promise<string> {
  if (from === 'beginning') return BEGINNING
  if (from === 'now') return newestCursor(store, options)
  return formatTimestamp(readTime(from, 'from') - 1)
}

/** The subscription with this id. Throws `UNKNOWN_SUBSCRIPTION`. */
export function knownSubscription({ subscriptions }: Definitions, id: string): StoredSubscription {
  const present = subscriptions.get(id)
  if (present) return present
  throw new AuditLogError('UNKNOWN_SUBSCRIPTION', `there is no subscription ${id}`)
}

function checkName({ subscriptions }: Definitions, id: string, name: string): void {
  for (const [other, subscription] of subscriptions)
    if (subscription.name === name && other !== id)
      throw new AuditLogError('NAME_TAKEN', `there is a subscription ${name} already`)
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

/** Writes the subscription, and the cursor that `move` returns. */
const writesOf = (next: StoredSubscription, move: (cursor: CursorState) => CursorState): Writes =>
  new Map<string, Write>([
    [keyOf('subscription', next.id), () => next],
    [keyOf('cursor', next.id), (present) => (present ? move(present as CursorState) : undefined)],
  ])

function checkNumber(count: number): void {
  if (count <= MAX_SUBSCRIPTIONS) return
  const message = `a log has at most ${MAX_SUBSCRIPTIONS} subscriptions`
  throw new AuditLogError('INVALID_SUBSCRIPTION', message)
}

/** Checks that the owner has room for one more subscription. Throws `INVALID_SUBSCRIPTION`. */
function checkOwner({ subscriptions }: Definitions, { owner }: Subscription): void {
  if (owner === null) return
  const owned = [...subscriptions.values()].filter((one) => one.owner === owner)
  if (owned.length < MAX_OF_OWNER) return
  const message = `a user has at most ${MAX_OF_OWNER} subscriptions`
  throw new AuditLogError('INVALID_SUBSCRIPTION', message)
}

/** Writes a new subscription and its cursor. */
function writesOfNew(subscription: Subscription, start: string): Writes {
  const { id } = subscription
  const cursor: CursorState = { generation: 0, position: start, delivered: 0 }
  return new Map<string, Write>([
    [keyOf('subscription', id), () => ({ ...subscription, generation: 0 })],
    [keyOf('cursor', id), () => cursor],
  ])
}

/** Writes the changed values, if any. */
function writesOfChanged(stored: StoredSubscription, after: Subscription): Writes {
  const before = publicSubscription(stored)
  if (JSON.stringify(after) === JSON.stringify(before)) return NOTHING
  if (after.channel === before.channel)
    return new Map([[keyOf('subscription', after.id), () => ({ ...stored, ...after })]])
  // The process that delivers to the former channel must no longer store the cursor.
  const generation = stored.generation + 1
  return writesOf({ ...stored, ...after, generation }, (cursor) => ({
    ...withoutFailure(cursor),
    generation,
  }))
}

/** Returns the writes of the subscriptions in code, and the subscriptions whose names are taken. */
function writesInCode({ subscriptions }: Definitions, inCode: readonly StartingSubscription[]) {
  const owners = new Map(Array.from(subscriptions.values(), ({ id, name }) => [name, id]))
  const isTaken = ({ id, name }: Subscription): boolean => (owners.get(name) ?? id) !== id
  const [taken, stored] = [[] as Subscription[], [] as StartingSubscription[]]
  for (const one of inCode)
    if (isTaken(one.subscription)) taken.push(one.subscription)
    else stored.push(one)
  const added = stored.filter(({ subscription }) => !subscriptions.has(subscription.id))
  checkNumber(subscriptions.size + added.length)
  const writes = stored.flatMap(({ subscription, start }) => {
    const present = subscriptions.get(subscription.id)
    if (!present) return [...writesOfNew(subscription, start)]
    // Users pause a subscription at run time, so the stored value stays. The start stays, too.
    const { paused, from } = present
    const after = { ...publicSubscription(present), ...subscription, paused, from }
    return [...writesOfChanged(present, after)]
  })
  return { writes: new Map(writes), result: taken }
}

export function createRegistry(store: EventStore, change: ChangeDefinitions): Registry {
  return {
    create: (make, start, options) =>
      change((present) => {
        const subscription = make(present)
        const { id, name } = subscription
        const known = present.subscriptions.get(id)
        if (known) return { writes: NOTHING, result: publicSubscription(known) }
        checkName(present, id, name)
        checkNumber(present.subscriptions.size + 1)
        checkOwner(present, subscription)
        return { writes: writesOfNew(subscription, start), result: subscription }
      }, options),
    storeInCode: (inCode, options) => change((present) => writesInCode(present, inCode), options),
    update: (id, changed, options) =>
      change((present) => {
        const stored = knownSubscription(present, id)
        const before = publicSubscription(stored)
        const after = { ...before, ...changed(before, present) }
        const result = { before, after }
        checkName(present, id, after.name)
        if (after.owner !== before.owner) checkOwner(present, after)
        return { writes: writesOfChanged(stored, after), result }
      }, options),
    replay: (id, start, options) =>
      change((present) => {
        const stored = knownSubscription(present, id)
        const generation = stored.generation + 1
        const writes = writesOf({ ...stored, generation }, (cursor) =>
          atReplay(cursor, generation, start),
        )
        return { writes, result: publicSubscription(stored) }
      }, options),
    async remove(id, options) {
      const removed = await change((present) => {
        const subscription = publicSubscription(knownSubscription(present, id))
        const writes = new Map<string, Write>([
          [keyOf('subscription', id), () => undefined],
          [keyOf('cursor', id), () => undefined],
          [keyOf('parkedCount', id), () => undefined],
        ])
        return { writes, result: subscription }
      }, options)
      await removeParked(store, id, options)
      return removed
    },
  }
}
