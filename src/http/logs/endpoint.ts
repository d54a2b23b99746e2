import { LRUCache } from 'lru-cache'
import type { AuditLogs } from '../../audit-logs.js'
import { unknownLog } from '../../logs/named-logs.js'
import { readService } from '../../exporting/formats.js'
import { isKey } from '../../store/log-stores.js'
import {
  CHALLENGE_OPTIONS,
  type ChallengeOptions,
  readChallenge,
  requireUser,
} from '../challenge.js'
import {
  type EventsEndpoint,
  eventsEndpoint,
  type EventsEndpointOptions,
} from '../events/endpoint.js'
import type { EventsRead } from '../events/access.js'
import { countsHandler } from '../events/counts.js'
import { exportHandler } from '../events/export.js'
import { groupsHandler } from '../events/groups.js'
import { historyHandler } from '../events/history.js'
import { reportHandler } from '../events/report.js'
import { readRecheckMs } from '../events/recheck.js'
import { typesHandler } from '../events/types.js'
import { withBodyQuery } from '../body-query.js'
import { type HttpRequest, type HttpResponse, withUser } from '../exchange.js'
import { finalizeResponse } from '../finalize-response.js'
import { type CallHost, respondToErrors } from '../host-calls.js'
import { checkHostFunctions } from '../host-functions.js'
import { declareMount, isUnder } from '../mounts.js'
import { openApiDocument } from '../openapi/document.js'
import { severalLogsParameters as parameters } from '../openapi/parameters.js'
import { severalLogsResponses as responses } from '../openapi/responses.js'
import { EVENTS_ACTIONS } from '../events/routes.js'
import { type LogsRoute, severalLogsRoutes } from '../openapi/routes.js'
import { componentSchemas, severalLogsSchemas as schemasOf } from '../openapi/schemas.js'
import { routeMatcher, routeOf } from '../route-matcher.js'
import { staticDocumentHandler } from '../static-document.js'
import { type LogsAccess, requestAccess } from './access.js'
import type { LogsCall, LogsHandler } from './call.js'
import { logsHandler, meHandler, plainEvents, readHandler, severalLogsHandler } from './handlers.js'
import { listHandler } from './list.js'
import { pathOfLog, withoutLogs } from './requests.js'
import { streamHandler } from './stream.js'
import { checkOptions, type OptionNames } from '../../options.js'
import { USERNAME_OPTION, type UsernameOption } from '../username-option.js'

export interface LogsEndpointOptions<Context>
  extends
    LogsAccess<Context>,
    ChallengeOptions,
    Pick<EventsEndpointOptions<Context>, 'redact' | 'service'> {
  /**
   * The path of the endpoints: they handle `<path>` and everything under it. It is the full path that clients send, even if
   * the host mounts the handler under a prefix.
   * @default '/api/logs'
   */
  readonly path?: string
}

const ROUTES_OPTIONS: OptionNames<LogsEndpointOptions<unknown> & UsernameOption<unknown>> = {
  path: true,
  ...CHALLENGE_OPTIONS,
  redact: true,
  service: true,
  authorize: true,
  visible: true,
  recheckMs: true,
  onRead: true,
  ...USERNAME_OPTION,
}

/** The logs that the endpoints serve. */
export type EndpointLogs = AuditLogs

export const DEFAULT_LOGS_PATH = '/api/logs'

/** The endpoints of single logs that are kept. */
const MAX_ENDPOINTS = 100

const match = routeMatcher(severalLogsRoutes)

/** The actions that read events, as `onRead` names them. */
const READS: Readonly<Partial<Record<LogsRoute['action'], EventsRead['action']>>> = {
  list: 'list',
  stream: 'stream',
  count: 'count',
  groups: 'count',
  export: 'export',
  report: 'export',
  history: 'list',
  read: 'read',
}

/** The keys of `<path>/<key>/events…`, or `<path>/<key>,<key>/events…`; `undefined` for other paths. */
function keysOf(path: string, mount: string): readonly string[] | undefined {
  const [, keys, second] = path.slice(mount.length).split('/')
  if (keys === undefined || second !== 'events') return undefined
  try {
    return keys.split(',').map(decodeURIComponent)
  } catch {
    return ['']
  }
}

/** The request for several logs that are named in the path, as one that names them in the query. */
function namedInQuery<Context>(
  request: HttpRequest<Context>,
  mount: string,
  keys: readonly string[],
): HttpRequest<Context> {
  const rest = request.path.slice(mount.length).split('/').slice(2).join('/')
  const logs = keys.map((key) => `logs[]=${encodeURIComponent(key)}`)
  const query = [...logs, request.query].filter((text) => text !== '').join('&')
  return { ...request, path: `${mount}/${rest}`, query }
}

function createHandlers(
  logs: EndpointLogs,
  path: string,
  { recheckMs, service }: { readonly recheckMs: number; readonly service: string },
): Readonly<Record<LogsRoute['action'], LogsHandler>> {
  const options = { logs, path, recheckMs }
  const types = typesHandler({ audit: logs, path: `${path}/events` })
  return {
    logs: logsHandler(options),
    list: listHandler(options),
    stream: streamHandler(options),
    count: severalLogsHandler(countsHandler, options),
    groups: severalLogsHandler(groupsHandler, options),
    export: severalLogsHandler(exportHandler(service), options, ['cursor', 'until']),
    report: severalLogsHandler(reportHandler, options),
    history: severalLogsHandler(historyHandler, options, ['until']),
    me: meHandler(options),
    read: readHandler(options),
    // All logs have the same types.
    types: ({ request }) => types({ request: { ...request, query: withoutLogs(request.query) } }),
    describe: staticDocumentHandler('application/json', () => {
      return JSON.stringify(
        openApiDocument({
          path,
          title: 'Audit logs',
          description: 'The audit events of the logs of the service',
          routes: severalLogsRoutes,
          parameters,
          responses,
          schemas: schemasOf(componentSchemas(logs, EVENTS_ACTIONS)),
        }),
      )
    }),
  }
}

/** Handles a request of an authenticated user. */
type Handle<Context> = (
  request: HttpRequest<Context>,
  callHost: CallHost,
  username: string,
) => Promise<HttpResponse>

/** The logs and settings that a request is served with. */
interface Served<Context> {
  readonly logs: EndpointLogs
  readonly path: string
  readonly recheckMs: number
  readonly options: LogsEndpointOptions<Context>
}

/** The endpoints of single logs. */
function createSingle<Context>({
  logs,
  path,
  recheckMs,
  options,
}: Served<Context>): (key: string) => EventsEndpoint<Context> {
  const { redact, service } = options
  const endpoints = new LRUCache<string, EventsEndpoint<Context>>({ max: MAX_ENDPOINTS })
  return (key) => {
    const known = endpoints.get(key)
    if (known) return known
    const created = eventsEndpoint<Context>(logs.log(key), {
      path: pathOfLog(path, key),
      recheckMs,
      ...(redact !== undefined && { redact }),
      ...(service !== undefined && { service }),
      ...(options.authorize && {
        authorize: (context, action) => options.authorize!(context, action, key),
      }),
      ...(options.visible && { visible: (context) => options.visible!(context, key) }),
      ...(options.onRead && { onRead: (context, read) => options.onRead!(context, read, key) }),
    })
    endpoints.set(key, created)
    return created
  }
}

/** Passes a request to the endpoints of one log. */
function toOneLog<Context>(served: Served<Context>): (key: string) => Handle<Context> {
  const { logs, path, options } = served
  const endpointOf = createSingle(served)
  return (key) => async (request, callHost) => {
    const access = requestAccess(options, request.context, callHost)
    const isAllowed = isKey(key) && (await access.mayAnything(key))
    if (!isAllowed || !(await logs.find(key))) throw unknownLog(key)
    // The client may have written the key in another way.
    const rest = request.path.slice(path.length).split('/').slice(3)
    const canonical = [pathOfLog(path, key), ...rest].join('/')
    // It responds to its own errors; errors that it throws are the host's.
    return callHost(async () => (await endpointOf(key)({ ...request, path: canonical }))!)
  }
}

/** Handles requests for several logs, and requests for none. */
function toSeveralLogs<Context>({
  logs,
  path,
  recheckMs,
  options,
}: Served<Context>): Handle<Context> {
  const service = readService(options.service)
  const handlers = createHandlers(logs, path, { recheckMs, service })
  return async (received, callHost, username) => {
    const routes = match(received.path.slice(path.length))
    const { action, right, method } = routeOf(received, routes)
    const request = method === 'POST' ? await withBodyQuery(received, username) : received
    const access = requestAccess(options, request.context, callHost)
    const allow: LogsCall['allow'] = async (named) => {
      // The host answers one question after the other, so that the first error is the one that is thrown.
      for (const key of named)
        if (right) await access.require(right, key)
        else if (!(await access.mayAnything(key))) throw unknownLog(key)
      const { signal } = request
      const found = await Promise.all(named.map((key) => logs.find(key, { signal })))
      const missing = named.find((_, i) => !found[i])
      if (missing !== undefined) throw unknownLog(missing)
      return access.visible(named)
    }
    const read = READS[action]
    const mayContinue: LogsCall['mayContinue'] = async (named, filters) => {
      for (const key of named) if (right && !(await access.may(right, key))) return false
      const now = await access.visible(named)
      return JSON.stringify([...now]) === JSON.stringify([...filters])
    }
    const response = await handlers[action]({
      request,
      username,
      id: routes.id,
      access,
      allow,
      reportRead: async (log, events) => {
        if (!options.onRead || !read) return
        const report = { action: read, username, query: request.query, events: plainEvents(events) }
        await callHost(() => options.onRead!(request.context, report, log))
      },
      mayContinue: options.authorize || options.visible ? mayContinue : undefined,
    })
    return finalizeResponse(request, response)
  }
}

/**
 * The endpoints of many logs: those of each log at `<path>/<key>/events`, as of one log, and those of several logs at
 * `<path>/events`. Returns `undefined` synchronously for other paths.
 */
export function logsEndpoint<Context>(
  logs: EndpointLogs,
  options: LogsEndpointOptions<Context> = {},
): EventsEndpoint<Context> {
  checkOptions(options, ROUTES_OPTIONS, 'logRoutes')
  const { path = DEFAULT_LOGS_PATH } = options
  checkHostFunctions(options, 'authorize', 'visible', 'onRead')
  const served = { logs, path, recheckMs: readRecheckMs(options.recheckMs), options }
  const ofOne = toOneLog(served)
  const ofSeveral = toSeveralLogs(served)
  const unauthenticated = readChallenge(options)
  declareMount(logs, { kind: 'logs', path })

  return (request) => {
    if (!isUnder(request.path, path)) return undefined
    return respondToErrors(async (callHost) => {
      const username = requireUser(await callHost(() => request.username), unauthenticated)
      const known = withUser(request, username)
      const keys = keysOf(request.path, path)
      if (!keys) return ofSeveral(known, callHost, username)
      return keys.length === 1
        ? ofOne(keys[0]!)(known, callHost, username)
        : ofSeveral(namedInQuery(known, path, keys), callHost, username)
    })
  }
}
