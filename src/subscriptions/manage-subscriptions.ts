import { randomUUID } from 'node:crypto'
import { AuditLogError } from '../errors.js'
import type { AuditEvent } from '../event/event.js'
import { compileFilter } from '../filter/evaluate.js'
import { WAIT_OPTIONS, type WaitOptions } from '../store/store.js'
import { type Definitions, readDefinitions } from './definitions.js'
import { changesBetween, type Management, openChannel, refresh } from './manage.js'
import { readCodeChannels, unavailable } from './find-channels.js'
import type { OwnerRights } from './rights.js'
import { MANAGE_OPTIONS, type ManageOptions } from './notification-channel.js'
import { discardParked, PARKED_OPTIONS, readParked, redriveParked } from './parked.js'
import { knownSubscription, startCursor } from './registry.js'
import { readState } from '../store/read-states.js'
import { type CursorState, keyOf, publicSubscription } from './states.js'
import {
  readDefinition,
  type Subscription,
  SUBSCRIPTION_CHANGE,
  SUBSCRIPTION_DEFINITION,
} from './subscription.js'
import { REPLAY_OPTIONS, type ReplayOptions, type Subscriptions } from './methods.js'
import { testDelivery } from './test-delivery.js'
import { requireOptions } from '../options.js'

/** Records an action on a subscription. */
const managedSubscription = (
  { managed }: Management,
  action: string,
  { id, name, channel, filter }: Subscription,
  { username, data }: Pick<ManageOptions, 'username'> & { readonly data?: object | undefined },
): Promise<void> => {
  const about = { subscription: name, subscription_id: id, channel, filter, ...data }
  return managed(`api:subscriptions:${action}`, about, { username })
}

/** Finds subscriptions; throws `UNKNOWN_SUBSCRIPTION`. */
const find = async (
  management: Management,
  id: string,
  options: WaitOptions,
): Promise<Subscription> =>
  publicSubscription(knownSubscription(await readDefinitions(management.store, options), id))

/** Returns a function from the stored definitions to the names of all channels. */
async function readChannelNames(
  management: Management,
  signal: AbortSignal | undefined,
): Promise<(present: Definitions) => ReadonlySet<string>> {
  const inCode = await readCodeChannels(management, new Map(), signal)
  return ({ channels }) => {
    const created = [...channels.values()].filter(({ in_code }) => !in_code)
    return new Set([...inCode.values(), ...created].map(({ name }) => name))
  }
}

type DefinitionMethods = Pick<Subscriptions, 'list' | 'get' | 'create' | 'update' | 'remove'>

/** The methods that define subscriptions. `inCode` are the subscriptions in the code of this process. */
export function createDefinitions(
  management: Management,
  inCode: readonly Subscription[],
): DefinitionMethods {
  const { store, registry, check, sealedNames: names } = management
  const checkChangeable = (id: string): void => {
    const found = inCode.find((one) => one.id === id)
    if (!found) return
    const message = `the subscription ${found.name} is defined in the code: change it there`
    throw new AuditLogError('DEFINED_IN_CODE', message)
  }
  return {
    async list(given = {}) {
      check(given, WAIT_OPTIONS, 'list')
      const { subscriptions } = await readDefinitions(management.store, given)
      return Array.from(subscriptions.values(), publicSubscription).toSorted((a, b) =>
        a.name < b.name ? -1 : 1,
      )
    },
    async get(id, given = {}) {
      check(given, WAIT_OPTIONS, 'get')
      const found = (await readDefinitions(management.store, given)).subscriptions.get(id)
      return found && publicSubscription(found)
    },
    async create(definition, given = {}) {
      check(given, MANAGE_OPTIONS, 'create')
      requireOptions(definition, SUBSCRIPTION_DEFINITION, 'a subscription')
      const namesIn = await readChannelNames(management, given.signal)
      const id = randomUUID()
      const start = await startCursor(store, definition.from ?? 'now', given)
      const make = (present: Definitions): Subscription => ({
        ...readDefinition(definition, { channels: namesIn(present), id: undefined, names }),
        id,
      })
      const subscription = await registry.create(make, start, given)
      await refresh(management)
      await managedSubscription(management, 'create', subscription, given)
      return subscription
    },
    async update(id, change, given = {}) {
      check(given, MANAGE_OPTIONS, 'update')
      requireOptions(change, SUBSCRIPTION_CHANGE, 'a change of a subscription')
      checkChangeable(id)
      const namesIn = await readChannelNames(management, given.signal)
      const { before, after } = await registry.update(
        id,
        (present, definitions) => {
          const merged = { ...present, ...change, from: 'now' }
          const read = readDefinition(merged, { channels: namesIn(definitions), id, names })
          // `update` does not change these members, so the stored values stay.
          const { from: _, in_code: __, paused: ___, ...changed } = read
          return changed
        },
        given,
      )
      await refresh(management)
      const data = changesBetween(before, after)
      await managedSubscription(management, 'update', after, { ...given, data })
      return after
    },
    async remove(id, given = {}) {
      check(given, MANAGE_OPTIONS, 'remove')
      checkChangeable(id)
      const removed = await registry.remove(id, given)
      await refresh(management)
      await managedSubscription(management, 'delete', removed, given)
    },
  }
}

export function createControls(
  management: Management,
): Pick<Subscriptions, 'pause' | 'resume' | 'replay' | 'test'> {
  const { store, registry, check } = management
  const setPaused = async (
    id: string,
    paused: boolean,
    given: ManageOptions,
  ): Promise<Subscription> => {
    check(given, MANAGE_OPTIONS, paused ? 'pause' : 'resume')
    const { after } = await registry.update(id, () => ({ paused }), given)
    await refresh(management)
    await managedSubscription(management, paused ? 'pause' : 'resume', after, given)
    return after
  }
  return {
    pause: (id, given = {}) => setPaused(id, true, given),
    resume: (id, given = {}) => setPaused(id, false, given),
    async replay(id, given: ReplayOptions = {}) {
      check(given, REPLAY_OPTIONS, 'replay')
      const from = given.from ?? (await skippedSince(management, id, given))
      const start = await startCursor(store, from, given)
      const next = await registry.replay(id, start, given)
      await refresh(management)
      await managedSubscription(management, 'replay', next, { ...given, data: { from } })
      return next
    },
    async test(id, given = {}) {
      check(given, MANAGE_OPTIONS, 'test')
      const subscription = await find(management, id, given)
      const { name, channel } = subscription
      const open = await openChannel(management, channel, given)
      if (!open) throw unavailable(channel)
      const target = { subscription, channel: open.channel, types: management.types }
      const result = await testDelivery(target, { channel, subscription: name }, given)
      const { duration_ms: _, ...data } = result
      await managedSubscription(management, 'test', subscription, { ...given, data })
      return result
    },
  }
}

/** `created_at` of the first skipped event. Throws `INVALID_SUBSCRIPTION` if no event was skipped. */
async function skippedSince(
  management: Management,
  id: string,
  options: WaitOptions,
): Promise<string> {
  const { deliverer, store } = management
  await find(management, id, options)
  const stored = await readState<CursorState>(store, keyOf('cursor', id), options)
  const since = (deliverer?.cursorOf(id) ?? stored)?.skippedSince
  if (since !== undefined) return since
  throw new AuditLogError('INVALID_SUBSCRIPTION', 'from is missing: no event was skipped', {
    pointer: '/from',
  })
}

/** Resolves to what the owner may see now. Throws `CHANNEL_UNAVAILABLE` if the rights cannot be read. */
async function visibleTo(
  { rights }: Management,
  { owner }: Subscription,
): Promise<Extract<OwnerRights, { where: unknown }>> {
  const owned = await rights.ask(owner)
  if (!owned.error) return owned
  const message = `the rights of ${owner} cannot be read`
  throw new AuditLogError('CHANNEL_UNAVAILABLE', message, { cause: owned.error })
}

export function createParked(
  management: Management,
): Pick<Subscriptions, 'parked' | 'redrive' | 'discard'> {
  const { store, check, types, outcomes } = management
  return {
    async parked(id, given = {}) {
      check(given, PARKED_OPTIONS, 'parked')
      await find(management, id, given)
      return readParked(store, id, given)
    },
    async redrive(id, which, given = {}) {
      check(given, MANAGE_OPTIONS, 'redrive')
      const subscription = await find(management, id, given)
      const open = await openChannel(management, subscription.channel, given)
      if (!open) throw unavailable(subscription.channel)
      if (!open.enabled)
        throw new AuditLogError('CHANNEL_UNAVAILABLE', `the channel ${open.name} is disabled`)
      await visibleTo(management, subscription)
      const shownOf = async (event: AuditEvent): Promise<AuditEvent | undefined> => {
        if (management.channels.get(open.name) !== open)
          throw new AuditLogError('CHANNEL_UNAVAILABLE', `the channel ${open.name} has changed`)
        const { where, concealed } = await visibleTo(management, subscription)
        if (!compileFilter(where)(event)) return undefined
        return concealed ? concealed.event(event) : event
      }
      const { channel, waitForRate } = open
      const target = { subscription, channel, types, waitForRate, outcomes, shownOf }
      const data = { delivered: 0, failed: 0, missed: 0 }
      try {
        for await (const outcome of redriveParked(store, target, which, given)) data[outcome] += 1
      } catch (error) {
        // Also records events that were tried before.
        if (Object.values(data).some((count) => count > 0))
          await managedSubscription(management, 'redrive', subscription, { ...given, data })
        throw error
      }
      await managedSubscription(management, 'redrive', subscription, { ...given, data })
      return data
    },
    async discard(id, which, given = {}) {
      check(given, MANAGE_OPTIONS, 'discard')
      const subscription = await find(management, id, given)
      const count = await discardParked(store, id, which, given)
      await managedSubscription(management, 'discard', subscription, { ...given, data: { count } })
      return count
    },
  }
}
