import type { AuditLogs } from '../../audit-logs.js'
import { AuditLogError } from '../../errors.js'
import type { AuditEvent } from '../../event/event.js'
import { plainEvent } from '../../event/lazy-event.js'
import { MAX_LIMIT } from '../../filter/ast.js'
import { fold } from '../../filter/values.js'
import { compileFilter } from '../../filter/evaluate.js'
import { parseVisible, type Visible } from '../../filter/visible-filter.js'
import type { LogEvent } from '../../logs/named-logs.js'
import type { OpenLogsTail } from '../../logs/tail-across.js'
import { readCountsRequest } from '../events/counts-request.js'
import { eventDocument, eventResource, listDocument } from '../events/documents.js'
import { extractFieldset, FIELDS } from '../events/fieldset.js'
import { createKeepAliveTimer, KeptAlive, type Rendering } from '../events/keep-alive.js'
import { createOpenEventFinder } from '../events/open-events.js'
import { parseEventsQuery } from '../events/query.js'
import { whileAllowed } from '../events/recheck.js'
import { EVENTS_ACTIONS, type EventsAction } from '../events/routes.js'
import { COMMENT, EVENT_STREAM, RETRY, STREAM_HEADERS } from '../events/server-sent.js'
import type { HttpRequest, HttpResponse, HttpStream } from '../exchange.js'
import { entityTag, entityTagInTurns } from '../finalize-response.js'
import { checkAccept, jsonResponse } from '../media.js'
import {
  invalidParameter,
  readInteger,
  readSingleValues,
  extractParameters,
  refuseParameters,
} from '../parameters.js'
import { HttpProblem, jsonapi } from '../problem.js'
import { joinParts } from '../utf8.js'
import type { RequestAccess } from './access.js'
import { readAfter, readCursor, readLogs, withCursor } from './requests.js'

/** A request of an authenticated user. */
export interface LogsCall {
  readonly request: HttpRequest
  readonly username: string
  /** The id in the path; empty for other paths. */
  readonly id: string
  readonly access: RequestAccess
  /** Throws unless the user may do this in all of the logs. */
  readonly allow: (logs: readonly string[]) => Promise<ReadonlyMap<string, Visible>>
  /** Calls `onRead` of the host for one log. */
  readonly reportRead: (log: string, events: readonly AuditEvent[]) => Promise<void>
  /** `undefined` if the host has neither `authorize` nor `visible`. */
  readonly mayContinue:
    | ((logs: readonly string[], visible: ReadonlyMap<string, Visible>) => Promise<boolean>)
    | undefined
}

export type LogsHandler = (call: LogsCall) => Promise<HttpResponse>

export interface LogsHandlerOptions {
  readonly logs: AuditLogs
  /** The mount path. */
  readonly path: string
  readonly recheckMs: number
}

const KEEP_ALIVE_MS = 15_000
const KEYS_LIMIT = { min: 1, max: 1000, default: 100 }
/** Keys that are read at once to find those that the user may see. */
const KEYS_PAGE = 1000
const KEYS_PARAMETERS: ReadonlySet<string> = new Set(['search', 'after', 'limit'])

/** The path of the endpoints of one log. */
export const pathOfLog = (path: string, key: string): string =>
  `${path}/${encodeURIComponent(key)}/events`

const visibleOf =
  (filters: ReadonlyMap<string, Visible>) =>
  (log: string): Visible =>
    filters.get(log)!

/** The events by log. */
function byLog(events: readonly LogEvent[]): Map<string, AuditEvent[]> {
  const found = new Map<string, AuditEvent[]>()
  for (const { log, event } of events) found.set(log, [...(found.get(log) ?? []), event])
  return found
}

async function reportAll(
  { reportRead }: Pick<LogsCall, 'reportRead'>,
  events: readonly LogEvent[],
): Promise<void> {
  for (const [log, some] of byLog(events)) await reportRead(log, some)
}

/** `GET <path>`: the logs in which the user may do something. */
export function logsHandler({ logs, path }: LogsHandlerOptions): LogsHandler {
  return async ({ request, access }) => {
    checkAccept(request.header('accept'))
    const { query, signal } = request
    const { extracted, rest } = extractParameters(query, (name) => KEYS_PARAMETERS.has(name))
    refuseParameters(rest, 'search, after and limit')
    const own = readSingleValues(extracted)
    const limit = readInteger(own, 'limit', KEYS_LIMIT)
    const search = fold(own.get('search') ?? '')
    const found: string[] = []
    let after = own.get('after')
    for (let isMore = true; isMore && found.length <= limit;) {
      const keys = await logs.keys({ after, limit: KEYS_PAGE, signal })
      for (const key of keys)
        if (found.length <= limit && fold(key).includes(search) && (await access.mayAnything(key)))
          found.push(key)
      isMore = keys.length === KEYS_PAGE
      after = keys.at(-1)
    }
    const shown = found.slice(0, limit)
    const data = shown.map((id) => ({
      type: 'log',
      id,
      relationships: { events: { links: { related: pathOfLog(path, id) } } },
    }))
    const self = query === '' ? path : `${path}?${query}`
    const links: Record<string, string> = { self }
    if (found.length > limit) {
      const next = new URLSearchParams([...own].filter(([name]) => name !== 'after'))
      next.set('after', shown.at(-1)!)
      links['next'] = `${path}?${next.toString()}`
    }
    const body = JSON.stringify({ jsonapi, data, links })
    return jsonResponse(found.length > limit ? 206 : 200, body)
  }
}

/** The events as JSON:API resources, with the log in `meta`. */
function resourcesOf(
  { logs, path }: LogsHandlerOptions,
  fields: ReturnType<typeof extractFieldset>['fields'],
) {
  const one = ({ log, event }: LogEvent, open?: ReadonlySet<string>): string =>
    eventResource(event, pathOfLog(path, log), {
      fields,
      metaOf: () => ({ log }),
      ...(open && { open }),
    })
  /** The ids of the open live events of the logs. */
  const openOf = async (events: readonly LogEvent[], signal: AbortSignal) => {
    const open = new Set<string>()
    for (const [log, some] of byLog(events))
      for (const id of await createOpenEventFinder(logs.log(log))(some, { signal })) open.add(id)
    return open
  }
  return { one, openOf }
}

/** `GET <path>/events`: a page of the matching events of several logs. */
export function listHandler(options: LogsHandlerOptions): LogsHandler {
  const { logs, path } = options
  return async (call) => {
    const { request, allow } = call
    checkAccept(request.header('accept'))
    const { query: queryString, signal } = request
    const { logs: named, rest } = readLogs(queryString)
    const { cursor, rest: filters } = readCursor(rest)
    const { fields, rest: unnamed } = extractFieldset(filters)
    const query = parseEventsQuery(unnamed, `logs[], filter, q, limit, cursor and ${FIELDS}`)
    const visible = visibleOf(await allow(named))
    // Before the events: what becomes visible meanwhile may be in both, but is missing in none.
    const position = await logs.position({ logs: named, signal })
    const page = await logs.list(query, { logs: named, visible, cursor, signal, lazy: true })
    const resources = resourcesOf(options, fields)
    const open = await resources.openOf(page.events, signal)
    const self = `${path}/events`
    const name = query.sorts.length === 0 ? 'prev' : 'next'
    const links = {
      self: `${self}?${queryString}`,
      ...(page.cursor !== undefined && {
        [name]: `${self}?${withCursor(queryString, page.cursor)}`,
      }),
    }
    const resourceAt = (index: number): string => resources.one(page.events[index]!, open)
    const document = listDocument({ length: page.events.length, resourceAt }, links, { position })
    const body = await joinParts(document)
    await reportAll(call, page.events)
    const response = jsonResponse(page.truncated ? 206 : 200, body)
    return { ...response, headers: { ...response.headers, etag: await entityTagInTurns(body) } }
  }
}

/** `GET <path>/events/counts`: counts of all matching events of several logs. */
export function countsHandler({ logs, path }: LogsHandlerOptions): LogsHandler {
  return async ({ request, allow, reportRead }) => {
    checkAccept(request.header('accept'))
    const { query, signal } = request
    const { logs: named, rest } = readLogs(query)
    const { where, options } = readCountsRequest(rest)
    const visible = visibleOf(await allow(named))
    const { took_ms, ...counts } = await logs.count(
      { where, sorts: [], limit: MAX_LIMIT },
      { ...options, logs: named, visible, signal },
    )
    for (const log of named) await reportRead(log, [])
    const self = `${path}/events/counts?${query}`
    const body = JSON.stringify({ jsonapi, meta: { ...counts, took_ms }, links: { self } })
    const response = jsonResponse(200, body)
    // The entity tag ignores `took_ms`.
    return {
      ...response,
      headers: { ...response.headers, etag: entityTag(JSON.stringify([self, counts])) },
    }
  }
}

/** What users may do with several logs at once, as far as they may do it in each of them. */
const ACROSS: ReadonlySet<EventsAction> = new Set([
  'list',
  'read',
  'stream',
  'count',
  'types',
  'describe',
])

/** `GET <path>/events/me`: the user, and what the user may do in all of the logs. */
export function meHandler({ path }: LogsHandlerOptions): LogsHandler {
  return async ({ request, username, access, allow }) => {
    checkAccept(request.header('accept'))
    const { logs: named, rest } = readLogs(request.query)
    refuseParameters(rest, 'logs[]')
    const filters = await allow(named)
    const may: Partial<Record<EventsAction, boolean>> = {}
    for (const action of EVENTS_ACTIONS) {
      may[action] = ACROSS.has(action)
      for (const key of named) may[action] &&= await access.may(action, key)
    }
    const restricted = [...filters.values()].some((filter) => filter !== 'all')
    const data = { type: 'user', id: username, attributes: { may, restricted } }
    const self = `${path}/events/me?${request.query}`
    return jsonResponse(200, JSON.stringify({ jsonapi, data, links: { self } }))
  }
}

/** `GET <path>/events/<id>`: one event of several logs. */
export function readHandler(options: LogsHandlerOptions): LogsHandler {
  const { logs, path } = options
  return async ({ request, id, allow, reportRead }) => {
    checkAccept(request.header('accept'))
    const { logs: named, rest } = readLogs(request.query)
    const { fields, rest: others } = extractFieldset(rest)
    refuseParameters(others, `logs[] and ${FIELDS}`)
    const filters = await allow(named)
    for (const log of named) {
      const event = await logs.log(log).get(id)
      if (!event || !compileFilter(parseVisible(filters.get(log)!))(event)) continue
      await reportRead(log, [event])
      const open = await createOpenEventFinder(logs.log(log))([event])
      const view = { fields, open, metaOf: () => ({ log }) }
      return jsonResponse(200, eventDocument(event, pathOfLog(path, log), view))
    }
    throw new HttpProblem('NOT_FOUND', `there is no event ${JSON.stringify(id)}`)
  }
}

type Frames = AsyncGenerator<string, void, void>

// HEAD requests only the headers.
async function* emptyBody(): HttpStream & Frames {}

interface Following {
  readonly tail: OpenLogsTail
  readonly render: (event: LogEvent) => string
  readonly call: LogsCall
}

/** Ends normally when the logs are closed or fail; the client then reconnects. */
async function* framesOf({ tail, render, call }: Following): Frames {
  // A message without data is not dispatched, but sets the id with which the client reconnects.
  yield `${RETRY}id: ${tail.cursor()}\n\n`
  let isReporting = false
  try {
    for await (const events of tail.batches) {
      isReporting = true
      await reportAll(call, events)
      isReporting = false
      for (const event of events) {
        tail.received(event)
        yield `id: ${tail.cursor()}\ndata: {"data":${render(event)}}\n\n`
      }
    }
  } catch (error) {
    if (isReporting || !(error instanceof AuditLogError)) throw error
  }
}

const LAST_EVENT_ID = 'last-event-id'

function invalidId(error: unknown): unknown {
  const isCursor = error instanceof AuditLogError && error.parameter === 'cursor'
  if (!isCursor) return error
  const message = `${LAST_EVENT_ID} must be the id of a message of this stream`
  return new HttpProblem('INVALID_HEADER', message, { header: LAST_EVENT_ID })
}

/** `GET <path>/events/stream`: events of several logs as they become visible, as server-sent events. */
export function streamHandler(options: LogsHandlerOptions): LogsHandler {
  const { logs, recheckMs } = options
  const rendering: Rendering<string, string> = {
    comment: COMMENT,
    timer: createKeepAliveTimer(KEEP_ALIVE_MS),
    chunkOf: (frame) => frame,
    isEnd: () => false,
  }
  return async (call) => {
    const { request, allow, mayContinue } = call
    checkAccept(request.header('accept'), EVENT_STREAM)
    const { logs: named, rest } = readLogs(request.query)
    const { cursor, rest: filters } = readCursor(rest)
    const { after, rest: others } = readAfter(filters)
    const { fields, rest: unnamed } = extractFieldset(others)
    const query = parseEventsQuery(unnamed, `logs[], filter, q, cursor, after and ${FIELDS}`)
    if (query.sorts.length > 0)
      throw invalidParameter('filter[sorts]', 'is not allowed: a stream is ordered by created_at')
    const filtersOfLogs = await allow(named)
    if (request.method === 'HEAD')
      return { status: 200, headers: STREAM_HEADERS, body: emptyBody() }
    const lastEventId = request.header(LAST_EVENT_ID)
    const resources = resourcesOf(options, fields)
    const open = async (signal: AbortSignal): Promise<KeptAlive<string, string>> => {
      const tail = await logs
        .follow(query, {
          logs: named,
          visible: visibleOf(filtersOfLogs),
          cursor: lastEventId || cursor,
          after,
          signal,
        })
        .catch((error: unknown) => {
          throw lastEventId ? invalidId(error) : error
        })
      const frames = framesOf({ tail, render: (event) => resources.one(event), call })
      return new KeptAlive(frames, rendering)
    }
    const { signal } = request
    const body = mayContinue
      ? await whileAllowed(open, {
          mayContinue: () => mayContinue(named, filtersOfLogs),
          periodMs: recheckMs,
          signal,
        })
      : await open(signal)
    return { status: 200, headers: STREAM_HEADERS, body }
  }
}

/** What `onRead` of the host gets. */
export const plainEvents = (events: readonly AuditEvent[]): readonly AuditEvent[] =>
  events.map(plainEvent)
