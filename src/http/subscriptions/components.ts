import { parameters as eventParameters } from '../events/route-parameters.js'
import {
  cacheHeaders,
  documentResponse,
  header,
  responses as shared,
} from '../openapi/responses.js'
import { ref } from '../openapi/shapes.js'
import { JSON_API } from '../problem.js'
import { MAX_BODY_BYTES } from '../managing/request-body.js'
import type { schemas } from './schemas.js'

/* The parts that the table of routes refers to by name: OpenAPI 3.1, "Components Object". */

export const parameters = {
  id: {
    name: 'id',
    in: 'path',
    required: true,
    description: 'The id of the subscription or channel.',
    schema: { type: 'string', format: 'uuid' },
  },
  filter: {
    ...eventParameters.filter,
    description: [
      'Conditions on `id` and the attributes, written `filter[<attribute>_<predicate>]=<value>`. Members of `config`, `retain` ' +
        'and `last_error` are joined by `_`: `filter[last_error_kind_eq]=timeout`.',
      'An item must match all conditions, or any with `filter[m]=or`. `filter[sorts]=<attribute> <asc|desc>` sets the order.',
    ].join('\n\n'),
    example: { state_in: ['failing', 'broken'], sorts: 'lag_ms desc' },
  },
  limit: {
    name: 'limit',
    in: 'query',
    description: 'Maximum number of items in the response. Default: no limit.',
    schema: { type: 'integer', minimum: 1 },
  },
  'If-None-Match': eventParameters['If-None-Match'],
} as const

export type ParameterName = keyof typeof parameters

const EXAMPLES = {
  NewSubscription: {
    data: {
      type: 'subscription',
      attributes: { name: 'errors', channel: 'siem', filter: 'filter[type_start]=error:' },
    },
  },
  SubscriptionChange: {
    data: { type: 'subscription', attributes: { filter: 'filter[type_start]=audit:' } },
  },
  NewChannel: {
    data: {
      type: 'notification_channel',
      attributes: {
        name: 'siem',
        kind: 'webhook',
        config: { url: 'https://siem.example/daybook' },
      },
    },
  },
  ChannelChange: {
    data: {
      type: 'notification_channel',
      attributes: { config: { url: 'https://siem.example/v2' } },
    },
  },
  Replay: { meta: { from: '2026-11-21T00:00:00Z' } },
  Which: { meta: { which: 'all' } },
  Disable: { meta: { reason: 'the receiver moves on Friday' } },
  Nothing: {},
} as const satisfies Partial<Record<keyof typeof schemas, object>>

export type BodyName = keyof typeof EXAMPLES

/** Bodies that may be left out. */
const OPTIONAL: ReadonlySet<BodyName> = new Set(['Replay', 'Disable', 'Nothing'] as const)

/** OpenAPI 3.1, "Request Body Object". The header `Content-Type` is required even without a body. */
export const requestBody = (name: BodyName): object => ({
  required: !OPTIONAL.has(name),
  description: `At most ${MAX_BODY_BYTES} bytes. Without a body the header \`Content-Type\` is needed too.`,
  content: { [JSON_API]: { schema: ref(name), example: EXAMPLES[name] } },
})

const uncached = { 'Cache-Control': header('The response must not be cached.', 'no-store') }
const created = {
  ...uncached,
  Location: {
    description: 'The path of the new resource.',
    required: true,
    schema: { type: 'string', format: 'uri-reference' },
  },
}

const list = (what: string, schema: keyof typeof schemas) => documentResponse(what, schema)
const part = (schema: keyof typeof schemas) =>
  documentResponse('Some of them: more match than the limit allows.', schema)

/** OpenAPI 3.1, "Response Object": all responses other than errors. */
export const responses = {
  SubscriptionList: list('The matching subscriptions.', 'SubscriptionList'),
  PartOfSubscriptionList: part('SubscriptionList'),
  Subscription: documentResponse('The subscription.', 'SubscriptionDocument'),
  ChangedSubscription: documentResponse('The subscription.', 'SubscriptionDocument', uncached),
  SubscriptionCreated: documentResponse('The new subscription.', 'SubscriptionDocument', created),
  ParkedList: list('The matching parked events.', 'ParkedList'),
  PartOfParkedList: part('ParkedList'),
  ChannelList: list('The matching channels.', 'ChannelList'),
  PartOfChannelList: part('ChannelList'),
  Channel: documentResponse('The channel.', 'ChannelDocument', cacheHeaders),
  ChangedChannel: documentResponse('The channel.', 'ChannelDocument', uncached),
  ChannelCreated: documentResponse('The new channel.', 'ChannelDocument', created),
  Removed: { description: 'It is removed. The response has no body.' },
  TestResult: documentResponse('The result of the delivery.', 'TestResultDocument', uncached),
  Redriven: documentResponse('What became of the events.', 'RedrivenDocument', uncached),
  Discarded: documentResponse('How many were discarded.', 'DiscardedDocument', uncached),
  User: documentResponse('The authenticated user.', 'UserDocument'),
  Description: shared.Description,
  NotModified: shared.NotModified,
} as const

export type ResponseName = keyof typeof responses
