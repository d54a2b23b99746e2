import type { EventCounts } from '../../../src/store/counts.js'
import type { AuditEvent, JsonObject } from '../../../src/event/event.js'
import type { EventTypes } from '../../../src/event/event-types.js'
import { apiPath } from './config.js'
import { noteOpen } from './open-events.js'

/** A JSON:API error object, as the endpoints answer it. */
export interface Problem {
  readonly status: string
  readonly code: string
  readonly title: string
  readonly detail: string
  readonly source?: { readonly parameter?: string }
  readonly meta?: { readonly suggestion?: string }
}

/** The server has refused. Without an answer at all `fetch` rejects with a `TypeError`. */
export class ApiError extends Error {
  readonly status: number
  readonly problem: Problem | undefined

  constructor(status: number, problem: Problem | undefined) {
    super(problem?.detail ?? `status ${status}`)
    this.name = 'ApiError'
    this.status = status
    this.problem = problem
  }
}

export interface EventResource {
  readonly id: string
  readonly attributes: JsonObject
  readonly meta?: { readonly live?: true }
  readonly relationships?: { readonly source: { readonly links: { readonly source: string } } }
}

/**
 * The event of a resource; the own fields are no longer among its attributes. Whether it is open is
 * noted by the way.
 */
export function eventOf({ id, attributes: all, relationships, meta }: EventResource): AuditEvent {
  const { type, username, system, created_at, ...attributes } = all
  noteOpen(id, meta?.live === true)
  return {
    id,
    created_at: created_at as string,
    username: username as string | null,
    system: system as boolean,
    type: type as string,
    source: relationships?.source.links.source ?? null,
    attributes,
  }
}

export interface Page {
  /** As the endpoint gives them: oldest first without sorts. */
  readonly events: readonly AuditEvent[]
  /** More match than the limit let through. */
  readonly truncated: boolean
}

/** Who reads, and what he may. */
export interface Account {
  readonly username: string
  readonly may: Readonly<Record<string, boolean>>
  /** True where a rule of the host's hides events from him. */
  readonly restricted: boolean
}

async function get(path: string, signal?: AbortSignal): Promise<Response> {
  const response = await fetch(apiPath + path, {
    headers: { accept: 'application/vnd.api+json' },
    ...(signal && { signal }),
  })
  if (response.ok) return response
  const body = (await response.json().catch(() => undefined)) as { errors?: Problem[] } | undefined
  throw new ApiError(response.status, body?.errors?.[0])
}

async function getJson<Body>(path: string, signal?: AbortSignal): Promise<Body> {
  const response = await get(path, signal)
  return (await response.json()) as Body
}

const joined = (...parameters: readonly string[]): string =>
  parameters.filter((text) => text !== '').join('&')

/** `query` is everywhere what {@link apiQuery} gives: the filter, without a limit. */
export async function listEvents(
  query: string,
  limit: number,
  signal?: AbortSignal,
): Promise<Page> {
  const response = await get(`?${joined(query, `limit=${limit}`)}`, signal)
  const { data } = (await response.json()) as { data: EventResource[] }
  return { events: data.map(eventOf), truncated: response.status === 206 }
}

export async function readEvent(id: string, signal?: AbortSignal): Promise<AuditEvent> {
  const { data } = await getJson<{ data: EventResource }>(`/${encodeURIComponent(id)}`, signal)
  return eventOf(data)
}

export interface CountsWanted {
  readonly buckets?: number
  readonly zone?: string
  readonly facets?: readonly string[]
  readonly top?: number
  readonly attributes?: boolean
}

/** Without `buckets` there are none. */
export async function countEvents(
  query: string,
  { buckets = 0, zone, facets = [], top, attributes }: CountsWanted,
  signal?: AbortSignal,
): Promise<EventCounts> {
  const parameters = [
    query,
    `buckets=${buckets}`,
    ...(zone === undefined ? [] : [`zone=${encodeURIComponent(zone)}`]),
    ...facets.map((name) => `facets[]=${encodeURIComponent(name)}`),
    ...(top === undefined ? [] : [`top=${top}`]),
    ...(attributes === undefined ? [] : [`attributes=${attributes}`]),
  ]
  const { meta } = await getJson<{ meta: EventCounts }>(`/counts?${joined(...parameters)}`, signal)
  return meta
}

export async function readAccount(): Promise<Account> {
  const { data } = await getJson<{ data: { id: string; attributes: Omit<Account, 'username'> } }>(
    '/me',
  )
  return { username: data.id, ...data.attributes }
}

/** The host's registry, as far as it is data. */
export async function readTypes(): Promise<EventTypes> {
  const { data } = await getJson<{ data: { id: string; attributes: EventTypes[string] }[] }>(
    '/types',
  )
  return Object.fromEntries(data.map(({ id, attributes }) => [id, attributes]))
}

export const streamUrl = (query: string, after: string): string =>
  `${apiPath}/stream?${joined(query, `after=${encodeURIComponent(after)}`, 'changes=true')}`

export const exportUrl = (query: string, format: 'ndjson' | 'csv'): string =>
  `${apiPath}/export?${joined(query, `format=${format}`)}`
