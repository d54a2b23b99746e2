import { AuditLogError } from '../../src/errors.js'
import { type EventTypes, splitEventType } from '../../src/event/event-types.js'
import type { RouterLayer } from './koa.js'
import { checkRouteTypes, isMutating, routeKey, type RouteTypes, routeType } from './route-type.js'

/** A router of @koa/router, including nested routers. */
export interface CoveredRouter {
  readonly stack: readonly RouterLayer[]
}

export interface AssertCoverageOptions {
  /** The `routes` option of {@link recordRequests}. */
  readonly routes?: RouteTypes
  /** Registered `api:` types that no route records, such as those of background jobs. */
  readonly except?: readonly string[]
}

/**
 * Checks in a test that routes and registered event types agree: every mutating route records a registered
 * `api:<controller>:<method>`, every registered `api:` type is recorded by a route, and every entry of
 * `routes` belongs to a route. Throws `NOT_COVERED` with a list of the mismatches; the message of `cause` has
 * the full list, one per line.
 */
export function assertCoverage(
  router: CoveredRouter | readonly CoveredRouter[],
  types: EventTypes,
  options: AssertCoverageOptions = {},
): void {
  const { routes = {}, except = [] } = options
  checkRouteTypes(routes)
  const layers = [router].flat().flatMap(({ stack }: CoveredRouter) => stack)
  const covered = layers.flatMap((layer) =>
    layer.methods.filter(isMutating).map((method) => {
      const route = routeType(layer, method, types, routes)
      const type = route ? `api:${route.controller}:${route.method}` : undefined
      return { key: routeKey(method, layer), type }
    }),
  )
  const recorded = new Set([...covered.map(({ type }) => type), ...except])
  const keys = new Set(covered.map(({ key }) => key))
  const faults = new Set([
    ...covered
      .filter(({ type }) => type !== undefined && !Object.hasOwn(types, type))
      .map(({ key, type }) => `${key} records ${type}, which is not registered`),
    ...Object.keys(types)
      .filter((type) => splitEventType(type).level === 'api' && !recorded.has(type))
      .map((type) => `${type} is registered, but no route records it`),
    ...Object.keys(routes)
      .filter((key) => !keys.has(key))
      .map((key) => `routes has ${key}, which is not a route`),
  ])
  if (faults.size === 0) return
  const list = [...faults].join('\n')
  throw new AuditLogError('NOT_COVERED', `routes and event types do not match:\n${list}`, {
    cause: new Error(list),
  })
}
