import { AuditLogError } from '../../errors.js'
import type { EventTypes } from '../../event/event-types.js'
import type { RecordedRoute } from './exchange.js'
import { checkNamed } from '../../options.js'

/** The `<controller>:<method>` part of the event types of a request. */
export interface RouteType {
  readonly controller: string
  readonly method: string
}

/**
 * Types of requests by `<METHOD> <path>`, with the path as registered including the router's prefix:
 * `{ 'POST /api/changes/:id/pause': 'changes:pause' }`. False: requests that succeed or are refused are not
 * recorded.
 */
export type RouteTypes = Readonly<Record<string, string | false>>

const VERBS: Readonly<Record<string, string>> = {
  POST: 'create',
  PUT: 'update',
  PATCH: 'update',
  DELETE: 'destroy',
}

/** The methods with which a route for all methods is checked. */
export const COMMON_METHODS: readonly string[] = ['GET', ...Object.keys(VERBS)]

const SAFE_METHODS: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS', 'TRACE'])

/** True for every method but the safe ones (RFC 9110, section 9.2.1). Methods are case-sensitive. */
export const isMutating = (method: string): boolean => !SAFE_METHODS.has(method)

/** The statuses of refused access, which are recorded of any method. */
const REFUSED: ReadonlySet<number> = new Set([401, 403, 429])

export const isRefused = (status: number): boolean => REFUSED.has(status)

const MAX_VERB = 40

/** `create` for POST, and so on; for other methods their name, with `_` for characters that no event type has. Clients can send any method. */
function verbOf(method: string): string {
  const name = method.toUpperCase()
  if (Object.hasOwn(VERBS, name)) return VERBS[name]!
  return (
    method
      .toLowerCase()
      .slice(0, MAX_VERB)
      .replaceAll(/[^\w-]/g, '_') || 'unknown'
  )
}

const TYPE = /^([\w-]+):([\w-]+)$/
const KEY = /^([!#$%&'*+.^`|~\w-]+) [/{]/

/** Throws `INVALID_OPTION` for a malformed route or type. `reads` are the keys of reads that are recorded. */
export function checkRouteTypes(routes: RouteTypes, reads: ReadonlySet<string> = new Set()): void {
  checkNamed(routes, 'routes')
  for (const [key, type] of Object.entries<unknown>(routes)) {
    const method = KEY.exec(key)?.[1]
    const isRead = reads.has(key) && type !== false
    if (!isRead && (method === undefined || !isMutating(method) || method !== method.toUpperCase()))
      throw new AuditLogError(
        'INVALID_OPTION',
        `routes: ${JSON.stringify(key)} must be a method in upper case other than ${[...SAFE_METHODS].join(', ')}, a space and the path of a route`,
      )
    if (type !== false && (typeof type !== 'string' || !TYPE.test(type)))
      throw new AuditLogError(
        'INVALID_OPTION',
        `routes[${JSON.stringify(key)}] must be <controller>:<method> or false; it is ${JSON.stringify(type)}`,
      )
  }
}

export const routeKey = (method: string, { path }: RecordedRoute): string =>
  `${method.toUpperCase()} ${String(path)}`

const isParameter = (segment: string): boolean => /[:*]/.test(segment)

/** The verb of a read, by the conventions of Rails. */
const readVerb = (last: string): string => (isParameter(last) ? 'show' : 'index')

function typeOfPath(path: string, method: string, types: EventTypes): RouteType {
  // Braces enclose optional parts.
  const segments = path
    .replaceAll(/[{}]/g, '')
    .split('/')
    .filter((segment) => segment !== '')
  const words = segments.filter((segment) => !isParameter(segment))
  const last = words.at(-1) ?? 'root'
  const owner = words.at(-2)
  const [before = '', end = ''] = segments.slice(-2)
  if (owner !== undefined && isParameter(before) && !isParameter(end)) {
    const isAction = Object.hasOwn(types, `api:${owner}:${last}`) || !last.endsWith('s')
    if (isAction) return { controller: owner, method: last }
  }
  const verb = method === 'GET' || method === 'HEAD' ? readVerb(end) : verbOf(method)
  return { controller: last, method: verb }
}

/**
 * The entry of `routes`; otherwise the name of the route if it is `<controller>:<method>`; otherwise a
 * type derived from its path by the conventions of Rails: the last collection and the verb (`POST /changes` is
 * changes:create; of reads `index`, or `show` if it ends with a parameter), or the action after a member (`POST /changes/:id/start` is changes:start). The last word
 * is an action if the registry has `api:<collection>:<word>`, or if it is not a plural. A request without a
 * route is `unmatched:<verb>`, because clients can send any path. A request whose route is a regular
 * expression without a name is `unmatched:<verb>` too.
 */
export function routeType(
  route: RecordedRoute | undefined,
  method: string,
  types: EventTypes,
  routes: RouteTypes,
): RouteType | false {
  if (!route) return { controller: 'unmatched', method: verbOf(method) }
  const key = routeKey(method, route)
  const stated = Object.hasOwn(routes, key) ? routes[key]! : (route.name ?? '')
  if (stated === false) return false
  const named = TYPE.exec(stated)
  if (named) return { controller: named[1]!, method: named[2]! }
  if (typeof route.path !== 'string') return { controller: 'unmatched', method: verbOf(method) }
  return typeOfPath(route.path, method, types)
}
