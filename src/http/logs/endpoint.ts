import { LRUCache } from 'lru-cache'
import type { AuditLogs } from '../../audit-logs.js'
import { unknownLog } from '../../logs/named-logs.js'
import { readService } from '../../exporting/formats.js'
import { recordRead } from '../../reading/recorded-reads.js'
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
  readHandlers,
} from '../events/endpoint.js'
import { EVENTS_ACCESS } from '../events/access.js'
import {
  type HostAccess,
  hostAccess,
  hostCalls,
  isAnswer,
  isRead,
  visibleParts,
} from '../events/host-access.js'
import { readRecheckMs } from '../events/recheck.js'
import { typesHandler } from '../events/types.js'
import { NO_SEALED_NAMES } from '../../filter/sealed-names.js'
import { withBodyQuery } from '../body-query.js'
import { type HttpRequest, type HttpResponse, withUser } from '../exchange.js'
import { finalizeResponse } from '../finalize-response.js'
import { type CallHost, respondToErrors } from '../host-calls.js'
import { checkHostFunctions } from '../host-functions.js'
import { declareMount, isUnder } from '../mounts.js'
import { openApiDocument } from '../openapi/document.js'
import { severalLogsParameters as parameters } from '../openapi/parameters.js'
import { severalLogsResponses as responses } from '../openapi/responses.js'
import { invalidParameter, joinQueries } from '../parameters.js'
import { HttpProblem } from '../problem.js'
import { EVENTS_ACTIONS } from '../events/routes.js'
import { ledgerRoutes, type LogsRoute, severalLogsRoutes } from '../openapi/routes.js'
import { componentSchemas, severalLogsSchemas as schemasOf } from '../openapi/schemas.js'
import { routeMatcher, routeOf } from '../route-matcher.js'
import { staticDocumentHandler } from '../static-document.js'
import type { LogsAccess } from './access.js'
import { logsHandler } from './logs-list.js'
import { logsQuery, pathOfLog, readLogsRequest, withoutLogs } from './requests.js'
import { createLogsSources } from './source.js'
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
  ...EVENTS_ACCESS,
  path: true,
  ...CHALLENGE_OPTIONS,
  redact: true,
  service: true,
  ...USERNAME_OPTION,
}

/** The logs that the endpoints serve. */
export type EndpointLogs = AuditLogs

export const DEFAULT_LOGS_PATH = '/api/logs'

/** The endpoints of single logs that are kept. */
const MAX_ENDPOINTS = 100

const match = routeMatcher(severalLogsRoutes)
const matchLedger = routeMatcher(ledgerRoutes)

/** Throws for an endpoint of the ledger, which several logs do not have together. */
function refuseLedger(path: string, mount: string): void {
  const events = `${mount}/events`
  const rest = path.slice(events.length)
  if (isUnder(path, events) && matchLedger(rest).byMethod.size > 0)
    throw invalidParameter(
      'logs[]',
      `is not allowed here: each log has a ledger of its own, at ${mount}/<key>/events${rest}`,
    )
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
  const query = joinQueries(logsQuery(keys), request.query)
  return { ...request, path: `${mount}/${rest}`, query }
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

async function mayAnything({ may }: HostAccess, key: string): Promise<boolean> {
  for (const action of EVENTS_ACTIONS) if (await may(action, key)) return true
  return false
}

/** Logs of a set encrypt nothing. */
const ruledBy = ({ links }: EndpointLogs) =>
  ({ links, sealedNames: NO_SEALED_NAMES, hasKeys: false }) as const

/** Passes a request to the endpoints of one log. */
function toOneLog<Context>({
  logs,
  path,
  options,
}: Served<Context>): (key: string) => Handle<Context> {
  const endpoints = new LRUCache<string, EventsEndpoint<Context>>({
    max: MAX_ENDPOINTS,
    memoMethod: (key) =>
      eventsEndpoint(logs.log(key), { ...options, path: pathOfLog(path, key) }, key),
  })
  return (key) => async (request, callHost) => {
    const access = hostAccess(options, { context: request.context, callHost, ...ruledBy(logs) })
    const isAllowed = isKey(key) && (await mayAnything(access, key))
    if (!isAllowed || !(await logs.find(key))) throw unknownLog(key)
    // The client may have written the key in another way.
    const rest = request.path.slice(path.length).split('/').slice(3)
    const canonical = [pathOfLog(path, key), ...rest].join('/')
    // It responds to its own errors; errors that it throws are the host's.
    return callHost(async () => (await endpoints.memo(key)({ ...request, path: canonical }))!)
  }
}

/** Throws unless all of the logs exist and the user may do this in each of them. */
async function requireLogs(
  logs: EndpointLogs,
  access: HostAccess,
  {
    keys,
    right,
    signal,
  }: { keys: readonly string[]; right: LogsRoute['right']; signal: AbortSignal },
): Promise<void> {
  // The host answers one question after the other, so that the first error is the one that is thrown.
  for (const key of keys) {
    if (right && (await access.may(right, key))) continue
    if (!(await mayAnything(access, key))) throw unknownLog(key)
    if (right)
      throw new HttpProblem('FORBIDDEN', `the action ${right} is not allowed in the log ${key}`)
  }
  const found = await Promise.all(keys.map((key) => logs.find(key, { signal })))
  const missing = keys.find((_, i) => !found[i])
  if (missing !== undefined) throw unknownLog(missing)
}

/** Handlers of requests that name no logs. */
function createHandlers(logs: EndpointLogs, path: string) {
  const types = typesHandler({ audit: logs, path: `${path}/events` })
  return {
    logs: logsHandler(logs, path),
    // All logs have the same types.
    types: ({ request }: { readonly request: HttpRequest }) =>
      types({ request: { ...request, query: withoutLogs(request.query) } }),
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

/** Handles requests for several logs, and requests for none. */
function toSeveralLogs<Context>({
  logs,
  path,
  recheckMs,
  options,
}: Served<Context>): Handle<Context> {
  const handlers = createHandlers(logs, path)
  const readers = readHandlers({ recheckMs, service: readService(options.service) })
  const sourceOf = createLogsSources(logs, path)
  return async (received, callHost, username) => {
    refuseLedger(received.path, path)
    const routes = match(received.path.slice(path.length))
    const { action, right, method, parameters: taken, form = [] } = routeOf(received, routes)
    const access = hostAccess(options, {
      context: received.context,
      callHost,
      ...ruledBy(logs),
    })
    if (action === 'logs' || action === 'types' || action === 'describe') {
      const call = { request: received, mayAnything: (key: string) => mayAnything(access, key) }
      return finalizeResponse(received, await handlers[action](call))
    }
    const request = method === 'POST' ? await withBodyQuery(received, username) : received
    const asked = readLogsRequest(request.query, [...taken, ...form])
    const { logs: keys, sent, rest } = asked
    await requireLogs(logs, access, { keys, right, signal: request.signal })
    const visible = await visibleParts(access, keys)
    const response = await readers[action]({
      request: { ...request, query: rest },
      username,
      id: routes.id,
      identity: JSON.stringify([sent, visible]),
      source: (signal = request.signal) => sourceOf(asked, visible, signal),
      ...hostCalls(access, { request, username, right, logs: keys, visible }),
    })
    if (logs.ownEvents.reads && isRead(right) && isAnswer(response))
      for (const key of keys)
        await recordRead(logs.log(key), { action: right, username, query: rest, id: routes.id })
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
  checkHostFunctions(options, 'authorize', 'visible', 'conceal', 'onRead')
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
