import type { EventTypes } from '../../src/event/event-types.js'
import { type AssertCoverageOptions, checkCoverage } from '../../src/http/record/coverage.js'
import { COMMON_MUTATING_METHODS } from '../../src/http/record/route-type.js'
import type { HonoRoute } from './hono.js'
import { isMiddleware } from './routes.js'

export type { AssertCoverageOptions }

/** An app of Hono, including those that are nested in it with `route`. */
export interface CoveredApp {
  readonly routes: readonly HonoRoute[]
}

/**
 * Checks in a test that routes and registered event types agree: every mutating route records a registered
 * `api:<controller>:<method>`, every registered `api:` type is recorded by a route, and every entry of
 * `routes` belongs to a route. Functions with two parameters are middleware, not routes. Throws `NOT_COVERED` with
 * a list of the mismatches; the message of `cause` has the full list, one per line.
 */
export function assertCoverage(
  app: CoveredApp,
  types: EventTypes,
  options: AssertCoverageOptions = {},
): void {
  const declared = app.routes
    .filter((route) => !isMiddleware(route))
    .map(({ method, path }) => ({
      path,
      methods: method === 'ALL' ? COMMON_MUTATING_METHODS : [method],
    }))
  checkCoverage(declared, types, options)
}
