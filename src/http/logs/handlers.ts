import type { AuditEvent } from '../../event/event.js'
import { plainEvent } from '../../event/lazy-event.js'
import { fold } from '../../filter/values.js'
import { parseVisible, type Visible } from '../../filter/visible-filter.js'
import type { LogEvent } from '../../logs/named-logs.js'
import { eventDocument, eventResource, type ResourceOptions } from '../events/documents.js'
import { extractFieldset, FIELDS } from '../events/fieldset.js'
import type { SourceHandler } from '../events/handler.js'
import { visibleEvent } from '../events/read.js'
import { EVENTS_ACTIONS, type EventsAction } from '../events/routes.js'
import { checkAccept, jsonResponse } from '../media.js'
import {
  extractParameters,
  readInteger,
  readSingleValues,
  refuseParameters,
} from '../parameters.js'
import { HttpProblem, jsonapi } from '../problem.js'
import type { LogsCall, LogsHandler, LogsHandlerOptions } from './call.js'
import { byLog, openAmong } from './open-events.js'
import { pathOfLog, type RangeParameter, readLogs, readLogsRequest } from './requests.js'
import { severalLogsSource } from './source.js'

const KEYS_LIMIT = { min: 1, max: 1000, default: 100 }
/** Number of keys that are read at once to find the logs that the user may see. */
const KEYS_PAGE = 1000
const KEYS_PARAMETERS: ReadonlySet<string> = new Set(['search', 'after', 'limit'])

export const visibleOf =
  (filters: ReadonlyMap<string, Visible>) =>
  (log: string): Visible =>
    filters.get(log)!

export async function reportAll(
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

/** The event as a JSON:API resource, with the log in `meta`. */
export const resourceOf = (
  { path }: LogsHandlerOptions,
  { log, event }: LogEvent,
  view: Pick<ResourceOptions, 'fields' | 'open'>,
): string => eventResource(event, pathOfLog(path, log), { ...view, metaOf: () => ({ log }) })

/** Makes an endpoint of several logs from one of one log. `range` has the parameters of a range that it allows. */
export const severalLogsHandler =
  (
    handler: SourceHandler,
    options: LogsHandlerOptions,
    range: readonly RangeParameter[] = [],
  ): LogsHandler =>
  async (call) => {
    const { request, username, allow, reportRead } = call
    const asked = readLogsRequest(request.query, range)
    const filters = await allow(asked.logs)
    const source = severalLogsSource(options, asked, { visible: filters, signal: request.signal })
    return handler({
      request: { ...request, query: asked.rest },
      username,
      source: () => source,
      async reportRead(events) {
        if (events.length === 0) for (const log of asked.logs) await reportRead(log, [])
        else
          await reportAll(
            call,
            events.map((event) => ({ log: source.logOf!(event), event })),
          )
      },
    })
  }

/** Actions on several logs at once. A user may do one who may do it in each of the logs. */
const ACROSS: ReadonlySet<EventsAction> = new Set([
  'list',
  'read',
  'stream',
  'count',
  'export',
  'types',
  'describe',
])

/** `GET <path>/events/me`: the user, and the actions that the user may do in all of the logs. */
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
      const visible = parseVisible(filters.get(log)!)
      const event = await visibleEvent(logs.log(log), id, visible)
      if (!event) continue
      await reportRead(log, [event])
      const open = await openAmong(logs, [{ log, event }], request.signal)
      const view = { fields, open, metaOf: () => ({ log }) }
      return jsonResponse(200, eventDocument(event, pathOfLog(path, log), view))
    }
    throw new HttpProblem('NOT_FOUND', `there is no event ${JSON.stringify(id)}`)
  }
}

/** Returns the events as `onRead` of the host gets them. */
export const plainEvents = (events: readonly AuditEvent[]): readonly AuditEvent[] =>
  events.map(plainEvent)
