import { NOT_FOLLOWED } from '../body-query.js'
import type { ResponseName } from '../openapi/responses.js'
import { type MatchedRoutes, routeMatcher } from '../route-matcher.js'
import type { ParameterName } from './route-parameters.js'

/** Limits of a report. */
export const MAX_REPORT_EVENTS = 5000
export const MAX_REPORT_MIB = 32

export const EVENTS_ACTIONS = [
  'list',
  'read',
  'create',
  'stream',
  'count',
  'export',
  'types',
  'describe',
] as const

/** An action that the host can allow or deny. */
export type EventsAction = (typeof EVENTS_ACTIONS)[number]

/** An endpoint and its description. */
export interface EventsRoute {
  readonly action: EventsAction | 'me' | 'groups' | 'report' | 'history'
  /** The action that the host must allow, if it is not `action` itself. */
  readonly right?: EventsAction
  readonly method: 'GET' | 'POST'
  /** In the OpenAPI document. @default that of the action */
  readonly operationId?: string
  /** Relative to the mount path. */
  readonly path:
    | ''
    | '/stream'
    | '/search'
    | '/counts'
    | '/groups'
    | '/export'
    | '/report'
    | '/history'
    | '/types'
    | '/me'
    | '/openapi.json'
    | '/{id}'
  /** Why other methods are refused, if there is a reason to say. */
  readonly others?: string
  readonly summary: string
  readonly description: string
  readonly parameters: readonly ParameterName[]
  /** The parameters of a query in the body. */
  readonly form?: readonly ParameterName[]
  readonly responses: Readonly<Record<number, ResponseName>>
  /** Error statuses in addition to those that every endpoint has. */
  readonly problems: readonly number[]
}

/** The parameters of the query of a list, and of counts. */
export const LISTED = ['filter', 'q', 'limit', 'fields'] as const
export const COUNTED = ['filter', 'q', 'buckets', 'zone', 'facets', 'top', 'attributes'] as const

/** Where the parameters of a long query are. */
export const IN_BODY =
  'The body has the parameters, as the query of a URL has them: at most 64 KiB. Such a query is not followed.'

/** Where the links of its list lead. */
export const NO_LINK =
  'Links to pages have the body to post in `meta.body`, and are missing if it would be too long.'

/** All endpoints; the first one with a matching path is used. */
export const eventsRoutes: readonly EventsRoute[] = [
  {
    action: 'list',
    method: 'GET',
    path: '',
    summary: 'List events',
    description:
      'Without sorts: the newest matching events, oldest first. With sorts: the first events of that order. ' +
      'Status 206 means that more events match than the limit allows.',
    parameters: [...LISTED, 'Prefer', 'If-None-Match', 'Consistency-Token'],
    responses: { 200: 'EventList', 206: 'PartOfEventList', 304: 'NotModified' },
    problems: [400, 406, 412],
  },
  {
    action: 'list',
    method: 'POST',
    path: '/search',
    operationId: 'searchEvents',
    summary: 'List events by a long query',
    description: `The list for a query that is too long for a URL. ${IN_BODY} ${NO_LINK}`,
    parameters: ['Consistency-Token'],
    form: LISTED,
    responses: { 200: 'EventList', 206: 'PartOfEventList' },
    problems: [400, 406, 412, 415],
  },
  {
    action: 'create',
    method: 'POST',
    path: '',
    summary: 'Create a custom event',
    description:
      'The event is durable when the response is sent. Its `system` is false, its `username` the ' +
      'authenticated user.',
    parameters: ['Idempotency-Key'],
    responses: { 201: 'Created' },
    problems: [400, 409, 413, 415, 422],
  },
  {
    action: 'stream',
    method: 'GET',
    path: '/stream',
    others: NOT_FOLLOWED,
    summary: 'Follow events',
    description:
      'Matching events, each once, as they become visible: server-sent events whose `id` is the ' +
      '`created_at` of the event and whose `data` is its document. Sorts are not allowed: a stream is ' +
      'ordered by `created_at`.',
    parameters: ['filter', 'q', 'fields', 'after', 'changes', 'Last-Event-ID', 'Consistency-Token'],
    responses: { 200: 'EventStream' },
    problems: [400, 406, 412],
  },
  {
    action: 'count',
    method: 'GET',
    path: '/counts',
    summary: 'Count events',
    description:
      'Counts of all matching events: in total, by level, by time and by the values of attributes. ' +
      '`exact` tells which figures are complete; the others are lower bounds.',
    parameters: [...COUNTED, 'If-None-Match', 'Consistency-Token'],
    responses: { 200: 'Counts', 304: 'NotModified' },
    problems: [400, 406, 412],
  },
  {
    action: 'count',
    method: 'POST',
    path: '/counts',
    summary: 'Count events by a long query',
    operationId: 'countSearchedEvents',
    description: `The counts for a query that is too long for a URL. ${IN_BODY}`,
    parameters: ['Consistency-Token'],
    form: COUNTED,
    responses: { 200: 'Counts' },
    problems: [400, 406, 412, 415],
  },
  {
    action: 'groups',
    right: 'count',
    method: 'GET',
    path: '/groups',
    summary: 'Group events',
    description:
      'The most frequent values, or pairs of values, of one or two attributes among all matching events, with ' +
      'their counts over time and percentiles of numbers. If reading takes too long they are estimates with ' +
      'their error. Needs the right to count.',
    parameters: [
      'filter',
      'q',
      'by',
      'numbers',
      'groupBuckets',
      'zone',
      'groupTop',
      'If-None-Match',
      'Consistency-Token',
    ],
    responses: { 200: 'Groups', 304: 'NotModified' },
    problems: [400, 406, 412],
  },
  {
    action: 'export',
    method: 'GET',
    path: '/export',
    summary: 'Export events',
    description:
      'All matching events that exist when the export begins, oldest first, as a file. If the service ' +
      'fails midway, it closes the connection: a response that ends normally is complete.',
    parameters: ['filter', 'q', 'format', 'columns', 'Consistency-Token'],
    responses: { 200: 'Export' },
    problems: [400, 406, 412, 501],
  },
  {
    action: 'report',
    right: 'export',
    method: 'GET',
    path: '/report',
    summary: 'Report on events',
    description:
      'All matching events that exist now, oldest first, with the SHA-256 digest of their export. The path ' +
      '`meta.export` repeats the query with a fixed end: it gives the same bytes as long as these events neither ' +
      `change nor are removed. At most ${MAX_REPORT_EVENTS} events with ${MAX_REPORT_MIB} MiB of attributes.`,
    parameters: ['filter', 'q', 'If-None-Match', 'Consistency-Token'],
    responses: { 200: 'Report', 304: 'NotModified' },
    problems: [400, 406, 412, 422],
  },
  {
    action: 'history',
    right: 'list',
    method: 'GET',
    path: '/history',
    summary: 'Read the history of a resource',
    description:
      'The latest changes of one resource, oldest first, each with the state after it. Status 206 means that there ' +
      'are earlier changes; `links.prev` leads to them. A user who may list events may read it.',
    parameters: [
      'source',
      'resource',
      'as_of',
      'historyLimit',
      'If-None-Match',
      'Consistency-Token',
    ],
    responses: { 200: 'History', 206: 'PartOfHistory', 304: 'NotModified' },
    problems: [400, 406, 412],
  },
  {
    action: 'types',
    method: 'GET',
    path: '/types',
    summary: 'List event types',
    description: 'The types of system events.',
    parameters: ['Accept-Language', 'If-None-Match'],
    responses: { 200: 'EventTypeList', 304: 'NotModified' },
    problems: [400, 406],
  },
  {
    action: 'me',
    method: 'GET',
    path: '/me',
    summary: 'Read the authenticated user',
    description: 'The name and the rights of the authenticated user.',
    parameters: ['If-None-Match'],
    responses: { 200: 'User', 304: 'NotModified' },
    problems: [400, 406],
  },
  {
    action: 'describe',
    method: 'GET',
    path: '/openapi.json',
    summary: 'Describe the endpoints',
    description: 'This document.',
    parameters: ['If-None-Match'],
    responses: { 200: 'Description', 304: 'NotModified' },
    problems: [400, 406],
  },
  {
    action: 'read',
    method: 'GET',
    path: '/{id}',
    summary: 'Read one event',
    description: 'The response is 404 for a missing event and for one that the user may not see.',
    parameters: ['id', 'fields', 'If-None-Match', 'Consistency-Token'],
    responses: { 200: 'Event', 304: 'NotModified' },
    problems: [400, 404, 406, 412],
  },
]

/** The action that the host must allow; `undefined` if every authenticated user may do this. */
export const rightOf = ({ action, right }: EventsRoute): EventsAction | undefined =>
  right ?? EVENTS_ACTIONS.find((name) => name === action)

const match = routeMatcher(eventsRoutes)

/** Matches a path relative to the mount path. A trailing slash after the mount path is ignored. */
export const matchRoutes = (path: string): MatchedRoutes<EventsRoute> =>
  match(path === '/' ? '' : path)
