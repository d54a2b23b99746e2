import { createBroadcast } from '../stream/broadcast.js'
import type { RedactOptions } from '../../event/secrets.js'
import { plainEvent } from '../../event/lazy-event.js'
import { readService } from '../../exporting/formats.js'
import { sharedTail } from '../../tail/shared-tail.js'
import {
  CHALLENGE_OPTIONS,
  type ChallengeOptions,
  readChallenge,
  requireUser,
} from '../challenge.js'
import { withBodyQuery } from '../body-query.js'
import type { HttpRequest, HttpResponse } from '../exchange.js'
import { finalizeResponse } from '../finalize-response.js'
import { type CallHost, respondToErrors } from '../host-calls.js'
import { checkHostFunctions } from '../host-functions.js'
import { declareMount, isUnder } from '../mounts.js'
import { HttpProblem } from '../problem.js'
import { type MatchedRoutes, routeOf } from '../route-matcher.js'
import { EVENTS_ACCESS, type EventsAccess, type EventsRead, type UserRights } from './access.js'
import { CONSISTENCY_TOKEN, readConsistencyToken } from './consistency-token.js'
import { countsHandler } from './counts.js'
import { createHandler } from './create.js'
import { exportHandler } from './export.js'
import { groupsHandler } from './groups.js'
import { type EndpointAudit, type EventsHandler, reportNothing } from './handler.js'
import { historyHandler } from './history.js'
import { type HostAccess, hostAccess } from './host-access.js'
import { listHandler } from './list.js'
import { logSource } from './log-source.js'
import { meHandler } from './me.js'
import { openApiHandler } from './openapi.js'
import { readHandler } from './read.js'
import { readRecheckMs } from './recheck.js'
import { type RedactEvent, redactEvent } from './redact-event.js'
import {
  EVENTS_ACTIONS,
  type EventsAction,
  type EventsRoute,
  matchRoutes,
  rightOf,
} from './routes.js'
import { reportHandler } from './report.js'
import { eventFrame } from './server-sent.js'
import { streamHandler } from './stream.js'
import { typesHandler } from './types.js'
import { checkOptions, type OptionNames } from '../../options.js'
import { USERNAME_OPTION, type UsernameOption } from '../username-option.js'

export interface EventsEndpointOptions<Context> extends EventsAccess<Context>, ChallengeOptions {
  /**
   * The path of the endpoints: they handle `<path>` and everything under it. It is the full path that
   * clients send, even if the host mounts the handler under a prefix.
   * @default '/api/events'
   */
  readonly path?: string
  /**
   * Replaces the secrets in created events by `[redacted]`, as `recordRequests` does: `true` for the
   * default keys and all recognisable values. The attribute `recording` has the list
   * `redacted` of their JSON Pointers.
   * @default false
   */
  readonly redact?: boolean | RedactOptions
  /**
   * The name of the service in exports: the `source` of CloudEvents, the product of OCSF and `service.name` of OpenTelemetry. A
   * URI reference.
   * @default 'daybook'
   */
  readonly service?: string
}

const ROUTES_OPTIONS: OptionNames<EventsEndpointOptions<unknown> & UsernameOption<unknown>> = {
  ...EVENTS_ACCESS,
  path: true,
  ...CHALLENGE_OPTIONS,
  redact: true,
  service: true,
  ...USERNAME_OPTION,
}

/** Handles a request to the events endpoints; returns `undefined` synchronously for other paths. */
export type EventsEndpoint<Context> = (
  request: HttpRequest<Context>,
) => Promise<HttpResponse> | undefined

export const DEFAULT_PATH = '/api/events'

/** The actions that read events, as `onRead` names them. */
const READS: Readonly<Partial<Record<EventsRoute['action'], EventsRead['action']>>> = {
  list: 'list',
  read: 'read',
  stream: 'stream',
  count: 'count',
  groups: 'count',
  export: 'export',
  report: 'export',
  history: 'list',
}

/** Calls `may` sequentially, so that the first error of the host is the one that is thrown. */
async function rightsOf({ may, visible }: HostAccess): Promise<UserRights> {
  const allowed = new Set<EventsAction>()
  for (const action of EVENTS_ACTIONS) if (await may(action)) allowed.add(action)
  // The host need not provide a filter for users who may read nothing.
  const mayRead = EVENTS_ACTIONS.some((action) => READS[action] && allowed.has(action))
  return {
    may: Object.fromEntries(
      EVENTS_ACTIONS.map((action) => [action, allowed.has(action)]),
    ) as UserRights['may'],
    restricted: mayRead && (await visible()) !== undefined,
  }
}

function createHandlers(
  audit: EndpointAudit,
  path: string,
  {
    recheckMs,
    redact,
    service,
  }: { readonly recheckMs: number; readonly redact: RedactEvent; readonly service: string },
): Readonly<Record<EventsRoute['action'], EventsHandler>> {
  const broadcast = createBroadcast(sharedTail(audit.store), (event) => eventFrame(event, path))
  const shared = { audit, path }
  return {
    list: listHandler({ ...shared, broadcast }),
    read: readHandler(shared),
    create: createHandler({ ...shared, redact }),
    stream: streamHandler({ ...shared, broadcast, recheckMs }),
    count: countsHandler,
    groups: groupsHandler,
    export: exportHandler(service),
    report: reportHandler,
    history: historyHandler,
    types: typesHandler(shared),
    me: meHandler(shared),
    describe: openApiHandler(shared),
  }
}

/**
 * The endpoints of the interface's sections "Endpoints" and "Errors", independent of the HTTP server.
 */
export function eventsEndpoint<Context>(
  audit: EndpointAudit,
  options: EventsEndpointOptions<Context> = {},
): EventsEndpoint<Context> {
  checkOptions(options, ROUTES_OPTIONS, 'auditRoutes')
  const { path = DEFAULT_PATH } = options
  checkHostFunctions(options, 'authorize', 'visible', 'onRead')
  const handlers = createHandlers(audit, path, {
    recheckMs: readRecheckMs(options.recheckMs),
    redact: redactEvent(options.redact),
    service: readService(options.service),
  })
  const unauthenticated = readChallenge(options)
  declareMount(audit, { kind: 'feed', path })

  const handle = async (
    received: HttpRequest<Context>,
    routes: MatchedRoutes<EventsRoute>,
    callHost: CallHost,
  ): Promise<HttpResponse> => {
    const { context } = received
    const username = requireUser(await callHost(() => received.username), unauthenticated)
    const route = routeOf(received, routes)
    const { action } = route
    const right = rightOf(route)
    const access = hostAccess(options, context, callHost)
    // Without these functions there is nothing to wait for; each wait takes about a microsecond.
    if (right && options.authorize && !(await access.may(right)))
      throw new HttpProblem('FORBIDDEN', `${username} is not allowed the action ${right}`)
    const read = READS[action]
    const request =
      read && route.method === 'POST' ? await withBodyQuery(received, username) : received
    const { query } = request
    const visible = read && options.visible ? await access.visible() : undefined
    const sentToken = request.header(CONSISTENCY_TOKEN)
    const consistencyToken = readConsistencyToken(sentToken, visible !== undefined)
    const reading = { signal: request.signal, consistencyToken }
    const response = await handlers[action]({
      request,
      reading,
      username,
      id: routes.id,
      visible,
      source: () => logSource({ audit, path }, visible, reading),
      rights: () => rightsOf(access),
      mayContinue:
        options.authorize || options.visible
          ? async () =>
              (!right || (await access.may(right))) &&
              JSON.stringify(await access.visible()) === JSON.stringify(visible)
          : undefined,
      reportRead:
        read && options.onRead
          ? (events) => {
              const report = { action: read, username, query, events: events.map(plainEvent) }
              return callHost(() => options.onRead!(context, report))
            }
          : reportNothing,
    })
    return finalizeResponse(request, response)
  }

  return (request) => {
    if (!isUnder(request.path, path)) return undefined
    const routes = matchRoutes(request.path.slice(path.length))
    return respondToErrors((callHost) => handle(request, routes, callHost))
  }
}
