import { coverage } from '../../src/http/record/coverage.js'
import type { ExpressApp, ExpressRouter } from './express.js'
import { declaredRoutes } from './routes.js'

/** An app or a router of Express, including nested routers. Pass the apps that are mounted in it, too. */
export type CoveredRouter = ExpressRouter | ExpressApp

const isApp = (router: CoveredRouter): router is ExpressApp => 'router' in router

/** The path of a mounted app. */
const prefixOf = (app: ExpressApp): string =>
  app.parent ? prefixOf(app.parent) + [app.mountpath].flat()[0]!.replace(/\/$/, '') : ''

/** Checks the routes of one or several routers and apps. */
export const assertCoverage = /* @__PURE__ */ coverage(
  (router: CoveredRouter | readonly CoveredRouter[]) =>
    [router]
      .flat()
      .flatMap((one: CoveredRouter) =>
        isApp(one) ? declaredRoutes(one.router, prefixOf(one)) : declaredRoutes(one, ''),
      ),
)
