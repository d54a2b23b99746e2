import {
  COUNTED,
  type EventsAction,
  IN_BODY,
  LISTED,
  MAX_REPORT_EVENTS,
  MAX_REPORT_MIB,
  NO_LINK,
} from '../events/routes.js'
import { NOT_FOLLOWED } from '../body-query.js'
import type { LogsParameterName, LogsResponseName } from './components.js'

/** Most logs in one request. */
export const MAX_LOGS = 100

/** An endpoint for several logs. */
export interface LogsRoute {
  readonly action:
    | 'logs'
    | 'list'
    | 'stream'
    | 'count'
    | 'groups'
    | 'export'
    | 'report'
    | 'history'
    | 'read'
    | 'me'
    | 'types'
    | 'describe'
  /** The action that the host must allow in each of the logs; `undefined` if every authenticated user may do this. */
  readonly right: EventsAction | undefined
  readonly method: 'GET' | 'POST'
  /** Relative to the mount path. */
  readonly path: string
  /** Why other methods are refused, if there is a reason to say. */
  readonly others?: string
  readonly operationId: string
  readonly summary: string
  readonly description: string
  readonly parameters: readonly LogsParameterName[]
  /** The parameters of a query in the body. */
  readonly form?: readonly LogsParameterName[]
  readonly responses: Readonly<Record<number, LogsResponseName>>
  readonly problems: readonly number[]
}

/** All endpoints for several logs. */
export const severalLogsRoutes: readonly LogsRoute[] = [
  {
    action: 'logs',
    right: undefined,
    method: 'GET',
    path: '',
    operationId: 'listLogs',
    summary: 'List logs',
    description:
      'The logs in which the user may do something, in the order of their keys. Status 206 means that there are more than ' +
      'the limit; `links.next` leads to them. The relationship `events` leads to the endpoints of a log.',
    parameters: ['search', 'afterKey', 'keysLimit', 'If-None-Match'],
    responses: { 200: 'LogList', 206: 'PartOfLogList', 304: 'NotModified' },
    problems: [400, 406],
  },
  {
    action: 'list',
    right: 'list',
    method: 'GET',
    path: '/events',
    operationId: 'listEventsOfLogs',
    summary: 'List events of several logs',
    description:
      'As the list of one log, merged: without sorts by `created_at`, then by the key of the log. `meta.log` of each event is the key ' +
      'of its log. `links.prev` leads to older events, with the sort `created_at asc` `links.next` to newer ones. `meta.cursor` is ' +
      'a cursor for the stream: it sends what has become visible since the list was read.',
    parameters: ['logs', ...LISTED, 'cursor', 'Prefer', 'If-None-Match'],
    responses: { 200: 'EventList', 206: 'PartOfEventList', 304: 'NotModified' },
    problems: [400, 404, 406],
  },
  {
    action: 'list',
    right: 'list',
    method: 'POST',
    path: '/events/search',
    operationId: 'searchEventsOfLogs',
    summary: 'List events of several logs by a long query',
    description: `The list for a query that is too long for a URL. ${IN_BODY} ${NO_LINK}`,
    parameters: [],
    form: ['logs', ...LISTED, 'cursor'],
    responses: { 200: 'EventList', 206: 'PartOfEventList' },
    problems: [400, 404, 406, 415],
  },
  {
    action: 'stream',
    right: 'stream',
    method: 'GET',
    path: '/events/stream',
    others: NOT_FOLLOWED,
    operationId: 'followEventsOfLogs',
    summary: 'Follow events of several logs',
    description:
      'As the stream of one log. The `id` of each message is a cursor, which holds how far each log was read, so a client that reconnects ' +
      'continues without a gap in any of them.',
    parameters: [
      'logs',
      'filter',
      'q',
      'fields',
      'cursor',
      'after',
      'ignoredChanges',
      'Last-Event-ID',
    ],
    responses: { 200: 'EventStream' },
    problems: [400, 404, 406],
  },
  {
    action: 'count',
    right: 'count',
    method: 'GET',
    path: '/events/counts',
    operationId: 'countEventsOfLogs',
    summary: 'Count events of several logs',
    description: 'The sums of the counts of the logs.',
    parameters: ['logs', ...COUNTED, 'If-None-Match'],
    responses: { 200: 'Counts', 304: 'NotModified' },
    problems: [400, 404, 406],
  },
  {
    action: 'count',
    right: 'count',
    method: 'POST',
    path: '/events/counts',
    operationId: 'countSearchedEventsOfLogs',
    summary: 'Count events of several logs by a long query',
    description: `The counts for a query that is too long for a URL. ${IN_BODY}`,
    parameters: [],
    form: ['logs', ...COUNTED],
    responses: { 200: 'Counts' },
    problems: [400, 404, 406, 415],
  },
  {
    action: 'groups',
    right: 'count',
    method: 'GET',
    path: '/events/groups',
    operationId: 'groupEventsOfLogs',
    summary: 'Group events of several logs',
    description: 'As the groups of one log that has all events of the logs.',
    parameters: [
      ...(['logs', 'filter', 'q', 'by', 'numbers', 'groupBuckets', 'zone'] as const),
      ...(['groupTop', 'If-None-Match'] as const),
    ],
    responses: { 200: 'Groups', 304: 'NotModified' },
    problems: [400, 404, 406],
  },
  {
    action: 'export',
    right: 'export',
    method: 'GET',
    path: '/events/export',
    operationId: 'exportEventsOfLogs',
    summary: 'Export events of several logs',
    description:
      'As the export of one log, by `created_at`, then by the key of the log. Each event names its log: in the member `log` of JSON ' +
      'lines, the column `log_key` of CSV and Parquet, the extension `log` of CloudEvents, `metadata.log_name` of OCSF and the ' +
      'attribute `daybook.log` of OTLP. With `X-Export-Until` as `cursor`, a later export continues after this one.',
    parameters: ['logs', 'filter', 'q', 'format', 'columns', 'cursor', 'until'],
    responses: { 200: 'Export' },
    problems: [400, 404, 406, 501],
  },
  {
    action: 'report',
    right: 'export',
    method: 'GET',
    path: '/events/report',
    operationId: 'reportOnEventsOfLogs',
    summary: 'Report on events of several logs',
    description: `As the report on one log: at most ${MAX_REPORT_EVENTS} events with ${MAX_REPORT_MIB} MiB of attributes.`,
    parameters: ['logs', 'filter', 'q', 'If-None-Match'],
    responses: { 200: 'Report', 304: 'NotModified' },
    problems: [400, 404, 406, 422],
  },
  {
    action: 'history',
    right: 'list',
    method: 'GET',
    path: '/events/history',
    operationId: 'readHistoryOfLogs',
    summary: 'Read the history of a resource in several logs',
    description:
      'As the history of one log, of a resource whose changes are in several logs. Each state follows from the change before, whatever ' +
      'its log.',
    parameters: [
      ...(['logs', 'source', 'resource', 'as_of', 'historyLimit', 'until'] as const),
      'If-None-Match',
    ],
    responses: { 200: 'History', 206: 'PartOfHistory', 304: 'NotModified' },
    problems: [400, 404, 406],
  },
  {
    action: 'me',
    right: undefined,
    method: 'GET',
    path: '/events/me',
    operationId: 'readUserOfLogs',
    summary: 'Read the authenticated user',
    description:
      'The name of the authenticated user, and what the user may do with several logs at once.',
    parameters: ['logs', 'If-None-Match'],
    responses: { 200: 'User', 304: 'NotModified' },
    problems: [400, 404, 406],
  },
  {
    action: 'types',
    right: undefined,
    method: 'GET',
    path: '/events/types',
    operationId: 'listEventTypesOfLogs',
    summary: 'List event types',
    description: 'The types of system events, which all logs share.',
    parameters: ['Accept-Language', 'If-None-Match'],
    responses: { 200: 'EventTypeList', 304: 'NotModified' },
    problems: [400, 406],
  },
  {
    action: 'read',
    right: 'read',
    method: 'GET',
    path: '/events/{id}',
    operationId: 'readEventOfLogs',
    summary: 'Read one event of several logs',
    description: 'The event with this id in the first of the logs that has one.',
    parameters: ['id', 'logs', 'fields', 'If-None-Match'],
    responses: { 200: 'Event', 304: 'NotModified' },
    problems: [400, 404, 406],
  },
  {
    action: 'describe',
    right: undefined,
    method: 'GET',
    path: '/openapi.json',
    operationId: 'describeLogs',
    summary: 'Describe the endpoints',
    description: 'This document. Each log has a further one under the path of its events.',
    parameters: ['If-None-Match'],
    responses: { 200: 'Description', 304: 'NotModified' },
    problems: [400, 406],
  },
]
