import { AuditLogError } from '../../errors.js'
import { type EventTypes, splitEventType } from '../../event/event-types.js'
import type { RecordedRoute } from './exchange.js'
import { checkRouteTypes, isMutating, routeKey, type RouteTypes, routeType } from './route-type.js'
import { checkOptions, type OptionNames } from '../../options.js'

/** A route with the methods that it handles. */
export interface CoveredRoute extends RecordedRoute {
  readonly methods: readonly string[]
}

export interface AssertCoverageOptions {
  /** The `routes` option of `recordRequests`. */
  readonly routes?: RouteTypes
  /** Registered `api:` types that no route records, such as those of background jobs. */
  readonly except?: readonly string[]
}

const COVERAGE_OPTIONS: OptionNames<AssertCoverageOptions> = { routes: true, except: true }

/**
 * Throws `NOT_COVERED` if the mutating routes and the registered `api:` types do not match; the message of
 * `cause` has the full list of mismatches, one per line.
 */
export function checkCoverage(
  declared: readonly CoveredRoute[],
  types: EventTypes,
  options: AssertCoverageOptions,
): void {
  checkOptions(options, COVERAGE_OPTIONS, 'assertCoverage')
  const { routes = {}, except = [] } = options
  checkRouteTypes(routes)
  const covered = declared.flatMap((layer) =>
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
