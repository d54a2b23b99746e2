import { AuditLogError, throwIfAborted } from '../errors.js'
import { newestPosition } from '../tail/poll.js'
import type { SharedTail } from '../tail/shared-tail.js'
import type { EventTypes } from '../event/event-types.js'
import type { EventStore, WaitOptions } from '../store/store.js'
import { durationFault } from '../event/duration.js'
import type { Channel } from './channel.js'
import { type Deliverer, startDeliverer } from './deliverer.js'
import { createOutcomes, type RecordOutcome } from './outcomes.js'
import {
  discardParked,
  type Parked,
  type ParkedOptions,
  readParked,
  redriveParked,
  type Redriven,
} from './parked.js'
import { createRate } from './rate.js'
import { createRegistry, type Registry, startPosition } from './registry.js'
import { readStatus, type SubscriptionStatus } from './status.js'
import { readPeers } from './peers.js'
import { publicSubscription, type StoredSubscription } from './states.js'
import {
  idOfName,
  readDefinition,
  type Subscription,
  type SubscriptionChange,
  type SubscriptionDefinition,
  type SubscriptionOptions,
} from './subscription.js'

export interface SubscriptionsOptions {
  /** By name. They are not stored, so each process that delivers has them in its code. */
  readonly channels?: Readonly<Record<string, Channel>> | undefined
  /** By name. They are stored when the log is opened. One that is removed from the code stays until `remove` is called. */
  readonly subscriptions?: Readonly<Record<string, SubscriptionOptions>> | undefined
  /** False for a process that only manages subscriptions. @default true */
  readonly deliver?: boolean | undefined
}

export interface ReplayOptions extends WaitOptions {
  /** Events from this `created_at` on are delivered again; `beginning` for all. */
  readonly from: string
}

/**
 * Sends matching events to channels. Every event that matches is delivered at least once, in the order of `created_at`, by one
 * process at a time; another one takes over within about 7 seconds if that process dies. Methods reject with
 * `UNKNOWN_SUBSCRIPTION` for an id that does not exist, `INVALID_SUBSCRIPTION`, `STORE_FAILED`, `ABORTED`, `CLOSED`.
 */
export interface Subscriptions {
  /** In the order of their names. */
  list(options?: WaitOptions): Promise<readonly Subscription[]>
  get(id: string, options?: WaitOptions): Promise<Subscription | undefined>
  /** Resolves once the subscription is stored. Events recorded from then on are delivered. `NAME_TAKEN` for a name in use. */
  create(definition: SubscriptionDefinition, options?: WaitOptions): Promise<Subscription>
  /** `NAME_TAKEN`; `DEFINED_IN_CODE` for a subscription in the code of this process. */
  update(id: string, change: SubscriptionChange, options?: WaitOptions): Promise<Subscription>
  /** Also removes its parked events. `DEFINED_IN_CODE` for a subscription in the code of this process. */
  remove(id: string, options?: WaitOptions): Promise<void>
  /** Deliveries end within about 2 seconds, in this process at once. The subscription keeps its position. */
  pause(id: string, options?: WaitOptions): Promise<Subscription>
  resume(id: string, options?: WaitOptions): Promise<Subscription>
  /** Delivers events again, with the same ids. */
  replay(id: string, options: ReplayOptions): Promise<Subscription>
  /** Reads every subscription, and all parked events to count them. */
  status(options?: WaitOptions): Promise<readonly SubscriptionStatus[]>
  /** Parked events, oldest first. */
  parked(id: string, options?: ParkedOptions): Promise<readonly Parked[]>
  /**
   * Delivers parked events again, all or those with these ids, from this process and out of order.
   * `INVALID_OPTION` if this process does not have the channel in its code.
   */
  redrive(id: string, which: 'all' | readonly string[], options?: WaitOptions): Promise<Redriven>
  /** Forgets parked events. Returns how many there were. */
  discard(id: string, which: 'all' | readonly string[], options?: WaitOptions): Promise<number>
  /** Ends the deliveries of this process. */
  close(): Promise<void>
}

export interface SubscriptionsContext {
  /** The log. */
  readonly audit: object
  readonly store: EventStore
  readonly tail: SharedTail
  readonly record: RecordOutcome
  readonly types: EventTypes
  readonly random?: (() => number) | undefined
}

/** What the methods share. */
interface Management {
  readonly store: EventStore
  readonly registry: Registry
  /** Throws `CLOSED` or `ABORTED`. */
  readonly check: (signal: AbortSignal | undefined) => void
  /** Makes this process deliver what is stored. Other processes see it at their next heartbeat. */
  readonly refresh: () => Promise<void>
  /** Records that somebody changed a subscription. */
  readonly managed: (action: string, subscription: Subscription, data?: object) => Promise<void>
}

export function createSubscriptions(
  context: SubscriptionsContext,
  options: SubscriptionsOptions = {},
): Subscriptions {
  const { store, record } = context
  const { channels = {}, subscriptions = {}, deliver = true } = options
  const inCode = readInCode(subscriptions, channels)
  const registry = createRegistry(store)
  const isDelivering = deliver && Object.keys(channels).length > 0
  const deliverer = isDelivering ? startWith(context, channels, inCode, registry) : undefined
  let isClosed = false

  const management: Management = {
    store,
    registry,
    check(signal) {
      if (isClosed) throw new AuditLogError('CLOSED', 'the audit log is closed')
      throwIfAborted(signal)
    },
    refresh: async () => deliverer?.refresh(),
    async managed(action, { id, name, channel, filter }, data = {}) {
      const about = { subscription: name, subscription_id: id, channel, filter, ...data }
      await record(`api:subscriptions:${action}`, about)
    },
  }
  return {
    ...createDefinitions(management, Object.keys(channels), inCode),
    ...createControls(management),
    ...createParked(management, { channels, types: context.types, deliverer }),
    async status({ signal } = {}) {
      management.check(signal)
      return readStatus(store, { signal, cursorOf: (id) => deliverer?.cursorOf(id) })
    },
    async close() {
      isClosed = true
      await deliverer?.stop()
    },
  }
}

function createDefinitions(
  { store, registry, check, refresh, managed }: Management,
  ownChannels: readonly string[],
  inCode: readonly Subscription[],
): Pick<Subscriptions, 'list' | 'get' | 'create' | 'update' | 'remove'> {
  const checkChangeable = (id: string): void => {
    const found = inCode.find((one) => one.id === id)
    if (!found) return
    const message = `the subscription ${found.name} is defined in the code: change it there`
    throw new AuditLogError('DEFINED_IN_CODE', message)
  }
  const knownChannels = async (signal: AbortSignal | undefined): Promise<ReadonlySet<string>> => {
    const { deliverers } = await readPeers(store, signal)
    const others = Array.from(deliverers.values()).flatMap((one) => one.channels)
    return new Set([...ownChannels, ...others])
  }
  return {
    async list(given = {}) {
      check(given.signal)
      const all = await registry.read(given)
      return Array.from(all.values(), publicSubscription).toSorted((a, b) =>
        a.name < b.name ? -1 : 1,
      )
    },
    async get(id, given = {}) {
      check(given.signal)
      const found = (await registry.read(given)).get(id)
      return found && publicSubscription(found)
    },
    async create(definition, given = {}) {
      check(given.signal)
      const subscription = readDefinition(definition, await knownChannels(given.signal), undefined)
      const start = await startPosition(store, subscription.from, given)
      await registry.create(subscription, start, given)
      await refresh()
      await managed('create', subscription)
      return subscription
    },
    async update(id, change, given = {}) {
      check(given.signal)
      checkChangeable(id)
      const present = publicSubscription(await registry.get(id, given))
      const merged = { ...present, ...change, from: 'now' }
      const read = readDefinition(merged, await knownChannels(given.signal), id)
      // These members are not changed by `update`, so the stored ones stay.
      const { from: _, in_code: __, paused: ___, ...changed } = read
      const next = await registry.update(id, changed, given)
      await refresh()
      await managed('update', next)
      return next
    },
    async remove(id, given = {}) {
      check(given.signal)
      checkChangeable(id)
      const present = await registry.get(id, given)
      await registry.remove(id, given)
      await refresh()
      await managed('delete', present)
    },
  }
}

function createControls({
  store,
  registry,
  check,
  refresh,
  managed,
}: Management): Pick<Subscriptions, 'pause' | 'resume' | 'replay'> {
  const setPaused = async (
    id: string,
    paused: boolean,
    given: WaitOptions,
  ): Promise<Subscription> => {
    check(given.signal)
    const changed = await registry.update(id, { paused }, given)
    await refresh()
    await managed(paused ? 'pause' : 'resume', changed)
    return changed
  }
  return {
    pause: (id, given = {}) => setPaused(id, true, given),
    resume: (id, given = {}) => setPaused(id, false, given),
    async replay(id, { from, ...given }) {
      check(given.signal)
      const position = await startPosition(store, from, given)
      const next = await registry.replay(id, position, given)
      await refresh()
      await managed('replay', next, { from })
      return next
    },
  }
}

interface ParkedDependencies {
  readonly channels: Readonly<Record<string, Channel>>
  readonly types: EventTypes
  readonly deliverer: Deliverer | undefined
}

function createParked(
  { store, registry, check, managed }: Management,
  { channels, types, deliverer }: ParkedDependencies,
): Pick<Subscriptions, 'parked' | 'redrive' | 'discard'> {
  return {
    async parked(id, given = {}) {
      check(given.signal)
      await registry.get(id, given)
      return readParked(store, id, given)
    },
    async redrive(id, which, given = {}) {
      check(given.signal)
      const subscription = publicSubscription(await registry.get(id, given))
      const channel = channels[subscription.channel]
      if (!channel) {
        const message = `this process has no channel ${subscription.channel}`
        throw new AuditLogError('INVALID_OPTION', message)
      }
      const waitForRate = deliverer?.rateOf(subscription.channel) ?? createRate(channel.rate)
      const target = { subscription, channel, types, waitForRate }
      const redriven = await redriveParked(store, target, which, given)
      await managed('redrive', subscription, redriven)
      return redriven
    },
    async discard(id, which, given = {}) {
      check(given.signal)
      const subscription = await registry.get(id, given)
      const count = await discardParked(store, id, which, given)
      await managed('discard', subscription, { count })
      return count
    },
  }
}

/** Throws `INVALID_OPTION` for a channel without `deliver`, and `INVALID_SUBSCRIPTION`. */
function readInCode(
  subscriptions: Readonly<Record<string, SubscriptionOptions>>,
  channels: Readonly<Record<string, Channel>>,
): readonly Subscription[] {
  for (const [name, channel] of Object.entries(channels)) checkChannel(name, channel)
  const names = new Set(Object.keys(channels))
  return Object.entries(subscriptions).map(([name, given]) =>
    readDefinition({ ...given, name }, names, idOfName(name)),
  )
}

const isCount = (value: number | undefined): boolean =>
  value === undefined || (Number.isInteger(value) && value >= 1)

/** Throws `INVALID_OPTION`. */
function checkChannel(name: string, channel: Channel): void {
  const given = Object(channel) as Channel
  const { batch = {}, rate } = given
  const problems = {
    'deliver must be a function': typeof given.deliver !== 'function',
    'batch.maxEvents must be a whole number of at least 1': !isCount(batch.maxEvents),
    'batch.maxBytes must be a whole number of at least 1': !isCount(batch.maxBytes),
    'batch.maxWait must be a Duration':
      batch.maxWait !== undefined && durationFault(batch.maxWait) !== undefined,
    'rate must be { count, per }':
      rate !== undefined && (!isCount(rate.count) || durationFault(rate.per) !== undefined),
  }
  const problem = Object.entries(problems).find(([, isProblem]) => isProblem)?.[0]
  if (problem !== undefined)
    throw new AuditLogError('INVALID_OPTION', `the channel ${name}: ${problem}`)
}

function startWith(
  { audit, store, tail, record, types, random = Math.random }: SubscriptionsContext,
  channels: Readonly<Record<string, Channel>>,
  inCode: readonly Subscription[],
  registry: Registry,
): Deliverer {
  // Read at once, so that events recorded right after the log was opened are delivered.
  const opened = inCode.length > 0 ? tail.currentPosition({}) : undefined
  opened?.catch(() => {})
  const startOf = async ({ from }: Subscription, signal: AbortSignal): Promise<string> => {
    if (from !== 'now') return startPosition(store, from, { signal })
    return opened!.catch(() => newestPosition(store, { signal }))
  }
  return startDeliverer({
    audit,
    store,
    tail,
    channels,
    types,
    random,
    outcomes: createOutcomes(record),
    async prepare(signal) {
      const stored = await registry.read({ signal })
      for (const subscription of inCode) {
        const present = stored.get(subscription.id)
        const stores = present
          ? updateInCode(registry, present, subscription, signal)
          : startOf(subscription, signal).then((start) =>
              registry.create(subscription, start, { signal }),
            )
        await stores.catch(warnIfNameTaken)
      }
    },
  })
}

/** The others are delivered. */
function warnIfNameTaken(error: unknown): void {
  if (!(error instanceof AuditLogError) || error.code !== 'NAME_TAKEN') throw error
  process.emitWarning(`${error.message}; the one in the code is not delivered`)
}

/** Stores what the code says now. Whether the subscription is paused is decided at run time. */
async function updateInCode(
  registry: Registry,
  present: StoredSubscription,
  subscription: Subscription,
  signal: AbortSignal,
): Promise<void> {
  const { paused: _, from: __, ...wanted } = subscription
  const isSame = Object.entries(wanted).every(
    ([name, value]) =>
      JSON.stringify(present[name as keyof Subscription]) === JSON.stringify(value),
  )
  if (!isSame) await registry.update(present.id, wanted, { signal })
}
