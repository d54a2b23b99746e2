import { AuditLogError, throwIfAborted } from '../errors.js'
import type { EventTypes } from '../event/event-types.js'
import type { LinkTable } from '../event/links.js'
import type { Concealed } from '../filter/conceal.js'
import type { SealedNames } from '../filter/sealed-names.js'
import type { Visible } from '../filter/visible-filter.js'
import type { EventStore } from '../store/store.js'
import { newestCursor } from '../tail/poll.js'
import type { SharedTail } from '../tail/shared-tail.js'
import type { Channel } from './channel.js'
import type { ChannelKind } from './channel-kind.js'
import { createChannelRegistry } from './channel-registry.js'
import { createChangeDefinitions } from './definitions.js'
import { type Deliverer, type DelivererOptions, startDeliverer } from './deliverer.js'
import { readInCode } from './in-code.js'
import type { Management } from './manage.js'
import { createChannels, disableChannel } from './manage-channels.js'
import { createControls, createDefinitions, createParked } from './manage-subscriptions.js'
import type { Subscriptions } from './methods.js'
import {
  createOpenChannels,
  type OpenChannel,
  type OpenChannels,
  setupOf,
} from './open-channels.js'
import { createOutcomes, type Outcomes, type RecordOutcome } from './outcomes.js'
import { createRegistry, type Registry, startCursor } from './registry.js'
import { type AskRights, createRights } from './rights.js'
import { createSeals } from './seals.js'
import type { ChannelState } from './states.js'
import { readStatus, STATUS_OPTIONS } from './status.js'
import type { Subscription, SubscriptionOptions } from './subscription.js'
import { checkOptions, type OptionNames } from '../options.js'
import { warn } from '../async/warn.js'

export interface SubscriptionsOptions {
  /** Channels by name. They are not stored, so each delivering process has them in its code. */
  readonly channels?: Readonly<Record<string, Channel>> | undefined
  /**
   * Subscriptions by name. They are stored when the log is opened. A subscription that is removed from the code stays
   * until `remove` is called.
   */
  readonly subscriptions?: Readonly<Record<string, SubscriptionOptions>> | undefined
  /**
   * Kinds of channels that may be created at run time, by the name that users choose, such as `webhook`. A process
   * delivers to the channels of its kinds. @default none
   */
  readonly kinds?: Readonly<Record<string, ChannelKind>> | undefined
  /**
   * Key for encrypting the secrets of channels that are created at run time: base64 of 32 random bytes. With several
   * keys, the first key encrypts and all keys decrypt, so that a key can be replaced. @default none: channels with
   * secrets are refused
   */
  readonly secretsKey?: string | readonly string[] | undefined
  /**
   * Returns the events that the owner of a subscription may see: a filter, or `'all'`. Called when deliveries begin
   * and then every minute. Only events that match this filter, too, are delivered. While it throws, or returns
   * anything else, the subscription delivers nothing, and its state is `broken`. @default owners see everything
   */
  readonly visible?: ((owner: string) => Visible | Promise<Visible>) | undefined
  /**
   * Returns names of attributes that the owner of a subscription must not see, as `conceal` of `auditRoutes` does. Called with
   * `visible`. Events are delivered as if they did not have them. A subscription whose filter names one of them delivers nothing, and
   * its state is `broken`, as it is while `conceal` throws or returns anything but a list of names. @default nothing is concealed
   */
  readonly conceal?: ((owner: string) => Concealed | Promise<Concealed>) | undefined
  /** False for a process that only manages subscriptions. @default true */
  readonly deliver?: boolean | undefined
}

const SUBSCRIPTIONS_OPTIONS: OptionNames<SubscriptionsOptions> = {
  channels: true,
  subscriptions: true,
  kinds: true,
  secretsKey: true,
  visible: true,
  conceal: true,
  deliver: true,
}

export const askRights = (
  { visible, conceal }: Pick<SubscriptionsOptions, 'visible' | 'conceal'>,
  { links, sealedNames }: Pick<AskRights, 'links' | 'sealedNames'>,
): AskRights => ({ visible, conceal, links, sealedNames })

/** The subscriptions in code. Throws `INVALID_OPTION` and `INVALID_SUBSCRIPTION`. */
export function readSubscriptions(
  options: SubscriptionsOptions,
  names: SealedNames,
): readonly Subscription[] {
  checkOptions(options, SUBSCRIPTIONS_OPTIONS, 'subscriptions')
  const { channels = {}, subscriptions = {}, kinds = {} } = options
  return readInCode(subscriptions, { channels, kinds, names })
}

export interface SubscriptionsContext {
  /** The log. */
  readonly audit: object
  readonly store: EventStore
  readonly tail: SharedTail
  readonly record: RecordOutcome
  readonly types: EventTypes
  readonly links: LinkTable
  /** Names of attributes that no filter may use. */
  readonly sealedNames: SealedNames
  readonly random?: (() => number) | undefined
}

export function createSubscriptions(
  context: SubscriptionsContext,
  options: SubscriptionsOptions = {},
): Subscriptions {
  const { store, record, types, sealedNames } = context
  const inCode = readSubscriptions(options, sealedNames)
  const { channels = {}, kinds = {}, deliver = true } = options
  const host = askRights(options, context)
  const seals = createSeals(options.secretsKey)
  const outcomes = createOutcomes(record)
  const change = createChangeDefinitions(store)
  const registry = createRegistry(store, change)
  const open = createOpenChannels({
    channels,
    kinds,
    seals,
    broken: (channel, error) => deliverer && outcomes.channelBroken(channel, error),
  })
  const hasChannels = Object.keys(channels).length + Object.keys(kinds).length > 0
  const deliverer: Deliverer | undefined =
    deliver && hasChannels
      ? startWith({ ...context, registry, channels: open, outcomes }, inCode, {
          host,
          disable: (channel, reason) => disableGone(management, channel, reason),
        })
      : undefined
  let isClosed = false

  const management: Management = {
    store,
    types,
    sealedNames,
    registry,
    channelRegistry: createChannelRegistry(change),
    channels: open,
    outcomes,
    rights: createRights(host, () => {}),
    deliverer,
    check(given, names, method) {
      checkOptions(given, names, `subscriptions.${method}`)
      if (isClosed) throw new AuditLogError('CLOSED', 'the audit log is closed')
      throwIfAborted(given?.signal)
    },
    async managed(type, data, { username }) {
      await record(type, data, { username })
    },
  }
  return {
    ...createDefinitions(management, inCode),
    ...createControls(management),
    ...createParked(management),
    async status(given) {
      management.check(given, STATUS_OPTIONS, 'status')
      const { signal, owner } = given ?? {}
      const { rights } = management
      const cursorOf = (id: string) => deliverer?.cursorOf(id)
      return readStatus(store, { signal, owner, rights, cursorOf })
    },
    channels: createChannels(management, { kinds, seals }),
    async close() {
      isClosed = true
      await deliverer?.stop()
    },
  }
}

/** Disables a channel whose receiver is gone, unless the channel has been given another receiver. */
async function disableGone(
  management: Management,
  { id, name, kind, in_code, setup }: OpenChannel,
  reason: string,
): Promise<void> {
  const found = { name, kind, config: {}, enabled: true, disabled_reason: null, in_code }
  const isStill = (stored: ChannelState): boolean => in_code || setupOf(stored) === setup
  await disableChannel(management, id, { found, reason, username: null, isStill })
}

type StartContext = SubscriptionsContext & {
  readonly registry: Registry
  readonly channels: OpenChannels
  readonly outcomes: Outcomes
}

function startWith(
  { audit, store, tail, types, sealedNames, random = Math.random, ...context }: StartContext,
  inCode: readonly Subscription[],
  options: Pick<DelivererOptions, 'host' | 'disable'>,
): Deliverer {
  const { registry, channels, outcomes } = context
  // The cursor is read at once, so that events recorded right after the log was opened are delivered.
  const opened = inCode.length > 0 ? tail.currentCursor({}) : undefined
  opened?.catch(() => {})
  const startOf = async ({ from }: Subscription, signal: AbortSignal): Promise<string> => {
    if (from !== 'now') return startCursor(store, from, { signal })
    return opened!.catch(() => newestCursor(store, { signal }))
  }
  return startDeliverer({
    ...options,
    audit,
    store,
    tail,
    channels,
    types,
    sealedNames,
    random,
    outcomes,
    async prepare(signal) {
      const starting = await Promise.all(
        inCode.map(async (subscription) => ({
          subscription,
          start: await startOf(subscription, signal),
        })),
      )
      for (const { name } of await registry.storeInCode(starting, { signal })) warnOfTakenName(name)
    },
  })
}

/** Warns of a subscription in code whose name is taken. Other subscriptions are delivered. */
function warnOfTakenName(name: string): void {
  const message = `there is a subscription ${name} already; the one in the code is not delivered`
  warn(message)
}
