import { coverage } from '../../src/http/record/coverage.js'
import type { HonoRoute } from './hono.js'
import { isMiddleware } from './routes.js'

/** An app of Hono, including those that are nested in it with `route`. */
export interface CoveredApp {
  readonly routes: readonly HonoRoute[]
}

/** Checks the routes of an app. Functions with two parameters are middleware, not routes. */
export const assertCoverage = /* @__PURE__ */ coverage(({ routes }: CoveredApp) =>
  routes
    .filter((route) => !isMiddleware(route))
    .map(({ method, path }) => ({ path, methods: [method] })),
)
