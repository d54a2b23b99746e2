import type { EventTypes } from '../../src/event-types.js'
import type { RoutedContext } from './koa.js'

/** `<controller>:<method>` of a request, as event types spell it. */
export interface RouteType {
  readonly controller: string
  readonly method: string
}

const METHODS: Readonly<Record<string, string>> = {
  POST: 'create',
  PUT: 'update',
  PATCH: 'update',
  DELETE: 'destroy',
}

export function isMutating(ctx: RoutedContext): boolean {
  return ctx.method in METHODS
}

const isParameter = (segment: string | undefined): boolean => segment?.startsWith(':') ?? false

const NAME = /^(\w+):(\w+)$/

/**
 * The name of the matched route where it is `<controller>:<method>`; else by Rails' manner from the
 * route's path: the last collection and the verb (`POST /changes` changes:create), or the action
 * that follows a member (`POST /changes/:id/start` changes:start). Such a last word is an action
 * where the registry has `api:<collection>:<word>`, or where it is no plural. A request that no
 * route took is `unmatched:<verb>`: its path is the client's invention.
 */
export function routeType(ctx: RoutedContext, types: EventTypes): RouteType {
  // Not `_matchedRoute`: while a `router.use` refuses the request, that is the middleware's path.
  const layer = ctx.matched?.findLast(({ methods }) => methods.includes(ctx.method))
  const named = NAME.exec(layer?.name ?? '')
  if (named) return { controller: named[1]!, method: named[2]! }
  const verb = METHODS[ctx.method] ?? ctx.method.toLowerCase()
  if (typeof layer?.path !== 'string') return { controller: 'unmatched', method: verb }
  const segments = layer.path.split('/').filter((segment) => segment !== '')
  const words = segments.filter((segment) => !isParameter(segment))
  const last = words.at(-1) ?? 'root'
  const owner = words.at(-2)
  const followsMember = !isParameter(segments.at(-1)) && isParameter(segments.at(-2))
  if (followsMember && owner !== undefined) {
    const isAction = Object.hasOwn(types, `api:${owner}:${last}`) || !last.endsWith('s')
    if (isAction) return { controller: owner, method: last }
  }
  return { controller: last, method: verb }
}
