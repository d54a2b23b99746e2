import { coverage } from '../../../src/http/record/coverage.js'

interface CoveredApp {
  readonly '~routes': readonly { readonly route?: string; readonly method?: string }[]
}

/** Checks the routes of an app. A route without a method takes all. */
export const assertCoverage = coverage((app: CoveredApp) =>
  app['~routes'].map(({ route = '', method }) => ({ path: route, methods: [method || 'ALL'] })),
)
