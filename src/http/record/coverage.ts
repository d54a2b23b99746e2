import { AuditLogError } from '../../errors.js'
import { type EventTypes, splitEventType } from '../../event/event-types.js'
import type { RecordedRoute } from './exchange.js'
import {
  checkRouteTypes,
  COMMON_METHODS,
  isMutating,
  routeKey,
  type RouteTypes,
  routeType,
} from './route-type.js'
import { readKeys } from './reads.js'
import { checkOptions, type OptionNames } from '../../options.js'

/** A route with the methods that it handles. */
export interface CoveredRoute extends RecordedRoute {
  /** `ALL` stands for every method. */
  readonly methods: readonly string[]
}

export interface AssertCoverageOptions {
  /** The `routes` option of `recordRequests`. */
  readonly routes?: RouteTypes
  /**
   * The `reads` option of `recordRequests`. If it is given, every `GET` route must be in it or in `except`.
   * @default `GET` routes are not checked
   */
  readonly reads?: readonly string[]
  /**
   * Registered `api:` types that no route records, such as those of background jobs; and routes whose reads need no event, as
   * `GET /health`.
   */
  readonly except?: readonly string[]
}

/** Checks the routes of a router, or what else has the routes of a framework. */
export interface AssertCoverage<Router> {
  /**
   * Checks in a test that routes and registered event types agree: every mutating route records a registered
   * `api:<controller>:<method>`, every registered `api:` type is recorded by a route, and every entry of
   * `routes` belongs to a route. With `reads`, also: every route in `reads` exists and records a registered type, and every other
   * `GET` route is in `except`. Throws `NOT_COVERED` with a list of the mismatches; the message of `cause` has
   * the full list, one per line.
   */
  (router: Router, types: EventTypes, options?: AssertCoverageOptions): void
}

const COVERAGE_OPTIONS: OptionNames<AssertCoverageOptions> = {
  routes: true,
  reads: true,
  except: true,
}

/** A route with one of its methods. */
interface Handled {
  readonly method: string
  readonly key: string
}

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
  const reads = readKeys(options.reads)
  checkRouteTypes(routes, reads)
  const handled = declared.flatMap((route) =>
    (route.methods.includes('ALL') ? COMMON_METHODS : route.methods).map((method) => ({
      method,
      key: routeKey(method, route),
      route,
    })),
  )
  const isRecorded = ({ method, key }: Handled): boolean => isMutating(method) || reads.has(key)
  const covered = handled.filter(isRecorded).map(({ method, key, route }) => {
    const type = routeType(route, method, types, routes)
    return { key, type: type ? `api:${type.controller}:${type.method}` : undefined }
  })
  const isUnread = (one: Handled): boolean => one.method === 'GET' && !isRecorded(one)
  const unread = new Set(
    options.reads === undefined ? [] : handled.filter(isUnread).map(({ key }) => key),
  )
  const recorded = new Set([...covered.map(({ type }) => type), ...except])
  const keys = new Set(covered.map(({ key }) => key))
  const missing = (name: string, given: Iterable<string>): readonly string[] =>
    [...given]
      .filter((key) => !keys.has(key))
      .map((key) => `${name} has ${key}, which is not a route`)
  const faults = new Set([
    ...covered
      .filter(({ type }) => type !== undefined && !Object.hasOwn(types, type))
      .map(({ key, type }) => `${key} records ${type}, which is not registered`),
    ...Object.keys(types)
      .filter((type) => splitEventType(type).level === 'api' && !recorded.has(type))
      .map((type) => `${type} is registered, but no route records it`),
    ...[...unread]
      .filter((key) => !except.includes(key))
      .map((key) => `${key} is neither in reads nor in except`),
    ...missing('reads', reads),
    ...missing('routes', Object.keys(routes)),
    ...except
      .filter((key) => key.startsWith('GET ') && !unread.has(key))
      .map((key) => `except has ${key}, which is not a GET route outside of reads`),
  ])
  if (faults.size === 0) return
  const list = [...faults].join('\n')
  throw new AuditLogError('NOT_COVERED', `routes and event types do not match:\n${list}`, {
    cause: new Error(list),
  })
}
