import { AuditLogError } from '../../src/errors.js'
import type { EventTypes } from '../../src/event/event-types.js'
import type { RoutedContext, RouterLayer } from './koa.js'

/** `<controller>:<method>` of a request, as event types spell it. */
export interface RouteType {
  readonly controller: string
  readonly method: string
}

/**
 * What requests to routes are called, by `<METHOD> <path>`, the path as the route was registered
 * with its prefix: `{ 'POST /api/changes/:id/pause': 'changes:pause' }`. False: those that succeed
 * or are refused leave no event.
 */
export type RouteTypes = Readonly<Record<string, string | false>>

const VERBS: Readonly<Record<string, string>> = {
  POST: 'create',
  PUT: 'update',
  PATCH: 'update',
  DELETE: 'destroy',
}

export const MUTATING_METHODS = Object.keys(VERBS)

export function isMutating(method: string): boolean {
  return Object.hasOwn(VERBS, method)
}

const TYPE = /^([\w-]+):([\w-]+)$/
const KEY = new RegExp(`^(?:${MUTATING_METHODS.join('|')}) [/{]`)

/** Throws `INVALID_OPTION` for an entry that names no route, or no type. */
export function checkRouteTypes(routes: RouteTypes): void {
  for (const [key, type] of Object.entries<unknown>(routes)) {
    if (!KEY.test(key))
      throw new AuditLogError(
        'INVALID_OPTION',
        `routes: ${JSON.stringify(key)} must be one of ${MUTATING_METHODS.join(', ')}, a space and the path of a route`,
      )
    if (type !== false && (typeof type !== 'string' || !TYPE.test(type)))
      throw new AuditLogError(
        'INVALID_OPTION',
        `routes[${JSON.stringify(key)}] must be <controller>:<method> or false; it is ${JSON.stringify(type)}`,
      )
  }
}

export const routeKey = (method: string, { path }: RouterLayer): string =>
  `${method} ${String(path)}`

/**
 * The route that took the request, or would have, had nothing before it refused: of those that fit,
 * the first that is not before the layer that was run last.
 */
export function takenRoute(ctx: RoutedContext): RouterLayer | undefined {
  const { matched = [], method, routerPath, routerName } = ctx
  const wasLast = ({ path, name }: RouterLayer): boolean =>
    path === routerPath && (name || undefined) === routerName
  const takes = ({ methods }: RouterLayer): boolean => methods.includes(method)
  return matched.slice(matched.findIndex(wasLast)).find(takes) ?? matched.findLast(takes)
}

const isParameter = (segment: string): boolean => /[:*]/.test(segment)

function typeOfPath(path: string, verb: string, types: EventTypes): RouteType {
  // Braces are around what may be missing.
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
  return { controller: last, method: verb }
}

/**
 * What the table says of the route; else its name where it is `<controller>:<method>`; else by Rails'
 * manner from its path: the last collection and the verb (`POST /changes` changes:create), or the
 * action that follows a member (`POST /changes/:id/start` changes:start). Such a last word is an action
 * where the registry has `api:<collection>:<word>`, or where it is no plural. A request that no
 * route took is `unmatched:<verb>`: its path is the client's invention. So is one whose route is an
 * expression without a name.
 */
export function routeType(
  layer: RouterLayer | undefined,
  method: string,
  types: EventTypes,
  routes: RouteTypes,
): RouteType | false {
  const verb = VERBS[method] ?? method.toLowerCase()
  if (!layer) return { controller: 'unmatched', method: verb }
  const key = routeKey(method, layer)
  const stated = Object.hasOwn(routes, key) ? routes[key]! : (layer.name ?? '')
  if (stated === false) return false
  const named = TYPE.exec(stated)
  if (named) return { controller: named[1]!, method: named[2]! }
  if (typeof layer.path !== 'string') return { controller: 'unmatched', method: verb }
  return typeOfPath(layer.path, verb, types)
}
