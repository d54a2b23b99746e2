import type { EventTypes } from '../../src/event/event-types.js'
import { type AssertCoverageOptions, checkCoverage } from '../../src/http/record/coverage.js'
import { COMMON_MUTATING_METHODS } from '../../src/http/record/route-type.js'
import type { RouterLayer } from './koa.js'

export type { AssertCoverageOptions }

/** A router of @koa/router, including nested routers. */
export interface CoveredRouter {
  readonly stack: readonly RouterLayer[]
}

/** Only `router.all` declares CONNECT, which Node never gives to a handler. */
const isForAll = (methods: readonly string[]): boolean => methods.includes('CONNECT')

const isCommon = (method: string): boolean => COMMON_MUTATING_METHODS.includes(method)

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
  const layers = [router].flat().flatMap(({ stack }: CoveredRouter) => stack)
  const declared = layers.map(({ path, name, methods }) => ({
    path,
    name,
    methods: isForAll(methods) ? methods.filter(isCommon) : methods,
  }))
  checkCoverage(declared, types, options)
}
