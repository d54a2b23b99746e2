import { randomUUID } from 'node:crypto'
import { AuditLogError } from '../errors.js'
import { type Duration, durationFault } from '../event/duration.js'
import { formatTimestamp, parseTimestamp } from '../event/timestamp.js'
import { parseActing } from '../filter/acting-filter.js'
import type { Grouping } from '../filter/ast.js'
import { formatQuery } from '../filter/format.js'
import type { QueryInput } from '../filter/query-input.js'
import type { SealedNames } from '../filter/sealed-names.js'
import type { OptionNames } from '../options.js'

/** Sends the matching events of a log to a channel. */
export interface Subscription {
  /** A UUID. The id of a subscription in code is derived from its name. */
  readonly id: string
  /** Unique in the store. */
  readonly name: string
  readonly channel: string
  /** The filter as a query string; `''` for all events. */
  readonly filter: string
  /** The start of the subscription: a `created_at`, `beginning`, or `now` for the time of its creation. */
  readonly from: string
  /**
   * Handling of an event that cannot be delivered: `park` sets it aside, `hold` keeps it and all later ones waiting.
   */
  readonly whenStuck: 'park' | 'hold'
  /** Time for which cleaning keeps undelivered events; null if it does not keep them. */
  readonly retain: Duration | null
  readonly paused: boolean
  /** User whose rights, by the option `visible`, limit the events; null for all events. */
  readonly owner: string | null
  /** True if a process has the subscription in its code. */
  readonly in_code: boolean
}

/** Options of a subscription in code. The key of the options is its name. */
export interface SubscriptionOptions {
  /** The name of a channel. */
  readonly channel: string
  /** A query without sorts and limit. @default all events */
  readonly filter?: QueryInput | undefined
  /** Events from this `created_at` on, all events of the log (`beginning`), or events recorded from now on. @default 'now' */
  readonly from?: 'now' | 'beginning' | (string & {}) | undefined
  /** @default 'park' */
  readonly whenStuck?: 'park' | 'hold' | undefined
  /** @default 7 days */
  readonly retain?: Duration | null | undefined
}

export const SUBSCRIPTION_OPTIONS: OptionNames<SubscriptionOptions> = {
  channel: true,
  filter: true,
  from: true,
  whenStuck: true,
  retain: true,
}

export interface SubscriptionDefinition extends SubscriptionOptions {
  /** Lower-case letters, digits, `_` and `-`; at most 63. */
  readonly name: string
  /** @default false */
  readonly paused?: boolean | undefined
  /** A user name, whose rights limit the events: see `SubscriptionsOptions.visible`. @default null */
  readonly owner?: string | null | undefined
}

export const SUBSCRIPTION_DEFINITION: OptionNames<SubscriptionDefinition> = {
  ...SUBSCRIPTION_OPTIONS,
  name: true,
  paused: true,
  owner: true,
}

export type SubscriptionChange = Omit<Partial<SubscriptionDefinition>, 'from' | 'paused'>

export const SUBSCRIPTION_CHANGE: OptionNames<SubscriptionChange> = {
  name: true,
  channel: true,
  filter: true,
  whenStuck: true,
  retain: true,
  owner: true,
}

/** True for a valid name of a subscription or a channel. */
export const isName = (value: unknown): value is string =>
  typeof value === 'string' && /^[a-z0-9_-]{1,63}$/.test(value)
export const NAME_RULE = 'must be 1 to 63 lower-case letters, digits, _ or -'
const DEFAULT_RETAIN: Duration = { days: 7 }

const invalid = (member: string, problem: string): AuditLogError =>
  new AuditLogError('INVALID_SUBSCRIPTION', `${member} ${problem}`, { pointer: `/${member}` })

interface DefinitionContext {
  readonly channels: ReadonlySet<string>
  /** The id of a subscription in code. */
  readonly id: string | undefined
  /** Names of attributes that the filter may not use. */
  readonly names: SealedNames
}

/** Throws `INVALID_SUBSCRIPTION` with a pointer to the wrong member. */
export function readDefinition(
  given: SubscriptionDefinition,
  { channels, id, names }: DefinitionContext,
): Subscription {
  const {
    name,
    channel,
    whenStuck = 'park',
    retain = DEFAULT_RETAIN,
    paused = false,
    owner = null,
  } = given
  if (!isName(name)) throw invalid('name', NAME_RULE)
  if (typeof channel !== 'string' || !channels.has(channel))
    throw invalid('channel', `${JSON.stringify(channel)} is not a channel`)
  if (whenStuck !== 'park' && whenStuck !== 'hold')
    throw invalid('whenStuck', 'must be park or hold')
  if (typeof paused !== 'boolean') throw invalid('paused', 'must be true or false')
  // An undefined owner, such as a user who is not signed in, must not get the rights to all events.
  const isLost = 'owner' in given && given.owner === undefined
  if (isLost || (owner !== null && (typeof owner !== 'string' || owner === '')))
    throw invalid('owner', 'must be a user name or null')
  const retainFault = retain === null ? undefined : durationFault(retain)
  if (retainFault !== undefined) throw invalid('retain', retainFault)
  return {
    id: id ?? randomUUID(),
    name,
    channel,
    filter: 'filter' in given ? readFilterText(given.filter!, names) : '',
    from: readFrom(given.from),
    whenStuck,
    retain: retain && { ...retain },
    paused,
    owner,
    in_code: id !== undefined,
  }
}

/**
 * Reads the filter of a stored definition. Throws the errors of `parseQuery` if a later version wrote it, and
 * `INVALID_VALUE` if a part of it sets no condition, because the subscription would then deliver more events.
 */
export const parseFilter = (text: string): Grouping | undefined => parseActing(text)

/** The filter of a stored definition, for a delivery. Also throws `SEALED_ATTRIBUTE`, because such a filter matches no event. */
export function parseDelivered(text: string, names: SealedNames): Grouping | undefined {
  const where = parseFilter(text)
  names.checkWhere(where)
  return where
}

/** Formats the filter as a query string; `''` means all events. Throws for any other filter without conditions. */
function readFilterText(given: QueryInput, names: SealedNames): string {
  if (given === '') return ''
  let where
  try {
    where = parseActing(given)
    names.checkWhere(where)
  } catch (error) {
    const { message, parameter, suggestion } = error as AuditLogError
    const details = { pointer: '/filter', parameter, suggestion, cause: error }
    throw new AuditLogError(
      'INVALID_SUBSCRIPTION',
      `filter: ${message.replace(/^filter: /, '')}`,
      details,
    )
  }
  if (!where) throw invalid('filter', "has no condition; '' is the filter for all events")
  return formatQuery({ where, sorts: [], limit: 1 }).replace(/&?limit=1$/, '')
}

function readFrom(from: string = 'now'): string {
  if (from === 'now' || from === 'beginning') return from
  return formatTimestamp(readTime(from, 'from'))
}

/** Throws `INVALID_SUBSCRIPTION` for a text that is not a time. */
export function readTime(text: unknown, member: string): number {
  const time = typeof text === 'string' ? parseTimestamp(text) : undefined
  if (time === undefined)
    throw invalid(member, 'must be an ISO 8601 timestamp, such as the created_at of an event')
  return time
}
