import type { RedactOptions } from '../../event/secrets.js'
import { readService } from '../../exporting/formats.js'
import {
  CHALLENGE_OPTIONS,
  type ChallengeOptions,
  readChallenge,
  requireUser,
} from '../challenge.js'
import { withBodyQuery } from '../body-query.js'
import { type HttpRequest, type HttpResponse, withUser } from '../exchange.js'
import { finalizeResponse } from '../finalize-response.js'
import { type CallHost, respondToErrors } from '../host-calls.js'
import { checkHostFunctions } from '../host-functions.js'
import { declareMount, isUnder } from '../mounts.js'
import { invalidParameter } from '../parameters.js'
import { HttpProblem } from '../problem.js'
import { type MatchedRoutes, routeOf } from '../route-matcher.js'
import { EVENTS_ACCESS, type EventsAccess } from './access.js'
import { CONSISTENCY_TOKEN, readConsistencyToken } from './consistency-token.js'
import { createHandler } from './create.js'
import { exportHandler } from './export.js'
import { countsHandler, groupsHandler } from './figures.js'
import type { EndpointAudit, EventsHandler } from './handler.js'
import { historyHandler } from './history.js'
import {
  type HostAccess,
  hostAccess,
  hostCalls,
  type HostRules,
  isAnswer,
  isRead,
  isRestricted,
  type VisiblePart,
} from './host-access.js'
import { recordRead } from '../../reading/recorded-reads.js'
import { ledgerHandlers } from './ledger.js'
import { listHandler } from './list.js'
import { createLogSources } from './log-source.js'
import { meHandler } from './me.js'
import { openApiHandler } from './openapi.js'
import { readHandler } from './read.js'
import { extractPersonal, notCached } from './personal-form.js'
import { readRecheckMs } from './recheck.js'
import { redactEvent } from './redact-event.js'
import { type EventsRoute, matchRoutes, rightOf } from './routes.js'
import { reportHandler } from './report.js'
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

/** The handlers of endpoints of one log, and of endpoints of several logs. */
export const readHandlers = ({
  recheckMs,
  service,
}: {
  readonly recheckMs: number
  readonly service: string
}) =>
  ({
    list: listHandler(),
    read: readHandler,
    stream: streamHandler(recheckMs),
    count: countsHandler,
    groups: groupsHandler,
    export: exportHandler(service),
    report: reportHandler,
    history: historyHandler,
    me: meHandler,
  }) satisfies Readonly<Record<string, EventsHandler>>

/** The log of these endpoints. */
const ONE = [undefined]

const ALL: VisiblePart = { given: 'all', where: undefined, concealed: undefined }

/** The request with another query. */
const withQuery = <Context>(
  request: HttpRequest<Context>,
  query: string,
  username: string,
): HttpRequest<Context> => ({
  ...withUser(request, username),
  query,
  hasBodyQuery: request.hasBodyQuery ?? false,
})

/** Throws unless the user may read personal attributes, and the log can open them. */
async function requirePersonal(
  { hasKeys }: EndpointAudit,
  { may }: HostAccess,
  username: string,
): Promise<void> {
  if (!hasKeys)
    throw invalidParameter('personal', 'must not be open: the log has no keys of persons')
  if (!(await may('personal')))
    throw new HttpProblem('FORBIDDEN', `${username} is not allowed the action personal`)
}

/** Options of endpoints of one log, whose rules may be those of the host for several. */
type OneLogOptions<Context> = Omit<EventsEndpointOptions<Context>, keyof HostRules<Context>> &
  HostRules<Context>

/**
 * The endpoints of the interface's sections "Endpoints" and "Errors", independent of the HTTP server. The rules get the `key`,
 * if the log has one.
 */
export function eventsEndpoint<Context>(
  audit: EndpointAudit,
  options: OneLogOptions<Context> = {},
  key?: string,
): EventsEndpoint<Context> {
  checkOptions(options, ROUTES_OPTIONS, 'auditRoutes')
  const { path = DEFAULT_PATH } = options
  checkHostFunctions(options, 'authorize', 'visible', 'conceal', 'onRead')
  const recheckMs = readRecheckMs(options.recheckMs)
  const shared = { audit, path }
  const handlers: Readonly<Record<EventsRoute['action'], EventsHandler>> = {
    ...readHandlers({ recheckMs, service: readService(options.service) }),
    create: createHandler({ ...shared, redact: redactEvent(options.redact) }),
    ...ledgerHandlers(audit),
    types: typesHandler(shared),
    describe: openApiHandler(shared),
  }
  const sourceOf = createLogSources(shared)
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
    const right = rightOf(route)
    const access = hostAccess(options, {
      context,
      callHost,
      key,
      links: audit.links,
      sealedNames: audit.sealedNames,
      hasKeys: audit.hasKeys,
    })
    // Without these functions there is nothing to wait for; each wait takes about a microsecond.
    if (right && options.authorize && !(await access.may(right)))
      throw new HttpProblem('FORBIDDEN', `${username} is not allowed the action ${right}`)
    const asked =
      isRead(right) && route.method === 'POST' ? await withBodyQuery(received, username) : received
    const { personal, rest } = extractPersonal(route, asked.query)
    if (personal === 'open') await requirePersonal(audit, access, username)
    const request = rest === asked.query ? asked : withQuery(asked, rest, username)
    const isPart = options.visible !== undefined || options.conceal !== undefined
    const visible = isRead(right) ? [isPart ? await access.visible() : ALL] : undefined
    const part = visible?.[0] ?? ALL
    const { where, concealed } = part
    if (route.whole && isRestricted(part))
      throw new HttpProblem('FORBIDDEN', `${username} sees only a part of the log`)
    const sentToken = request.header(CONSISTENCY_TOKEN)
    const consistencyToken = readConsistencyToken(sentToken, where !== undefined)
    const response = await handlers[route.action]({
      request,
      username,
      id: routes.id,
      identity:
        where || concealed || consistencyToken || personal !== 'sealed'
          ? JSON.stringify([where, concealed?.names, consistencyToken, personal])
          : '',
      source: (signal = request.signal) => sourceOf(part, { signal, consistencyToken, personal }),
      ...hostCalls(access, { request: asked, username, right, logs: ONE, visible }),
    })
    if (audit.ownEvents.reads && isRead(right) && isAnswer(response))
      await recordRead(audit, { action: right, username, query: rest, id: routes.id, personal })
    return finalizeResponse(request, personal === 'open' ? notCached(response) : response)
  }

  return (request) => {
    if (!isUnder(request.path, path)) return undefined
    const routes = matchRoutes(request.path.slice(path.length))
    return respondToErrors((callHost) => handle(request, routes, callHost))
  }
}
