import { NOT_FOLLOWED } from '../body-query.js'
import type { ManagedBody } from './bodies.js'
import type {
  parameters,
  severalLogsParameters,
  subscriptionsParameters,
  viewsParameters,
} from './parameters.js'
import {
  responses,
  severalLogsResponses,
  subscriptionsResponses,
  viewsResponses,
} from './responses.js'
import { type Declared, rightOf, type Route, routeFrom, routesFrom, type Table } from './route.js'

/*
 * All endpoints. A row says what is particular to one; `route.ts` adds what follows from its kind. Names of parameters, bodies and
 * responses are those of `parameters.ts`, `bodies.ts` and `responses.ts`.
 */

/** Limits of a report. */
export const MAX_REPORT_EVENTS = 5000
export const MAX_REPORT_MIB = 32
const REPORT_LIMITS = `At most ${MAX_REPORT_EVENTS} events with ${MAX_REPORT_MIB} MiB of attributes.`

/** The parameters of the query of a list, and of counts. */
const LISTED = ['filter', 'q', 'limit', 'fields', 'personal'] as const
const COUNTED = ['filter', 'q', 'buckets', 'zone', 'facets', 'top', 'attributes'] as const

/** The place of the parameters of a long query. */
const IN_BODY =
  'The body has the parameters, as the query of a URL has them: at most 64 KiB. Such a query is not followed.'

/** The right to the endpoints of the ledger. Its size is the number of events in the log. */
const WHOLE = 'Only for users who see the whole log.'

/** The links of a list for a long query. */
const NO_LINK =
  'Links to pages have the body to post in `meta.body`, and are missing if it would be too long.'

const events = {
  'GET /': {
    action: 'list',
    operationId: 'listEvents',
    answer: 'EventList',
    query: LISTED,
    headers: ['Prefer'],
    text:
      'List events. Without sorts: the newest matching events, oldest first. With sorts: the first events of that order. ' +
      'Status 206 means that more events match than the limit allows.',
  },
  'POST /search': {
    action: 'list',
    operationId: 'searchEvents',
    answer: 'EventList',
    form: LISTED,
    text: `List events by a long query. The list for a query that is too long for a URL. ${IN_BODY} ${NO_LINK}`,
  },
  'POST /': {
    action: 'create',
    operationId: 'createEvent',
    answer: 'Created',
    headers: ['Idempotency-Key'],
    body: 'NewEventDocument',
    text:
      'Create a custom event. The event is durable when the response is sent. Its `system` is false, its `username` the ' +
      'authenticated user.',
  },
  'GET /stream': {
    action: 'stream',
    operationId: 'followEvents',
    answer: 'EventStream',
    query: ['filter', 'q', 'fields', 'after', 'changes'],
    headers: ['Last-Event-ID'],
    others: NOT_FOLLOWED,
    text:
      'Follow events. Matching events, each once, as they become visible: server-sent events whose `id` is the ' +
      '`created_at` of the event and whose `data` is its document. Sorts are not allowed: a stream is ordered by `created_at`.',
  },
  'GET /counts': {
    action: 'count',
    operationId: 'countEvents',
    answer: 'Counts',
    query: COUNTED,
    text:
      'Count events. Counts of all matching events: in total, by level, by time and by the values of attributes. ' +
      '`exact` says which figures are complete; the others are lower bounds.',
  },
  'POST /counts': {
    action: 'count',
    operationId: 'countSearchedEvents',
    answer: 'Counts',
    form: COUNTED,
    text: `Count events by a long query. The counts for a query that is too long for a URL. ${IN_BODY}`,
  },
  'GET /groups': {
    action: 'groups',
    right: 'count',
    operationId: 'groupEvents',
    answer: 'Groups',
    query: ['filter', 'q', 'by', 'numbers', 'groupBuckets', 'zone', 'groupTop'],
    text:
      'Group events. The most frequent values, or pairs of values, of one or two attributes among all matching events, with ' +
      'their counts over time and percentiles of numbers. If reading takes too long they are estimates with ' +
      'their error. Needs the right to count.',
  },
  'GET /export': {
    action: 'export',
    operationId: 'exportEvents',
    answer: 'Export',
    query: ['filter', 'q', 'format', 'columns', 'personal'],
    problems: [501],
    text:
      'Export events. All matching events that exist when the export begins, oldest first, as a file. If the service ' +
      'fails midway, it closes the connection: a response that ends normally is complete.',
  },
  'GET /report': {
    action: 'report',
    right: 'export',
    operationId: 'reportEvents',
    answer: 'Report',
    query: ['filter', 'q', 'personal'],
    problems: [422],
    text:
      'Report on events. All matching events that exist now, oldest first, with the SHA-256 digest of their export. The path ' +
      '`meta.export` repeats the query with a fixed end: it gives the same bytes as long as these events neither ' +
      `change nor are removed. ${REPORT_LIMITS}`,
  },
  'GET /history': {
    action: 'history',
    right: 'list',
    operationId: 'readHistory',
    answer: 'History',
    query: ['source', 'resource', 'as_of', 'historyLimit', 'personal'],
    text:
      'Read the history of a resource. The latest changes of one resource, oldest first, each with the state after it. ' +
      'Status 206 means that there are earlier changes; `links.prev` leads to them. A user who may list events may read it.',
  },
  'GET /checkpoint': {
    action: 'checkpoint',
    right: 'read',
    whole: true,
    operationId: 'readCheckpoint',
    answer: 'Checkpoint',
    problems: [404, 409],
    text: `Read the signed head of the ledger. The newest head that covers all sealed events. The response is 503 before the first one. ${WHOLE}`,
  },
  'GET /ledger': {
    action: 'ledger',
    right: 'read',
    whole: true,
    operationId: 'readLedger',
    answer: 'Ledger',
    problems: [404],
    text: `Read the condition of the ledger. How far events are sealed, the last verification, and the anchors of the process that answers. ${WHOLE}`,
  },
  'GET /types': {
    action: 'types',
    operationId: 'listEventTypes',
    answer: 'EventTypeList',
    headers: ['Accept-Language'],
    text: 'List event types. The types of system events.',
  },
  'GET /me': {
    action: 'me',
    operationId: 'readUser',
    answer: 'User',
    text: 'Read the authenticated user. The name and the rights of the authenticated user.',
  },
  'GET /openapi.json': {
    action: 'describe',
    operationId: 'describeEvents',
    answer: 'Description',
    text: 'Describe the endpoints. This document.',
  },
  'GET /{id}': {
    action: 'read',
    operationId: 'readEvent',
    answer: 'Event',
    query: ['fields', 'personal'],
    text: 'Read one event. The response is 404 for a missing event and for one that the user may not see.',
  },
  'GET /{id}/proof': {
    action: 'proof',
    right: 'read',
    whole: true,
    operationId: 'proveEvent',
    answer: 'Proof',
    text: `Prove one event. A text that proves with the export line of the event that the ledger has sealed it. The response is 503 until the event is sealed. ${WHOLE}`,
  },
} as const satisfies Table<keyof typeof parameters, keyof typeof responses, 'NewEventDocument'>

type Events = typeof events
type EventsKey = keyof Events

/** An endpoint of one log. */
export type EventsRoute = Route<Events[EventsKey]['action']>

/** All endpoints of one log. */
export const eventsRoutes: readonly EventsRoute[] = routesFrom(events, responses)

/** Endpoints that several logs do not have together: events are created in one log, and each log has a ledger of its own. */
type OfOneLog = 'POST /' | 'GET /checkpoint' | 'GET /ledger' | 'GET /{id}/proof'

/** The endpoints of the ledger. */
export const ledgerRoutes = eventsRoutes.filter(({ whole }) => whole)

type SeveralLogsParameter = keyof typeof severalLogsParameters

/** The differences of an endpoint of several logs from that of one log. */
interface OfSeveral {
  /** @default that of one log, with `OfLogs` at the end */
  readonly operationId?: string
  /** @default `logs[]`, the parameters of one log, and `more` */
  readonly query?: readonly SeveralLogsParameter[]
  readonly more?: readonly SeveralLogsParameter[]
  /** @default that of one log, about events of several logs */
  readonly text?: string
}

const ofSeveral: Readonly<Record<Exclude<EventsKey, OfOneLog>, OfSeveral>> = {
  'GET /': {
    more: ['cursor'],
    text:
      'List events of several logs. As the list of one log, merged: without sorts by `created_at`, then by the key of the log. ' +
      '`meta.log` of each event is the key of its log. `links.prev` leads to older events, with the sort `created_at asc` ' +
      '`links.next` to newer ones. `meta.cursor` is a cursor for the stream: it sends what has become visible since the list was read.',
  },
  'POST /search': { more: ['cursor'] },
  'GET /stream': {
    query: ['logs', 'filter', 'q', 'fields', 'cursor', 'after', 'ignoredChanges'],
    text:
      'Follow events of several logs. As the stream of one log. The `id` of each message is a cursor, which holds how far each log ' +
      'was read, so a client that reconnects continues without a gap in any of them.',
  },
  'GET /counts': { text: 'Count events of several logs. The sums of the counts of the logs.' },
  'POST /counts': {},
  'GET /groups': {
    text: 'Group events of several logs. As the groups of one log that has all events of the logs.',
  },
  'GET /export': {
    more: ['cursor', 'until'],
    text:
      'Export events of several logs. As the export of one log, by `created_at`, then by the key of the log. Each event names its ' +
      'log: in the member `log` of JSON lines, the column `log_key` of CSV and Parquet, the extension `log` of CloudEvents, ' +
      '`metadata.log_name` of OCSF and the attribute `daybook.log` of OTLP. With `X-Export-Until` as `cursor`, a later export ' +
      'continues after this one.',
  },
  'GET /report': {
    operationId: 'reportOnEventsOfLogs',
    text: `Report on events of several logs. As the report on one log. ${REPORT_LIMITS}`,
  },
  'GET /history': {
    more: ['until'],
    text:
      'Read the history of a resource in several logs. As the history of one log, of a resource whose changes are in several logs. ' +
      'Each state follows from the change before, whatever its log.',
  },
  'GET /types': {
    query: [],
    text: 'List event types. The types of system events, which all logs share.',
  },
  'GET /me': {
    text: 'Read the authenticated user. The name of the authenticated user, and what the user may do with several logs at once.',
  },
  'GET /openapi.json': {
    operationId: 'describeLogs',
    query: [],
    text: 'Describe the endpoints. This document. Each log has a further one under the path of its events.',
  },
  'GET /{id}': {
    text: 'Read one event of several logs. The event with this id in the first of the logs that has one.',
  },
}

const logs = {
  'GET /': {
    action: 'logs',
    operationId: 'listLogs',
    answer: 'LogList',
    query: ['search', 'afterKey', 'keysLimit'],
    text:
      'List logs. The logs in which the user may do something, in the order of their keys. Status 206 means that there are more ' +
      'than the limit; `links.next` leads to them. The relationship `events` leads to the endpoints of a log.',
  },
} as const satisfies Table<SeveralLogsParameter, keyof typeof severalLogsResponses, never>

/**
 * An endpoint of several logs. `right` is the action that the host must allow in each of them; `undefined` if every authenticated
 * user may do this.
 */
export type LogsRoute = Route<'logs' | Events[Exclude<EventsKey, OfOneLog>]['action']>

function severalLogsRoute([key, differs]: readonly [string, OfSeveral]): LogsRoute {
  const row: Declared<SeveralLogsParameter, string, string> = events[key as keyof typeof ofSeveral]
  // Logs of a set have no keys of persons.
  const taken = (row.form ?? row.query ?? []).filter((name) => name !== 'personal')
  const { more = [], query = ['logs', ...taken, ...more] } = differs
  const isOfLogs = query.includes('logs')
  const route = routeFrom(
    key.replace(/ \/(?!openapi)/, ' /events/').replace(/\/$/, ''),
    {
      ...row,
      action: row.action as LogsRoute['action'],
      operationId: differs.operationId ?? `${row.operationId}OfLogs`,
      text: differs.text ?? row.text.replace('events', 'events of several logs'),
      ...(row.form ? { form: query } : { query }),
      problems: [...(row.problems ?? []), ...(isOfLogs ? [404] : [])],
    },
    severalLogsResponses,
  )
  return {
    ...route,
    right: isOfLogs ? rightOf(route) : undefined,
    parameters: route.parameters.filter((name) => name !== 'Consistency-Token'),
    problems: route.problems.filter((status) => status !== 412),
  }
}

/** All endpoints of several logs: the list of logs, and those of one log that read. */
export const severalLogsRoutes: readonly LogsRoute[] = [
  ...routesFrom(logs, severalLogsResponses),
  ...Object.entries(ofSeveral).map(severalLogsRoute),
]

const QUERY = ['filter', 'limit'] as const

const management = {
  'GET /subscriptions': {
    action: 'subscriptions:list',
    answer: 'SubscriptionList',
    query: QUERY,
    text: 'List subscriptions. The subscriptions that the user may see, by name, with their state. Status 206 means that more match than the limit allows.',
  },
  'POST /subscriptions': {
    action: 'subscriptions:create',
    answer: 'SubscriptionCreated',
    body: 'NewSubscription',
    text: 'Create a subscription. Its owner is the authenticated user. Events recorded from then on are delivered.',
  },
  'GET /subscriptions/me': {
    action: 'me',
    answer: 'User',
    text: 'Read what the user may do. The name and the rights of the authenticated user, and the kinds of channels that can be created.',
  },
  'GET /subscriptions/openapi.json': {
    action: 'subscriptions:describe',
    answer: 'Description',
    text: 'Describe the endpoints. This document.',
  },
  'GET /subscriptions/{id}': {
    action: 'subscriptions:read',
    answer: 'Subscription',
    text: 'Read one subscription. The response is 404 for a missing subscription and for one that the user may not see.',
  },
  'PATCH /subscriptions/{id}': {
    action: 'subscriptions:update',
    answer: 'ChangedSubscription',
    body: 'SubscriptionChange',
    text: 'Change a subscription. Attributes that are not sent keep their value.',
  },
  'DELETE /subscriptions/{id}': {
    action: 'subscriptions:delete',
    answer: 'Removed',
    problems: [409],
    text: 'Remove a subscription. Its parked deliveries are removed too.',
  },
  'POST /subscriptions/{id}/pause': {
    action: 'subscriptions:pause',
    answer: 'ChangedSubscription',
    body: 'Nothing',
    text: 'Pause a subscription. It keeps its cursor.',
  },
  'POST /subscriptions/{id}/resume': {
    action: 'subscriptions:resume',
    answer: 'ChangedSubscription',
    body: 'Nothing',
    text: 'Resume a subscription. Deliveries go on where they were paused.',
  },
  'POST /subscriptions/{id}/replay': {
    action: 'subscriptions:replay',
    answer: 'ChangedSubscription',
    body: 'Replay',
    text: 'Deliver events again. The events are delivered with the same ids.',
  },
  'POST /subscriptions/{id}/test': {
    action: 'subscriptions:test',
    answer: 'TestResult',
    body: 'Nothing',
    text: 'Test a subscription. Delivers one event of the type `daybook:test`, which is not stored.',
  },
  'POST /subscriptions/{id}/redrive': {
    action: 'subscriptions:redrive',
    answer: 'Redriven',
    body: 'Which',
    text:
      'Deliver parked events. Tries to deliver parked events again, out of order. The response is sent when all of them were ' +
      'tried. If the client disconnects, the rest stays parked.',
  },
  'POST /subscriptions/{id}/discard': {
    action: 'subscriptions:discard',
    answer: 'Discarded',
    body: 'Which',
    text: 'Discard parked events. They are never delivered. The events stay in the log.',
  },
  'GET /subscriptions/{id}/parked': {
    action: 'subscriptions:parked',
    answer: 'ParkedList',
    query: QUERY,
    text:
      'List parked events. Events that could not be delivered and were set aside, oldest first. Their ids are those of the ' +
      'events. Status 206 means that more match than the limit allows.',
  },
  'GET /notification_channels': {
    action: 'notification_channels:list',
    answer: 'ChannelList',
    query: QUERY,
    text:
      'List channels. The channels that users created and those in the code of running processes, by name. Status 206 means ' +
      'that more match than the limit allows.',
  },
  'POST /notification_channels': {
    action: 'notification_channels:create',
    answer: 'ChannelCreated',
    body: 'NewChannel',
    text: 'Create a channel. Secrets are stored encrypted and are never returned, except for a generated one, which `meta.secret` of this response has.',
  },
  'GET /notification_channels/{id}': {
    action: 'notification_channels:read',
    answer: 'Channel',
    text: 'Read one channel. The response has none of its secrets.',
  },
  'PATCH /notification_channels/{id}': {
    action: 'notification_channels:update',
    answer: 'ChangedChannel',
    body: 'ChannelChange',
    text: 'Change a channel. Attributes and members of `config` that are not sent keep their value.',
  },
  'DELETE /notification_channels/{id}': {
    action: 'notification_channels:delete',
    answer: 'Removed',
    problems: [409],
    text: 'Remove a channel. The response is 409 while a subscription uses it.',
  },
  'POST /notification_channels/{id}/enable': {
    action: 'notification_channels:enable',
    answer: 'ChangedChannel',
    body: 'Nothing',
    text: 'Enable a channel. Deliveries go on with the events that come from then on.',
  },
  'POST /notification_channels/{id}/disable': {
    action: 'notification_channels:disable',
    answer: 'ChangedChannel',
    body: 'Disable',
    text: 'Disable a channel. Events pass without being delivered. Their subscriptions count them as `skipped`, and `replay` delivers them.',
  },
  'POST /notification_channels/{id}/rotate_secret': {
    action: 'notification_channels:rotate_secret',
    answer: 'ChangedChannel',
    body: 'Nothing',
    text: 'Replace the secret of a channel. The former secret stays valid for 24 hours. `meta.secret` has the new one.',
  },
  'POST /notification_channels/{id}/test': {
    action: 'notification_channels:test',
    answer: 'TestResult',
    body: 'Nothing',
    text: 'Test a channel. Delivers one event of the type `daybook:test`, which is not stored.',
  },
} as const satisfies Table<
  keyof typeof subscriptionsParameters,
  keyof typeof subscriptionsResponses,
  ManagedBody
>

/** All endpoints of subscriptions and channels. */
export const managementRoutes = routesFrom(management, subscriptionsResponses)

const views = {
  'GET /': {
    action: 'views:list',
    operationId: 'listViews',
    answer: 'ViewList',
    query: QUERY,
    text: 'List views. The views of the user and the shared ones, by name. Status 206 means that more match than the limit allows.',
  },
  'POST /': {
    action: 'views:create',
    operationId: 'createView',
    answer: 'ViewCreated',
    body: 'NewView',
    text: 'Create a view. Its owner is the authenticated user. To share it needs the right `views:share`.',
  },
  'GET /me': {
    action: 'me',
    operationId: 'readViewRights',
    answer: 'User',
    text: 'Read what the user may do. The name and the rights of the authenticated user.',
  },
  'GET /openapi.json': {
    action: 'views:describe',
    operationId: 'describeViews',
    answer: 'Description',
    text: 'Describe the endpoints. This document.',
  },
  'GET /{id}': {
    action: 'views:read',
    operationId: 'readView',
    answer: 'View',
    text: 'Read one view. The response is 404 for a missing view and for one that the user may not see.',
  },
  'PATCH /{id}': {
    action: 'views:update',
    operationId: 'updateView',
    answer: 'ChangedView',
    body: 'ViewChange',
    text: 'Change a view. Attributes that are not sent keep their value. To share a view, or to change one that is shared, needs the right `views:share`.',
  },
  'DELETE /{id}': {
    action: 'views:destroy',
    operationId: 'destroyView',
    answer: 'Removed',
    text: 'Delete a view. It is deleted for everybody who sees it.',
  },
} as const satisfies Table<keyof typeof viewsParameters, keyof typeof viewsResponses, ManagedBody>

/** All endpoints of views. */
export const viewsRoutes = routesFrom(views, viewsResponses)
