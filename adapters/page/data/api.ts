import { signal } from '@preact/signals'
import type { EventCounts } from '../../../src/store/counts.js'
import type { AuditEvent, JsonObject } from '../../../src/event/event.js'
import type { CustomTypes } from '../../../src/event/custom-types.js'
import type { EventTypes } from '../../../src/event/event-types.js'
import { isTooLongForUrl } from '../../../src/filter/url-length.js'
import { apiPath } from './config.js'
import { language } from './language.js'
import { markOpen } from './open-events.js'

/** A JSON:API error object. */
export interface Problem {
  readonly status: string
  readonly code: string
  readonly title: string
  readonly detail: string
  readonly source?: { readonly parameter?: string; readonly pointer?: string }
  readonly meta?: {
    readonly suggestion?: string
    readonly total?: number
    readonly exact?: boolean
    readonly max?: number
  }
}

/** An error response. Without any response, `fetch` rejects with a `TypeError`. */
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

/** An event, and the key of its log if several logs are shown. */
export type ShownEvent = AuditEvent & { readonly log?: string }

export const logOf = (event: AuditEvent): string | undefined => (event as ShownEvent).log

export interface EventResource {
  readonly id: string
  readonly attributes: JsonObject
  readonly meta?: { readonly live?: true; readonly log?: string }
  readonly relationships?: { readonly source: { readonly links: { readonly source: string } } }
}

/**
 * Converts a resource to an event: moves the event's own fields out of its attributes. Also records
 * whether the event is still open.
 */
export function eventOf({ id, attributes: all, relationships, meta }: EventResource): ShownEvent {
  const { type, username, system, created_at, ...attributes } = all
  markOpen(id, meta?.live === true)
  return {
    id,
    created_at: created_at as string,
    username: username as string | null,
    system: system as boolean,
    type: type as string,
    source: relationships?.source.links.source ?? null,
    attributes,
    ...(meta?.log !== undefined && { log: meta.log }),
  }
}

export interface Page {
  /** The events in the order of the response: without sorts, oldest first. */
  readonly events: readonly AuditEvent[]
  /** True if more events match than the limit allows. */
  readonly truncated: boolean
  /** Warnings about the query, in sentences. */
  readonly warnings: readonly string[]
}

interface ListDocument {
  readonly data: readonly EventResource[]
  readonly meta?: { readonly warnings?: readonly { readonly detail: string }[] }
}

/** The signed-in user and their permissions. */
export interface Account {
  readonly username: string
  readonly may: Readonly<Record<string, boolean>>
  /** True if a rule of the host hides events from this user. */
  readonly restricted: boolean
  /** True if the user may read the ledger of the log. */
  readonly ledger?: boolean
}

export const JSON_API = 'application/vnd.api+json'

/** True if the latest response of the feed was 401: a session may end while the page is open. */
export const isSignedOut = signal(false)

/** The response to a request below the path of the feed. Throws `ApiError`. */
export async function get(path: string, signal?: AbortSignal): Promise<Response> {
  const headers = { accept: JSON_API, 'accept-language': language }
  const request = isTooLongForUrl(path)
    ? (await import('./long-query.js')).requestFor(path, headers)
    : { path, headers }
  const response = await fetch(apiPath + request.path, { ...request, signal: signal ?? null })
  isSignedOut.value = response.status === 401
  return checked(response)
}

/** Throws `ApiError` for an error response. */
export async function checked(response: Response): Promise<Response> {
  if (response.ok) return response
  const body = (await response.json().catch(() => undefined)) as { errors?: Problem[] } | undefined
  throw new ApiError(response.status, body?.errors?.[0])
}

/** The document at a path below the path of the feed. Throws `ApiError`. */
export async function getJson<Body>(path: string, signal?: AbortSignal): Promise<Body> {
  const response = await get(path, signal)
  return (await response.json()) as Body
}

const joined = (...parameters: readonly string[]): string =>
  parameters.filter((text) => text !== '').join('&')

/** In this module, `query` is always a result of {@link apiQuery}: a filter without a limit. */
export async function listEvents(
  query: string,
  limit: number,
  signal?: AbortSignal,
): Promise<Page> {
  const response = await get(`?${joined(query, `limit=${limit}`)}`, signal)
  const { data, meta } = (await response.json()) as ListDocument
  const warnings = meta?.warnings?.map(({ detail }) => detail) ?? []
  return { events: data.map(eventOf), truncated: response.status === 206, warnings }
}

export async function readEvent(id: string, signal?: AbortSignal): Promise<AuditEvent> {
  const { data } = await getJson<{ data: EventResource }>(`/${encodeURIComponent(id)}`, signal)
  return eventOf(data)
}

export interface RequestedCounts {
  readonly buckets?: number
  readonly zone?: string
  readonly facets?: readonly string[]
  readonly top?: number
  readonly attributes?: boolean
}

let mayCount = true

/** Counts matching events. Without `buckets`, the result has none. Throws `ApiError` if the user may not count. */
export async function countEvents(
  query: string,
  { buckets = 0, zone, facets = [], top, attributes }: RequestedCounts,
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
  // The server would refuse, and the browser would log each refusal.
  if (!mayCount) throw new ApiError(403, undefined)
  const { meta } = await getJson<{ meta: EventCounts }>(`/counts?${joined(...parameters)}`, signal)
  return meta
}

export async function readAccount(): Promise<Account> {
  const { data } = await getJson<{ data: { id: string; attributes: Omit<Account, 'username'> } }>(
    '/me',
  )
  mayCount = data.attributes.may['count'] !== false
  return { username: data.id, ...data.attributes }
}

interface TypesDocument {
  readonly data: readonly { id: string; attributes: EventTypes[string] }[]
  readonly meta: { readonly custom_types: readonly (CustomTypes[string] & { type: string })[] }
}

/** The serializable part of the host's registries of event types. */
export async function readTypes(): Promise<{ types: EventTypes; customTypes: CustomTypes }> {
  const { data, meta } = await getJson<TypesDocument>('/types')
  return {
    types: Object.fromEntries(data.map(({ id, attributes }) => [id, attributes])),
    customTypes: Object.fromEntries(meta.custom_types.map((known) => [known.type, known])),
  }
}

export const streamUrl = (query: string, after: string): string =>
  `${apiPath}/stream?${joined(query, `after=${encodeURIComponent(after)}`, 'changes=true')}`

export const exportUrl = (query: string, format: string, more = ''): string =>
  `${apiPath}/export?${joined(query, `format=${format}`, more)}`
