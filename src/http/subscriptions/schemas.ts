import {
  closedObject,
  count,
  document,
  flag,
  links,
  listOf,
  object,
  ref,
  text,
  textOrNull,
} from '../openapi/shapes.js'
import { jsonapi } from '../problem.js'
import { SUBSCRIPTIONS_ACTIONS } from './actions.js'

const id = { type: 'string', format: 'uuid' } as const
const time = { type: 'string', format: 'date-time' } as const
const timeOrNull = { type: ['string', 'null'], format: 'date-time' } as const
const name = { type: 'string', pattern: '^[a-z0-9_-]{1,63}$' } as const

const fault = {
  enum: ['status', 'timeout', 'network', 'address', 'smtp', 'rendering', 'refused', 'thrown'],
} as const

const lastError = object({ at: time, kind: fault, status: { type: 'integer' } }, ['at', 'kind'])

/** A date-fns `Duration`. */
const retain = {
  type: ['object', 'null'],
  additionalProperties: { type: 'number' },
  description:
    'For how long cleaning spares events that are not delivered yet; null if it does not.',
} as const

/** The members of a subscription that users set. */
const definition = {
  name: { ...name, description: 'Unique in the log.' },
  channel: { ...text, description: 'The name of a channel.' },
  filter: {
    ...text,
    description: 'A query string without sorts and limit; empty for all events.',
  },
  when_stuck: {
    enum: ['park', 'hold'],
    description:
      'What happens to an event that cannot be delivered: `park` sets it aside, `hold` keeps it and all later ones waiting.',
  },
  retain,
}

const from = {
  ...text,
  description: 'Where it begins: `now`, `beginning`, or the `created_at` of an event.',
}
const paused = { ...flag, description: 'True if it keeps its cursor and delivers nothing.' }

const subscriptionAttributes = closedObject({
  ...definition,
  from,
  paused,
  owner: { ...textOrNull, description: 'The user who made it, or null.' },
  in_code: { ...flag, description: 'True if a process has it in its code.' },
  state: {
    enum: ['live', 'catching_up', 'failing', 'paused', 'disabled', 'broken', 'unowned'],
    description:
      '`live`: at most 10 seconds behind the newest event. `failing`: the last attempt failed and is repeated. ' +
      '`disabled`: its channel is disabled, and events pass. `broken`: its filter, its channel or the rights of its owner ' +
      'cannot be read. `unowned`: no running process has its channel.',
  },
  cursor: {
    ...time,
    description: 'Every matching event up to this `created_at` is delivered or parked.',
  },
  lag_ms: { ...count, description: 'Time from the cursor to the newest event of the log.' },
  delivered: { ...count, description: 'Number of events delivered.' },
  attempts: { ...count, description: 'Failed attempts of the delivery that is tried now.' },
  next_attempt_at: timeOrNull,
  failing_since: timeOrNull,
  last_error: {
    anyOf: [{ type: 'null' }, lastError],
    description: 'The last failure, also if it is over.',
  },
  parked: { ...count, description: 'Number of events that were set aside.' },
  skipped: {
    ...count,
    description: 'Number of events that passed while the channel was disabled.',
  },
  skipped_since: { ...timeOrNull, description: 'The first of them, where `replay` begins.' },
})

const channelAttributes = closedObject({
  name: { ...name, description: 'Unique in the log. Subscriptions name it.' },
  kind: { ...text, description: 'Such as `webhook`; `function` for a function in code.' },
  config: {
    type: 'object',
    description:
      'Without secrets; empty for a channel in code. A user who may not change the channel sees only the servers of its URLs.',
  },
  enabled: { ...flag, description: 'False if events pass without being delivered.' },
  disabled_reason: textOrNull,
  in_code: { ...flag, description: 'True if a running process has it in its code.' },
})

const resource = (type: string, attributes: object) =>
  closedObject({ type: { const: type }, id, attributes, links: links('self') })

const parkedDelivery = closedObject({
  type: { const: 'parked_delivery' },
  id: { ...id, description: 'The id of the event.' },
  attributes: closedObject({
    created_at: { ...time, description: '`created_at` of the event.' },
    parked_at: time,
    attempts: count,
    error: { ...text, description: 'The message of the last failure.' },
    last_error: lastError,
  }),
})

const user = closedObject({
  type: { const: 'user' },
  id: { ...text, description: 'The name of the user.' },
  attributes: closedObject({
    may: closedObject(Object.fromEntries(SUBSCRIPTIONS_ACTIONS.map((action) => [action, flag]))),
    kinds: { ...listOf(text), description: 'The kinds of channels that can be created.' },
  }),
})

/** The body of a request that creates or changes a resource. Other members are ignored. */
const resourceBody = (types: readonly string[], attributes: object, ...required: string[]) => ({
  type: 'object',
  properties: {
    data: {
      type: 'object',
      properties: { type: { enum: types }, attributes: object(attributes, required) },
      required: ['type', 'attributes'],
    },
  },
  required: ['data'],
})

/** The body of a request that acts on a resource. */
const metaBody = (members: object, ...required: string[]) => ({
  type: 'object',
  properties: { meta: object(members, required) },
  ...(required.length > 0 && { required: ['meta'] }),
})

const SUBSCRIPTION_TYPES = ['subscription', 'subscriptions']
const CHANNEL_TYPES = ['notification_channel', 'notification_channels']

/** A document that has no resource. */
const metaDocument = (members: object) =>
  closedObject({ jsonapi: ref('JsonApi'), meta: closedObject(members), links: links('self') })

const config = {
  type: 'object',
  description: 'What it may have depends on the kind. Secrets are never returned.',
} as const

/** OpenAPI 3.1, "Schema Object" (JSON Schema 2020-12): the request and response bodies. */
export const schemas = {
  JsonApi: closedObject({ version: { const: jsonapi.version } }),
  Subscription: resource('subscription', subscriptionAttributes),
  SubscriptionDocument: document(ref('Subscription'), 'self'),
  SubscriptionList: document(listOf(ref('Subscription')), 'self'),
  ParkedList: document(listOf(parkedDelivery), 'self'),
  Channel: resource('notification_channel', channelAttributes),
  ChannelDocument: object(
    {
      jsonapi: ref('JsonApi'),
      data: ref('Channel'),
      meta: closedObject({
        secret: { ...text, description: 'The generated secret. It is not shown again.' },
      }),
      links: links('self'),
    },
    ['jsonapi', 'data', 'links'],
  ),
  ChannelList: document(listOf(ref('Channel')), 'self'),
  UserDocument: document(user, 'self'),
  TestResultDocument: metaDocument({
    accepted: flag,
    status: { type: ['integer', 'null'], description: 'The HTTP status of a refusal.' },
    fault: { anyOf: [{ type: 'null' }, fault] },
    duration_ms: { type: 'number', minimum: 0 },
  }),
  RedrivenDocument: metaDocument({
    delivered: { ...count, description: 'Accepted by the channel, and no longer parked.' },
    failed: { ...count, description: 'Refused again, and still parked.' },
    missed: { ...count, description: 'Cleaned meanwhile, so they cannot be delivered.' },
  }),
  DiscardedDocument: metaDocument({ discarded: count }),
  NewSubscription: resourceBody(
    SUBSCRIPTION_TYPES,
    { ...definition, from, paused },
    'name',
    'channel',
  ),
  SubscriptionChange: resourceBody(SUBSCRIPTION_TYPES, definition),
  NewChannel: resourceBody(CHANNEL_TYPES, { name, kind: text, config }, 'name', 'kind', 'config'),
  ChannelChange: resourceBody(CHANNEL_TYPES, { name, config }),
  Replay: metaBody({
    from: {
      ...text,
      description:
        'Events from this `created_at` on, or `beginning` for all. Default: `skipped_since` of the subscription.',
    },
  }),
  Which: metaBody(
    { which: { oneOf: [{ const: 'all' }, { ...listOf(id), description: 'Ids of events.' }] } },
    'which',
  ),
  Disable: metaBody({ reason: { ...textOrNull, description: 'Becomes `disabled_reason`.' } }),
  Nothing: metaBody({}),
} as const
