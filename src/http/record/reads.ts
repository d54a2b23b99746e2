import { AuditLogError } from '../../errors.js'
import type { EventTypes } from '../../event/event-types.js'
import type { LinkTable } from '../../event/links.js'
import { type IsSecret, REDACTED } from '../../event/secrets.js'
import { redactText } from '../../event/secret-values.js'
import { isUuid } from '../../event/uuid.js'
import {
  callKey,
  KnownCollapse,
  linkNames,
  listedAttributes,
  type RestData,
} from '../../recording/collapse-rules.js'
import type { RecordedExchange, RecordedRoute } from './exchange.js'
import { parsedBody } from './reason.js'
import type { Data } from './request-data.js'
import { routeKey, type RouteTypes, routeType } from './route-type.js'

/* Successful reads of chosen routes. A user's reads of one resource become one event an hour, after the first one. */

const HOUR_MS = 3_600_000
const MAX_SOURCE = 2048
const MAX_REMEMBERED = 1000
const MAX_PLAIN_KEY = 500

/** A route whose successful reads are recorded. */
export interface ReadRoute {
  readonly type: string
  /** True if its path does not end with a parameter: the response lists records. */
  readonly isList: boolean
  /** The names of data keys that can give an event a source. */
  readonly links: ReadonlySet<string>
  /** The path of the resource that a request reads: the path of the request, written as the route is. */
  sourceOf(exchange: RecordedExchange<unknown>): string
}

export interface ReadRoutes {
  /** The route of a request, if its reads are recorded. */
  of(exchange: RecordedExchange<unknown>): ReadRoute | undefined
}

const KEY = /^(?:GET )?([/{].*)$/

/** The keys `GET <path>` of the routes whose reads are recorded. Throws `INVALID_OPTION`. */
export function readKeys(reads: unknown): ReadonlySet<string> {
  if (reads !== undefined && !Array.isArray(reads))
    throw new AuditLogError('INVALID_OPTION', 'reads must be a list of routes')
  const keys = (reads ?? []).map((route: unknown) => {
    const path = typeof route === 'string' ? KEY.exec(route)?.[1] : undefined
    if (path === undefined)
      throw new AuditLogError(
        'INVALID_OPTION',
        `reads: ${JSON.stringify(route)} must be the path of a route, such as /orders/:id, or GET and the path`,
      )
    return `GET ${path}`
  })
  return new Set(keys)
}

/** True for responses that show the resource, or that it has not changed since the client read it. */
export const isShown = (status: number): boolean =>
  (status >= 200 && status < 300) || status === 304

const PLAIN_SEGMENT = /^[\w.~%@$&+,;=!-]*$/
const PARAMETER = /^:(\w+)$/

function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

/** A segment in one spelling. */
function segmentText(value: unknown): string {
  const text = String(value)
  const lower = text.toLowerCase()
  return encodeURIComponent(isUuid(lower) ? lower : redactText(text))
}

const segmentsOf = (path: string): string[] => path.split('/').filter((text) => text !== '')

const normalPath = (path: string): string =>
  `/${segmentsOf(path)
    .map((text) => segmentText(decoded(text)))
    .join('/')}`

/** Returns the path of the resource from the path of the route and its parameters. */
function createSource({ path }: RecordedRoute, isSecret: IsSecret): SourceOf {
  const parts = typeof path === 'string' ? segmentsOf(path) : []
  const isSimple = parts.every((part) => PARAMETER.test(part) || PLAIN_SEGMENT.test(part))
  if (parts.length === 0 || !isSimple) return ({ path: sent }) => normalPath(sent)
  const names = parts.map((part) => PARAMETER.exec(part)?.[1])
  return ({ path: sent, params }) => {
    const given = params as Readonly<Record<string, unknown>>
    const isWhole = names.every((name) => name === undefined || (given[name] ?? '') !== '')
    if (!isWhole) return normalPath(sent)
    const mount = segmentsOf(sent).slice(0, -parts.length)
    const own = parts.map((part, i) => {
      const name = names[i]
      if (name === undefined) return part
      return isSecret(['url_params', name]) ? REDACTED : segmentText(given[name])
    })
    return `/${[...mount, ...own].join('/')}`
  }
}

type SourceOf = ReadRoute['sourceOf']

/** Remembers the sources of the last paths. */
function rememberSources(sourceOf: SourceOf): SourceOf {
  let known = new Map<string, string>()
  return (exchange) => {
    const { path } = exchange
    let source = known.get(path)
    if (source === undefined) {
      source = sourceOf(exchange).slice(0, MAX_SOURCE)
      if (known.size >= MAX_REMEMBERED) known = new Map()
      known.set(path, source)
    }
    return source
  }
}

/** Finds the routes whose reads are recorded. */
export function createReadRoutes(
  {
    keys,
    routes,
    isSecret,
  }: {
    readonly keys: ReadonlySet<string>
    readonly routes: RouteTypes
    readonly isSecret: IsSecret
  },
  { types, links }: { readonly types: EventTypes; readonly links: LinkTable },
): ReadRoutes {
  /** By path; null for the paths of other routes. Routes have few paths, unless the host makes them up. */
  const known = new Map<string | RegExp, ReadRoute | null>()
  const create = (route: RecordedRoute): ReadRoute | undefined => {
    if (!keys.has(routeKey('GET', route))) return undefined
    const name = routeType(route, 'GET', types, routes)
    if (!name) return undefined
    const isList = typeof route.path === 'string' && !/[:*][^/]*$/.test(route.path)
    const type = `api:${name.controller}:${name.method}`
    return {
      type,
      isList,
      links: linkNames(links, types[type]?.source),
      sourceOf: rememberSources(createSource(route, isSecret)),
    }
  }
  return {
    of(exchange) {
      if (keys.size === 0 || exchange.method !== 'GET') return undefined
      const { route } = exchange
      if (!route) return undefined
      let found = known.get(route.path)
      if (found === undefined) {
        found = create(route) ?? null
        if (known.size < MAX_REMEMBERED) known.set(route.path, found)
      }
      return found ?? undefined
    },
  }
}

/** The list that a document holds: the document, or its member `data`, `items`, `results` or `rows`. */
function listIn(body: unknown): readonly unknown[] | undefined {
  if (Array.isArray(body)) return body
  const document = Object(body) as Readonly<Record<string, unknown>>
  const lists = ['data', 'items', 'results', 'rows'].map((name) => document[name])
  return lists.find((list) => Array.isArray(list)) as readonly unknown[] | undefined
}

/** The ids of the records that a response lists; `undefined` if they cannot be read. */
export function listedIds(body: unknown): readonly unknown[] | undefined {
  try {
    const ids = listIn(body)?.map((item) => (Object(item) as { readonly id?: unknown }).id)
    return ids?.every((id) => typeof id === 'string' || typeof id === 'number') ? ids : undefined
  } catch {
    return undefined
  }
}

/** A successful read that is being recorded. */
export interface Read {
  readonly route: ReadRoute
  readonly exchange: RecordedExchange<unknown>
  readonly username: string | null
  /** The result of the host's `describe`. */
  readonly described: Data
  /** The data of the event, without what is read. */
  readonly data: () => Data
  readonly redacted: (data: unknown) => Data
}

const UNKNOWN = { read_ids_unknown: true }

/** The attributes of the read that identify its resource. */
function linksOf({ exchange, described, route }: Read): Record<string, unknown> {
  const found: Record<string, unknown> = {}
  for (const given of [exchange.params as Data, described])
    for (const name in given) if (route.links.has(name)) found[name] = given[name]
  return found
}

/** The key of a read. A source has no line breaks, and a type has none. */
function keyOf(
  { route: { type }, username }: Read,
  source: string,
  more: readonly unknown[],
): string {
  const isPlain = more.length === 0 && source.length + (username?.length ?? 0) <= MAX_PLAIN_KEY
  if (!isPlain) return callKey([type, source, username, ...more])
  return username === null ? `${type}\n${source}` : `${type}\n${source}\n${username}`
}

/** The rule that counts the reads of one resource by one user. */
export function readCollapse(read: Read): KnownCollapse {
  const { route, exchange, username } = read
  const links = linksOf(read)
  const hasLinks = Object.keys(links).length > 0
  const ids = route.isList ? listedIds(parsedBody(exchange.longBody)) : []
  const listed = route.isList && ids ? { attribute: 'read_ids', values: ids } : undefined
  const more = ids ? {} : UNKNOWN
  const source = route.sourceOf(exchange)
  const shared = (): Data => ({ ...read.redacted(links), ...more, access: 'read' })
  // Other reads may have another outcome than that which the host gave.
  const outcome = 'outcome' in read.described ? undefined : { outcome: 'success' }
  return new KnownCollapse(
    {
      type: route.type,
      key: keyOf(read, source, ids && !hasLinks ? [] : [links, ids === undefined]),
      windowMs: HOUR_MS,
      listed,
      rest: (): RestData => ({ username, source, data: { ...shared(), ...outcome } }),
    },
    () => ({
      source,
      data: { ...read.data(), ...shared(), ...(listed && listedAttributes(listed)) },
    }),
  )
}
