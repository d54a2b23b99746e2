import type { ResponseName } from '../openapi/responses.js'
import type { ParameterName } from './route-parameters.js'

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

/** What a user asks of the events endpoints, and the host may refuse. */
export type EventsAction = (typeof EVENTS_ACTIONS)[number]

/** One of the endpoints, and all that its description says of it. */
export interface EventsRoute {
  /** Who is known may ask who he is: `me` is not for the host to refuse. */
  readonly action: EventsAction | 'me'
  readonly method: 'GET' | 'POST'
  /** Relative to where the endpoints are mounted. */
  readonly path:
    | ''
    | '/stream'
    | '/counts'
    | '/export'
    | '/types'
    | '/me'
    | '/openapi.json'
    | '/{id}'
  readonly summary: string
  readonly description: string
  readonly parameters: readonly ParameterName[]
  readonly answers: Readonly<Record<number, ResponseName>>
  /** Statuses of its errors, beside those that every endpoint has. */
  readonly problems: readonly number[]
}

/** All endpoints; the first whose path fits is taken. */
export const eventsRoutes: readonly EventsRoute[] = [
  {
    action: 'list',
    method: 'GET',
    path: '',
    summary: 'List events',
    description:
      'Without sorts the newest events that match, oldest first; with sorts the first of that order. ' +
      'Status 206 tells that more events match than the limit let through.',
    parameters: ['filter', 'limit', 'fields', 'Prefer', 'If-None-Match'],
    answers: { 200: 'EventList', 206: 'PartOfEventList', 304: 'NotModified' },
    problems: [400, 406],
  },
  {
    action: 'create',
    method: 'POST',
    path: '',
    summary: 'Create a custom event',
    description:
      'The event is durable when the answer comes. Its `system` is false, its `username` the user ' +
      'who asked.',
    parameters: ['Idempotency-Key'],
    answers: { 201: 'Created' },
    problems: [400, 409, 413, 415, 422],
  },
  {
    action: 'stream',
    method: 'GET',
    path: '/stream',
    summary: 'Follow events',
    description:
      'Events that match, each once, as they become visible: server-sent events whose `id` is the ' +
      '`created_at` of the event and whose `data` is its document. There are no sorts: a stream runs ' +
      'along `created_at`.',
    parameters: ['filter', 'fields', 'after', 'changes', 'Last-Event-ID'],
    answers: { 200: 'EventStream' },
    problems: [400, 406],
  },
  {
    action: 'count',
    method: 'GET',
    path: '/counts',
    summary: 'Count events',
    description:
      'Figures over all events that match, not over a page of them: in all, by level, by time, by the ' +
      'values of attributes. Where counting takes too long they are estimates, and `sampled` is true.',
    parameters: ['filter', 'buckets', 'zone', 'facets', 'top', 'attributes', 'If-None-Match'],
    answers: { 200: 'Counts', 304: 'NotModified' },
    problems: [400, 406],
  },
  {
    action: 'export',
    method: 'GET',
    path: '/export',
    summary: 'Export events',
    description:
      'All events that match and are there when it begins, oldest first, as a file. Where the service ' +
      'fails midway the connection breaks off: an answer that ends is whole.',
    parameters: ['filter', 'format', 'columns'],
    answers: { 200: 'Export' },
    problems: [400, 406],
  },
  {
    action: 'types',
    method: 'GET',
    path: '/types',
    summary: 'List event types',
    description: 'The types of the events that the service records itself.',
    parameters: ['If-None-Match'],
    answers: { 200: 'EventTypeList', 304: 'NotModified' },
    problems: [400, 406],
  },
  {
    action: 'me',
    method: 'GET',
    path: '/me',
    summary: 'Read the user who asks',
    description: 'Who he is and what he may do here; for everyone who is known.',
    parameters: ['If-None-Match'],
    answers: { 200: 'User', 304: 'NotModified' },
    problems: [400, 406],
  },
  {
    action: 'describe',
    method: 'GET',
    path: '/openapi.json',
    summary: 'Describe the endpoints',
    description: 'This document.',
    parameters: ['If-None-Match'],
    answers: { 200: 'Description', 304: 'NotModified' },
    problems: [400, 406],
  },
  {
    action: 'read',
    method: 'GET',
    path: '/{id}',
    summary: 'Read one event',
    description: 'Events that the user may not see are answered 404, as those that are not there.',
    parameters: ['id', 'fields', 'If-None-Match'],
    answers: { 200: 'Event', 304: 'NotModified' },
    problems: [400, 404, 406],
  },
]

/** The routes of a path under the mount path, by method, and the id that it names. */
export interface MatchedRoutes {
  /** Empty where there is nothing at the path. */
  readonly byMethod: ReadonlyMap<string, EventsRoute>
  readonly id: string
}

const ONE_SEGMENT = /^\/[^/]+$/

function pathOf(under: string): EventsRoute['path'] | undefined {
  const literal = eventsRoutes.find((route) => route.path === under)?.path
  return literal ?? (ONE_SEGMENT.test(under) ? '/{id}' : undefined)
}

/** Where the mount path ends, its own trailing slash is allowed for. */
export function matchRoutes(path: string): MatchedRoutes {
  const under = path === '/' ? '' : path
  const fitting = pathOf(under)
  const byMethod = new Map<string, EventsRoute>()
  for (const route of eventsRoutes) {
    if (route.path !== fitting) continue
    byMethod.set(route.method, route)
    if (route.method === 'GET') byMethod.set('HEAD', route)
  }
  return { byMethod, id: fitting === '/{id}' ? under.slice(1) : '' }
}
