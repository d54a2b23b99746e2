import type { EventTypes } from '../../event/event-types.js'
import { LEVELS } from '../../event/level.js'
import { linkRules, type LinkRule, type LinkTable } from '../../event/links.js'
import { DISPLAY_NAME, VIEW_LIMITS } from '../../views/view.js'
import { jsonapi } from '../problem.js'
import * as s from './shapes.js'

/* The schemas of request and response bodies. */

const JsonApi = s.object({ version: s.one(jsonapi.version) })

const type = {
  type: 'string',
  minLength: 1,
  maxLength: 255,
  description: 'The event type; custom events may have any type.',
}
const created_at = {
  type: 'string',
  format: 'date-time',
  pattern: '\\.\\d{6}Z$',
  description: 'When the event became visible, in UTC with microseconds; unique per event.',
}
const username = s.textOrNull('The user who caused the event, or null.')
const system = s.flag('True if the service recorded the event, false for custom events.')

/** The name, description and declared attributes of a registered type. */
function systemType([name, { description, data }]: readonly [string, EventTypes[string]]) {
  const names = data !== undefined && !('~standard' in data) ? data : undefined
  return s.described({ ...s.one(name), ...(names && { 'x-attributes': names }) }, description)
}

const eventAttributes = s.extensible(
  {
    'type?': { ...type, anyOf: [s.ref('SystemEventType'), s.text()] },
    'username?': username,
    'system?': system,
    'created_at?': created_at,
  },
  'Attributes depend on the event type and may contain any JSON. A fieldset selects some of them.',
)

const live = {
  ...s.one(true),
  description: 'The live event is still open: its attributes may change.',
}

/** An event with this `meta`. */
const event = (meta: Readonly<Record<string, object>>) =>
  s.resource('event', {
    id: s.id(),
    attributes: s.ref('EventAttributes'),
    'relationships?': s.object({ source: s.object({ links: s.object({ source: s.path }) }) }),
    links: s.links(),
    ...meta,
  })

const warnings = s.list(
  s.object(
    { detail: s.text(), source: s.object({ parameter: s.text() }) },
    'A sort by an attribute that no event has.',
  ),
)

const exportedEvent = {
  id: s.id(),
  created_at,
  username,
  system,
  type,
  source: s.textOrNull('The path of the related resource.'),
  attributes: { type: 'object' },
}

/** A date-fns `Duration`. */
const duration = { type: 'object', additionalProperties: s.number() } as const
const durationOrNull = { ...duration, type: ['object', 'null'] } as const

const eventType = s.resource('event_type', {
  id: s.text('The event type.'),
  attributes: s.object({
    area: s.textOrNull('The heading under which catalogs list the type.'),
    description: s.textOrNull(),
    data: {
      type: ['array', 'null'],
      items: s.text(),
      description: 'The declared attributes of its events.',
    },
    live: s.flag('True if the attributes of an event change until the event is closed.'),
    throttle: s.orNull(
      s.object({ period: duration, scope: s.list(s.text()) }),
      'At most one event per period and per value of the attributes in `scope`.',
    ),
    cadence: s.described(durationOrNull, 'How often the event is recorded by default.'),
    only_while: s.textOrNull('The setting that must be on.'),
    source: s.textOrNull(
      'The template of the source of its events, if link attributes do not give it.',
    ),
    sentence: s.textOrNull('The template of the sentence that describes its events.'),
  }),
})

const customType = s.object({
  type: s.text(
    'The type, or the beginning of types before `*`: `aws:ec2:*`. The longest beginning counts.',
  ),
  label: s.textOrNull('The log that the events come from.'),
  description: s.textOrNull(),
  sentence: s.textOrNull(),
})

const levels = s.object(
  s.each(
    LEVELS.map((level) => `${level}?`),
    s.count(),
  ),
  'Counts by the first part of the event type; levels that do not occur are omitted.',
)

const share = {
  type: 'number',
  minimum: 0,
  maximum: 1,
  description: 'How much of the time of the bucket was counted; omitted if all of it was.',
}
const tookMs = { type: 'number', minimum: 0 }
const values = (description?: string) =>
  s.list(s.object({ value: s.value, count: s.count() }), description)

const facet = s.object({
  values: values('Most frequent first.'),
  distinct: s.count('Number of distinct values.'),
  missing: s.count('Number of events without a value.'),
  exact: s.flag('False if these figures are lower bounds, even if the total is exact.'),
})

const attribute = s.object({
  name: s.text('The name as used in filters.'),
  types: s.list({ enum: ['string', 'number', 'boolean', 'null'] }),
  count: s.count(),
  values: values(),
})

const counts = s.object({
  total: s.count(),
  levels,
  'buckets?': s.object(
    {
      width: s.number(
        'Width of a bucket in seconds; days and months in the time zone may be longer or shorter.',
      ),
      zone: s.text(),
      buckets: s.list(
        s.object({ from: s.time(), to: s.time(), total: s.count(), levels, 'share?': share }),
      ),
    },
    'Counts by time, oldest bucket first, without gaps; `to` is exclusive.',
  ),
  facets: { type: 'object', additionalProperties: facet },
  'attributes?': s.list(attribute, 'Most frequent first.'),
  exact: s.object(
    s.each(['total', 'levels', 'buckets', 'attributes'], s.flag()),
    'Which figures are exact; each number of the others is a lower bound.',
  ),
  took_ms: tookMs,
})

const bound = {
  type: ['number', 'null'],
  description: 'An end of the 95 % confidence interval; null if the numbers read do not bound it.',
}

const numbers = s.object({
  exact: s.flag('True if the percentiles are of all numbers of the group.'),
  read: s.count('Number of values that the percentiles are computed from.'),
  ...s.each(['p50', 'p95', 'p99'], s.object({ value: s.number(), low: bound, high: bound })),
})

const group = s.object({
  values: s.list(
    { type: [...s.value.type, 'null'] },
    'One value for each attribute of `by`; null for events without a value.',
  ),
  count: s.count(),
  exact: s.flag('True if the count is exact, false if it is an estimate.'),
  error: s.count('Half of the 95 % confidence interval of the count; 0 if it is exact.'),
  'buckets?': s.list(s.count(), 'Events in each bucket.'),
  numbers: {
    type: 'object',
    additionalProperties: numbers,
    description: 'Percentiles by attribute.',
  },
})

const groups = s.object({
  by: s.list(s.text()),
  groups: s.list(group, 'Most frequent first.'),
  distinct: s.count('Number of groups; at least this many unless `exact.groups`.'),
  total: s.count('Number of matching events.'),
  exact: s.object({
    total: s.flag('True if `total` is exact.'),
    groups: s.flag('True if no group is missing and each count is exact.'),
  }),
  read: s.count('Number of matching events that were read.'),
  'buckets?': s.object(
    { width: s.number(), zone: s.text(), edges: s.list(s.time()) },
    'The buckets of the groups: bucket i begins at edge i and ends before edge i + 1.',
  ),
  took_ms: tookMs,
})

const report = s.object({
  username: s.text('The user who requested the report.'),
  total: s.count('Number of events in the report.'),
  as_of: s.text(
    '`created_at` of the newest event in the report; without events, the time of the report.',
  ),
  bytes: s.count('Size of the export as JSON lines.'),
  sha256: {
    type: 'string',
    pattern: '^[0-9a-f]{64}$',
    description: 'SHA-256 digest of the export as JSON lines.',
  },
  export: s.described(s.path, 'The export: the same query with a fixed end.'),
})

const verification = s.object({
  at: s.time('`created_at` of its event.'),
  result: {
    enum: ['intact', 'self-consistent', 'tampered'],
    description:
      '`intact`: everything up to a head from outside is as it was sealed. `self-consistent`: nothing is wrong, but there was no such head.',
  },
  size: s.count('Number of leaves.'),
  proved_size: s.count('Number of leaves under the largest head from outside.'),
  event_count: s.count('Number of events that were compared.'),
  finding_count: s.count('Number of findings, also of acknowledged ones.'),
})

const anchor = s.object({
  name: s.text(),
  size: s.count('Number of leaves under the head that it got last; 0 before the first.'),
  at: s.timeOrNull('When it got that head.'),
  'error?': s.text('A summary of the error of the last attempt, if it failed.'),
})

const ledger = s.object({
  state: {
    enum: ['sealing', 'standby', 'diverged', 'failed', 'no-signer'],
    description:
      'The work of the process that answers. `standby`: another process seals. `diverged`: the tables of the ledger are not those that were signed.',
  },
  size: s.count('Number of leaves.'),
  sealed_until: s.timeOrNull('Time up to which all events are sealed, except late ones.'),
  waiting: s.count('Number of events that wait to be sealed. Counting stops at 10,000.'),
  waiting_since: s.timeOrNull('`created_at` of the oldest event that waits in order.'),
  origin: s.text('The origin of the ledger.'),
  vkey: s.text('The verifier key, with which proofs and heads are checked.'),
  verification: s.orNull(verification, 'The last verification that the log has recorded.'),
  anchors: s.list(anchor, 'The anchors of the process that answers.'),
})

const jsonPatch = (description: string) => ({
  type: ['array', 'null'],
  items: s.extensible({ op: s.text(), path: s.text() }),
  description,
})

const change = s.object({
  known: s.flag('True if the events that the user may see give the state after the change.'),
  state: {
    description:
      'The state after the change; null if the resource does not exist after it, or if the state is not known.',
  },
  patch: jsonPatch(
    'The change as JSON Patch (RFC 6902); null if the event holds only a part of it.',
  ),
  revert: jsonPatch(
    'The JSON Patch that undoes the change, with a `test` for each value that the change has set; null if it cannot be undone.',
  ),
  'not_revertible?': s.text('Why the change cannot be undone.'),
})

const history = s.object({
  total: s.count('The number of all changes until `as_of`.'),
  restricted: s.flag(
    'True if the user sees only a part of the log. Changes that the user may not see are missing from the states.',
  ),
})

/** The body of a request that creates or changes a resource. */
const bodyOf = (types: readonly string[], attributes: object, others: object = {}) =>
  s.open({ data: s.open({ type: { enum: types }, attributes, ...others }) })

function linkSchema({ expected, schema }: LinkRule) {
  const description = `Links the event to a resource: ${expected}.`
  return { ...schema, type: [schema.type, 'null'].flat(), description }
}

function newEvent(table: LinkTable) {
  const links = Array.from(linkRules(table), ([name, rule]) => [`${name}?`, linkSchema(rule)])
  const given = s.each(['id?', 'username?', 'system?', 'created_at?'], false)
  const attributes = s.extensible({ type, ...Object.fromEntries(links), ...given })
  return s.described(
    bodyOf(['Event', 'event'], attributes, { 'id?': false }),
    'Other members, beside and within `data`, are ignored.',
  )
}

/** The parts of a log that its schemas depend on. */
interface DescribedTypes {
  readonly types: EventTypes
  readonly links: LinkTable
}

/** The schemas of the endpoints of one log. */
export const componentSchemas = ({ types, links }: DescribedTypes, actions: readonly string[]) => ({
  JsonApi,
  SystemEventType: {
    type: 'string',
    description: 'The types of system events.',
    oneOf: Object.entries(types).map(systemType),
  },
  EventAttributes: eventAttributes,
  Event: event({ 'meta?': s.object({ live }) }),
  EventDocument: s.document({ data: s.ref('Event') }),
  EventList: s.document({ data: s.list(s.ref('Event')) }, s.queryLinks('prev'), {
    'meta?': s.object({ warnings }),
  }),
  ExportedEvent: s.object(exportedEvent),
  EventTypeList: s.document({ data: s.list(eventType) }, s.links(), {
    meta: s.object({ custom_types: s.list(customType) }),
  }),
  UserDocument: s.document({
    data: s.user(actions, {
      restricted: s.flag('True if the user sees only a part of the log.'),
      ledger: s.flag('True if the log has a ledger, and the user may read it.'),
    }),
  }),
  LedgerDocument: s.document({
    data: s.resource('ledger', { id: s.text('The origin of the ledger.'), attributes: ledger }),
  }),
  Counts: s.document({ meta: counts }, s.queryLinks()),
  Report: s.document({ data: s.list(s.ref('Event')) }, s.links(), { meta: report }),
  HistoryEvent: event({ meta: s.object({ change }) }),
  History: s.document({ data: s.list(s.ref('HistoryEvent')) }, s.links('prev'), { meta: history }),
  Groups: s.document({ meta: groups }),
  NewEventDocument: newEvent(links),
})

const key = s.text('The key of the log.')

/** The schemas of the endpoints of several logs, made from those of one log. */
export const severalLogsSchemas = (ofOneLog: Readonly<Record<string, object>>) => ({
  ...ofOneLog,
  Event: event({ meta: s.object({ log: key, 'live?': live }) }),
  ExportedEvent: s.object({ log: key, ...exportedEvent }),
  HistoryEvent: event({ meta: s.object({ log: key, change }) }),
  EventList: s.document({ data: s.list(s.ref('Event')) }, s.queryLinks('prev', 'next'), {
    meta: s.object({
      cursor: s.text('A cursor for the stream: what becomes visible from now on.'),
      'warnings?': warnings,
    }),
  }),
  LogList: s.document(
    {
      data: s.list(
        s.resource('log', {
          id: key,
          relationships: s.object({ events: s.object({ links: s.object({ related: s.path }) }) }),
        }),
      ),
    },
    s.links('next'),
  ),
})

const name = { type: 'string', pattern: '^[a-z0-9_-]{1,63}$' }
const inCode = s.flag('True if a running process has it in its code.')

const fault = {
  enum: ['status', 'timeout', 'network', 'address', 'smtp', 'rendering', 'refused', 'thrown'],
}
const lastError = s.object({ at: s.time(), kind: fault, 'status?': { type: 'integer' } })

/** The members of a subscription that users set. */
const subscription = {
  name: s.described(name, 'Unique in the log.'),
  channel: s.text('The name of a channel.'),
  filter: s.text('A query string without sorts and limit; empty for all events.'),
  when_stuck: {
    enum: ['park', 'hold'],
    description:
      'What happens to an event that cannot be delivered: `park` sets it aside, `hold` keeps it and all later ones waiting.',
  },
  retain: s.described(
    durationOrNull,
    'For how long cleaning spares events that are not delivered yet; null if it does not.',
  ),
}

const begun = {
  from: s.text('Where it begins: `now`, `beginning`, or the `created_at` of an event.'),
  paused: s.flag('True if it keeps its cursor and delivers nothing.'),
}

const subscriptionAttributes = s.object({
  ...subscription,
  ...begun,
  owner: s.textOrNull('The user who made it, or null.'),
  in_code: inCode,
  state: {
    enum: ['live', 'catching_up', 'failing', 'paused', 'disabled', 'broken', 'unowned'],
    description:
      '`live`: at most 10 seconds behind the newest event. `failing`: the last attempt failed and is repeated. ' +
      '`disabled`: its channel is disabled, and events pass. `broken`: its filter, its channel or the rights of its owner ' +
      'cannot be read. `unowned`: no running process has its channel.',
  },
  cursor: s.time('Every matching event up to this `created_at` is delivered or parked.'),
  lag_ms: s.count('Time from the cursor to the newest event of the log.'),
  delivered: s.count('Number of events delivered.'),
  attempts: s.count('Failed attempts of the delivery that is tried now.'),
  next_attempt_at: s.timeOrNull(),
  failing_since: s.timeOrNull(),
  last_error: s.orNull(lastError, 'The last failure, also if it is over.'),
  parked: s.count('Number of events that were set aside.'),
  skipped: s.count('Number of events that passed while the channel was disabled.'),
  skipped_since: s.timeOrNull('The first of them, where `replay` begins.'),
})

const channelAttributes = s.object({
  name: s.described(name, 'Unique in the log. Subscriptions name it.'),
  kind: s.text('Such as `webhook`; `function` for a function in code.'),
  config: {
    type: 'object',
    description:
      'Without secrets; empty for a channel in code. A user who may not change the channel sees only the servers of its URLs.',
  },
  enabled: s.flag('False if events pass without being delivered.'),
  disabled_reason: s.textOrNull(),
  in_code: inCode,
})

const config = {
  type: 'object',
  description: 'What it may have depends on the kind. Secrets are never returned.',
}

const parkedDelivery = s.resource('parked_delivery', {
  id: s.id('The id of the event.'),
  attributes: s.object({
    created_at: s.time('`created_at` of the event.'),
    parked_at: s.time(),
    attempts: s.count(),
    error: s.text('The message of the last failure.'),
    last_error: lastError,
  }),
})

const managed = (type: string, attributes: object) =>
  s.resource(type, { id: s.id(), attributes, links: s.links() })

const SUBSCRIPTION_TYPES = ['subscription', 'subscriptions']
const CHANNEL_TYPES = ['notification_channel', 'notification_channels']

/** The schemas of the endpoints of subscriptions and channels. */
export const subscriptionsSchemas = (actions: readonly string[]) => ({
  JsonApi,
  Subscription: managed('subscription', subscriptionAttributes),
  SubscriptionDocument: s.document({ data: s.ref('Subscription') }),
  SubscriptionList: s.document({ data: s.list(s.ref('Subscription')) }),
  ParkedList: s.document({ data: s.list(parkedDelivery) }),
  Channel: managed('notification_channel', channelAttributes),
  ChannelDocument: s.document({ data: s.ref('Channel') }, s.links(), {
    'meta?': s.object({ secret: s.text('The generated secret. It is not shown again.') }),
  }),
  ChannelList: s.document({ data: s.list(s.ref('Channel')) }),
  UserDocument: s.document({
    data: s.user(actions, {
      kinds: s.list(s.text(), 'The kinds of channels that can be created.'),
    }),
  }),
  TestResultDocument: s.document({
    meta: s.object({
      accepted: s.flag(),
      status: { type: ['integer', 'null'], description: 'The HTTP status of a refusal.' },
      fault: s.orNull(fault),
      duration_ms: tookMs,
    }),
  }),
  RedrivenDocument: s.document({
    meta: s.object({
      delivered: s.count('Accepted by the channel, and no longer parked.'),
      failed: s.count('Refused again, and still parked.'),
      missed: s.count('Cleaned meanwhile, so they cannot be delivered.'),
    }),
  }),
  DiscardedDocument: s.document({ meta: s.object({ discarded: s.count() }) }),
  NewSubscription: bodyOf(
    SUBSCRIPTION_TYPES,
    s.partial({ ...subscription, ...begun }, 'name', 'channel'),
  ),
  SubscriptionChange: bodyOf(SUBSCRIPTION_TYPES, s.partial(subscription)),
  NewChannel: bodyOf(CHANNEL_TYPES, s.object({ name, kind: s.text(), config })),
  ChannelChange: bodyOf(CHANNEL_TYPES, s.partial({ name, config })),
  Replay: s.open({
    'meta?': s.object({
      'from?': s.text(
        'Events from this `created_at` on, or `beginning` for all. Default: `skipped_since` of the subscription.',
      ),
    }),
  }),
  Which: s.open({
    meta: s.object({ which: { oneOf: [s.one('all'), s.list(s.id(), 'Ids of events.')] } }),
  }),
  Disable: s.open({ 'meta?': s.object({ 'reason?': s.textOrNull('Becomes `disabled_reason`.') }) }),
  Nothing: s.open({ 'meta?': s.object({}) }),
})

/** The members of a view that users set. */
const view = {
  name: {
    type: 'string',
    minLength: 1,
    maxLength: VIEW_LIMITS.name,
    description: 'Any text without control characters. Several views may have the same name.',
  },
  query: {
    type: 'string',
    maxLength: VIEW_LIMITS.query,
    description:
      'A query string of the event feed without a limit: filter and sorts. Bounds of `created_at` are its absolute time range. Empty for all events.',
  },
  range: {
    type: ['string', 'null'],
    minLength: 1,
    maxLength: VIEW_LIMITS.range,
    description:
      'A time range of the page that moves with the time, such as `24h`. Null without one.',
  },
  display: {
    type: 'object',
    maxProperties: VIEW_LIMITS.displayMembers,
    propertyNames: { pattern: DISPLAY_NAME.source },
    additionalProperties: s.text(),
    description: `What the address of the page says beside the query, such as \`columns\`, \`facets\` and \`zone\`. Together at most ${VIEW_LIMITS.display} characters.`,
  },
  shared: s.flag('True if all users who may list views see it.'),
}

const VIEW_TYPES = ['view', 'views']

/** The schemas of the endpoints of views. */
export const viewsSchemas = (actions: readonly string[]) => ({
  JsonApi,
  View: managed(
    'view',
    s.object({
      ...view,
      owner: s.text('The user who made it.'),
      created_at: s.time(),
      updated_at: s.time('When it was last changed.'),
    }),
  ),
  ViewDocument: s.document({ data: s.ref('View') }),
  ViewList: s.document({ data: s.list(s.ref('View')) }),
  UserDocument: s.document({ data: s.user(actions) }),
  NewView: bodyOf(VIEW_TYPES, s.partial(view, 'name')),
  ViewChange: bodyOf(VIEW_TYPES, s.partial(view)),
})
