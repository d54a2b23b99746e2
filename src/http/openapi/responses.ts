import { JSON_API } from '../problem.js'
import * as s from './shapes.js'

/* OpenAPI 3.1, "Response Object": all responses other than errors, by the names that routes use. */

export interface ResponseObject {
  readonly description: string
  readonly headers?: Readonly<Record<string, object>>
  readonly content?: Readonly<Record<string, { readonly schema: object }>>
}

const header = (description: string, example: string, required = true) => ({
  description,
  required,
  schema: s.text(),
  example,
})

/** The headers of documents that clients may cache. */
const cached = {
  ETag: header('A weak entity tag of the document.', 'W/"2jmj7l5rSw0yVb_vlWAYkK_YBwk"'),
  Vary: header('Request headers that the response depends on.', 'Accept, Accept-Encoding'),
  'Cache-Control': header(
    'Clients may cache the response, and must revalidate it before each use.',
    'private, no-cache',
  ),
}
const uncached = { 'Cache-Control': header('The response must not be cached.', 'no-store') }

const listed = {
  ...cached,
  'Preference-Applied': header('The preference of `Prefer` that was applied.', 'wait=30', false),
}

const location = (what: string) => ({
  description: `The path of ${what}.`,
  schema: { type: 'string', format: 'uri-reference' },
})

/** A response with a JSON:API document. */
const document = (description: string, schema: string, headers = {}): ResponseObject => ({
  description,
  headers: { ...cached, ...headers },
  content: { [JSON_API]: { schema: s.ref(schema) } },
})

/** The response with a text of the ledger. */
const text = (description: string, headers = {}): ResponseObject => ({
  description,
  headers: { ...cached, ...headers },
  content: { 'text/plain': { schema: s.text() } },
})

/** The response to a request that has changed something. */
const changed = (description: string, schema: string, headers = {}): ResponseObject => ({
  ...document(description, schema),
  headers: { ...uncached, ...headers },
})

const created = (what: string, schema: string): ResponseObject =>
  changed(`The new ${what}.`, schema, {
    Location: { ...location(`the new ${what}`), required: true },
  })

const line = (description: string, ...members: readonly string[]) =>
  s.open(s.each(members, {}), description)

const exported = (until: object): ResponseObject => ({
  description:
    'The events, sent while they are read. For JSON lines the schema describes one line.',
  headers: {
    'Content-Disposition': header(
      'The name of the file.',
      'attachment; filename="events-2026-11-20T130600Z.ndjson"',
    ),
    'X-Total-Count': header('Number of matching events.', '1834', false),
    'X-Total-Count-At-Least': header(
      'A lower bound of the number of matching events. Replaces `X-Total-Count` when an exact count takes too long.',
      '18340000',
      false,
    ),
    'X-Export-Until': until,
    Vary: header('Request headers that the response depends on.', 'Accept'),
    ...uncached,
  },
  content: {
    'application/x-ndjson': {
      schema: {
        anyOf: [
          s.ref('ExportedEvent'),
          line('A CloudEvent: format=cloudevents.', 'specversion', 'data'),
          line('An event of OCSF: format=ocsf.', 'class_uid', 'metadata'),
          line('A request of OTLP with one log record: format=otlp.', 'resourceLogs'),
        ],
      },
    },
    'text/csv': { schema: s.text() },
    'application/vnd.apache.parquet': { schema: { type: 'string', format: 'binary' } },
  },
})

const shared = {
  User: document('The authenticated user.', 'UserDocument'),
  Description: {
    description: 'An OpenAPI 3.1 document.',
    headers: cached,
    content: { 'application/json': { schema: { type: 'object' } } },
  },
  NotModified: {
    description: 'The client already has the current document. The response has no body.',
    headers: cached,
  },
} satisfies Record<string, ResponseObject>

/** The responses of the endpoints of one log. */
export const responses = {
  ...shared,
  EventList: document('All matching events.', 'EventList', listed),
  PartOfEventList: document(
    'Some of the matching events: there are more than the limit.',
    'EventList',
    listed,
  ),
  Event: document('The event.', 'EventDocument'),
  Created: {
    description: 'The event was created. The response has no body.',
    headers: {
      Location: location('the event'),
      'Consistency-Token': header(
        'A read with this token has the event, whichever process answers it.',
        '2026-11-21T04:07:19.088118Z',
      ),
    },
  },
  EventStream: {
    description: 'Events as they become visible. The response does not end.',
    content: { 'text/event-stream': { schema: s.text() } },
  },
  Counts: document('The counts.', 'Counts'),
  History: document('All changes of the resource until `as_of`.', 'History'),
  PartOfHistory: document(
    'The latest changes of the resource until `as_of`: there are more than the limit.',
    'History',
  ),
  Groups: document('The groups.', 'Groups'),
  Export: exported(
    header(
      '`created_at` of the newest event that the export may contain. With `filter[created_at_lteq]` a later export ends there too.',
      '2026-11-20T13:05:52.418114Z',
    ),
  ),
  Report: document('The events and the digest of their export.', 'Report'),
  Ledger: document('The condition of the ledger.', 'LedgerDocument'),
  Checkpoint: text('A signed note: c2sp.org/tlog-checkpoint.'),
  Proof: text('A proof: c2sp.org/tlog-proof.', {
    'Content-Disposition': header(
      'The name of the file.',
      'attachment; filename="event-0196b3c2-0000-7000-8000-00000000000a.tlog-proof"',
    ),
  }),
  EventTypeList: document('The event types.', 'EventTypeList', {
    'Content-Language': header('The language of the sentences.', 'en'),
  }),
} satisfies Record<string, ResponseObject>

/** The responses of the endpoints of several logs. */
export const severalLogsResponses = {
  ...responses,
  Export: exported(
    header(
      'A cursor: how far the export goes in each log. With `until`, a later export ends there too.',
      'AQ7Zb1LvT2s9gAZWd1hJ6A',
    ),
  ),
  LogList: document('All logs that the user may read.', 'LogList'),
  PartOfLogList: document('Some of the logs: there are more than the limit.', 'LogList'),
} satisfies Record<string, ResponseObject>

const part = (schema: string): ResponseObject =>
  document('Some of them: more match than the limit allows.', schema)

/** The responses of the endpoints of subscriptions and channels. */
export const subscriptionsResponses = {
  ...shared,
  SubscriptionList: document('The matching subscriptions.', 'SubscriptionList'),
  PartOfSubscriptionList: part('SubscriptionList'),
  Subscription: document('The subscription.', 'SubscriptionDocument'),
  ChangedSubscription: changed('The subscription.', 'SubscriptionDocument'),
  SubscriptionCreated: created('subscription', 'SubscriptionDocument'),
  ParkedList: document('The matching parked events.', 'ParkedList'),
  PartOfParkedList: part('ParkedList'),
  ChannelList: document('The matching channels.', 'ChannelList'),
  PartOfChannelList: part('ChannelList'),
  Channel: document('The channel.', 'ChannelDocument'),
  ChangedChannel: changed('The channel.', 'ChannelDocument'),
  ChannelCreated: created('channel', 'ChannelDocument'),
  Removed: { description: 'It is removed. The response has no body.' },
  TestResult: changed('The result of the delivery.', 'TestResultDocument'),
  Redriven: changed('What became of the events.', 'RedrivenDocument'),
  Discarded: changed('How many were discarded.', 'DiscardedDocument'),
} satisfies Record<string, ResponseObject>

/** The responses of the endpoints of views. */
export const viewsResponses = {
  ...shared,
  ViewList: document('The matching views.', 'ViewList'),
  PartOfViewList: part('ViewList'),
  View: document('The view.', 'ViewDocument'),
  ChangedView: changed('The view.', 'ViewDocument'),
  ViewCreated: created('view', 'ViewDocument'),
  Removed: { description: 'It is deleted. The response has no body.' },
} satisfies Record<string, ResponseObject>
