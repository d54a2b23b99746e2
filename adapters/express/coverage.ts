import type { EventTypes } from '../../src/event/event-types.js'
import { type AssertCoverageOptions, checkCoverage } from '../../src/http/record/coverage.js'
import type { ExpressApp, ExpressRouter } from './express.js'
import { declaredRoutes } from './routes.js'

export type { AssertCoverageOptions }

/** An app or a router of Express, including nested routers. Pass the apps that are mounted in it, too. */
export type CoveredRouter = ExpressRouter | ExpressApp

const isApp = (router: CoveredRouter): router is ExpressApp => 'router' in router

/** The path of a mounted app. */
const prefixOf = (app: ExpressApp): string =>
  app.parent ? prefixOf(app.parent) + [app.mountpath].flat()[0]!.replace(/\/$/, '') : ''

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
  const declared = [router]
    .flat()
    .flatMap((one: CoveredRouter) =>
      isApp(one) ? declaredRoutes(one.router, prefixOf(one)) : declaredRoutes(one, ''),
    )
  checkCoverage(declared, types, options)
}
