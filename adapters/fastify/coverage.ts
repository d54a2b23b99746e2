import { AuditLogError } from '../../src/errors.js'
import type { EventTypes } from '../../src/event/event-types.js'
import {
  type AssertCoverageOptions,
  checkCoverage,
  type CoveredRoute,
} from '../../src/http/record/coverage.js'
import { isOwnHandler } from './exchange.js'
import type { FastifyApp } from './fastify.js'

export type { AssertCoverageOptions }

const routesOf = new WeakMap<object, CoveredRoute[]>()

/** Keeps the routes that are added to the app from now on. */
export function noteRoutes(app: FastifyApp): void {
  const routes: CoveredRoute[] = []
  routesOf.set(app, routes)
  app.addHook('onRoute', ({ method, url, handler }) => {
    if (isOwnHandler(handler)) return
    routes.push({ path: url, methods: [method].flat() })
  })
}

/**
 * Checks in a test that routes and registered event types agree: every mutating route records a registered
 * `api:<controller>:<method>`, every registered `api:` type is recorded by a route, and every entry of
 * `routes` belongs to a route. The app must have registered {@link recordRequests}, with `await`, before its
 * routes, and must be ready. Throws `NOT_COVERED` with a list of the mismatches; the message of `cause` has the full list,
 * one per line.
 */
export function assertCoverage(
  app: object,
  types: EventTypes,
  options: AssertCoverageOptions = {},
): void {
  const routes = routesOf.get(app)
  if (!routes)
    throw new AuditLogError('INVALID_OPTION', 'the app has not registered recordRequests')
  checkCoverage(routes, types, options)
}
