import { createHash } from 'node:crypto'
import { AuditLogError } from '../errors.js'
import { durationFault } from '../event/duration.js'
import { BATCH_LIMITS, type Channel, CHANNEL, RATE } from './channel.js'
import type { SealedNames } from '../filter/sealed-names.js'
import type { ChannelKind } from './channel-kind.js'
import {
  readDefinition,
  type Subscription,
  SUBSCRIPTION_OPTIONS,
  type SubscriptionOptions,
} from './subscription.js'
import { checkNamed, checkOptions, requireOptions } from '../options.js'

/* Subscriptions and channels that a host passes in its options. */

/** The id of something in code, the same in each process. */
function idOfName(what: string, name: string): string {
  const hex = createHash('sha256').update(`daybook ${what} ${name}`).digest('hex')
  // A UUID of version 8 has bits of the application's choice.
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-8${hex.slice(13, 16)}-a${hex.slice(17, 20)}-${hex.slice(20, 32)}`
}

export const channelIdOfName = (name: string): string => idOfName('channel', name)

/** Throws `INVALID_OPTION` for a wrong channel, kind or filter, and `INVALID_SUBSCRIPTION`. */
export function readInCode(
  subscriptions: Readonly<Record<string, SubscriptionOptions>>,
  {
    channels,
    kinds,
    names,
  }: {
    readonly channels: Readonly<Record<string, Channel>>
    readonly kinds: Readonly<Record<string, ChannelKind>>
    /** Names of attributes that no filter may use. */
    readonly names: SealedNames
  },
): readonly Subscription[] {
  for (const [name, map] of Object.entries({ channels, kinds, subscriptions }))
    checkNamed(map, name)
  for (const [name, channel] of Object.entries(channels)) checkChannel(name, channel)
  for (const [name, kind] of Object.entries(kinds))
    for (const method of ['read', 'open'] as const)
      if (typeof (Object(kind) as ChannelKind)[method] !== 'function')
        throw new AuditLogError('INVALID_OPTION', `the kind ${name}: ${method} must be a function`)
  const channelNames = new Set(Object.keys(channels))
  return Object.entries(subscriptions).map(([name, given]) => {
    requireOptions(given, SUBSCRIPTION_OPTIONS, `the subscription ${name}`)
    try {
      const id = idOfName('subscription', name)
      return readDefinition({ ...given, name }, { channels: channelNames, id, names })
    } catch (error) {
      if (!(error instanceof AuditLogError) || error.pointer !== '/filter') throw error
      const { message, parameter, suggestion } = error
      const details = { parameter, suggestion, cause: error }
      throw new AuditLogError('INVALID_OPTION', `the subscription ${name}: ${message}`, details)
    }
  })
}

const isCount = (value: number | undefined): boolean =>
  value === undefined || (Number.isInteger(value) && value >= 1)

/** Throws `INVALID_OPTION`. */
export function checkChannel(name: string, channel: Channel): void {
  requireOptions(channel, CHANNEL, `the channel ${name}`)
  const { batch = {}, rate } = channel
  checkOptions(batch, BATCH_LIMITS, `the channel ${name}: batch`)
  checkOptions(rate, RATE, `the channel ${name}: rate`)
  const problems = {
    'deliver must be a function': typeof channel.deliver !== 'function',
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
