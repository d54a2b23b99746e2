import { AuditLogError } from '../../src/errors.js'
import { coverage, type CoveredRoute } from '../../src/http/record/coverage.js'
import { isOwnHandler } from './exchange.js'
import type { FastifyApp } from './fastify.js'

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
 * Checks the routes of an app that has registered {@link recordRequests}, with `await`, before its routes, and that is ready.
 */
export const assertCoverage = /* @__PURE__ */ coverage((app: object) => {
  const routes = routesOf.get(app)
  if (!routes)
    throw new AuditLogError('INVALID_OPTION', 'the app has not registered recordRequests')
  return routes
})
