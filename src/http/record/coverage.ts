import { AuditLogError } from '../../errors.js'
import { type EventTypes, splitEventType } from '../../event/event-types.js'
import type { RecordedRoute } from './exchange.js'
import {
  checkRouteTypes,
  COMMON_MUTATING_METHODS,
  isMutating,
  routeKey,
  type RouteTypes,
  routeType,
} from './route-type.js'
import { checkOptions, type OptionNames } from '../../options.js'

/** A route with the methods that it handles. */
export interface CoveredRoute extends RecordedRoute {
  /** `ALL` stands for every method. */
  readonly methods: readonly string[]
}

export interface AssertCoverageOptions {
  /** The `routes` option of `recordRequests`. */
  readonly routes?: RouteTypes
  /** Registered `api:` types that no route records, such as those of background jobs. */
  readonly except?: readonly string[]
}

/** Checks the routes of a router, or what else has the routes of a framework. */
export interface AssertCoverage<Router> {
  /**
   * Checks in a test that routes and registered event types agree: every mutating route records a registered
   * `api:<controller>:<method>`, every registered `api:` type is recorded by a route, and every entry of
   * `routes` belongs to a route. Throws `NOT_COVERED` with a list of the mismatches; the message of `cause` has
   * the full list, one per line.
   */
  (router: Router, types: EventTypes, options?: AssertCoverageOptions): void
}

const COVERAGE_OPTIONS: OptionNames<AssertCoverageOptions> = { routes: true, except: true }

/** `routesOf` returns the routes of a router. */
export const coverage =
  <Router>(routesOf: (router: Router) => readonly CoveredRoute[]): AssertCoverage<Router> =>
  (router, types, options = {}) =>
    checkCoverage(routesOf(router), types, options)

function checkCoverage(
  declared: readonly CoveredRoute[],
  types: EventTypes,
  options: AssertCoverageOptions,
): void {
  checkOptions(options, COVERAGE_OPTIONS, 'assertCoverage')
  const { routes = {}, except = [] } = options
  checkRouteTypes(routes)
  const covered = declared.flatMap((layer) =>
    (layer.methods.includes('ALL')
      ? COMMON_MUTATING_METHODS
      : layer.methods.filter(isMutating)
    ).map((method) => {
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
