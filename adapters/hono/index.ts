export {
  auditHealth,
  type AuditHealthOptions,
  auditPage,
  type AuditPageOptions,
  auditRoutes,
  type AuditRoutesOptions,
  listRoute,
  type ListRouteOptions,
  logRoutes,
  type LogRoutesOptions,
  subscriptionRoutes,
  type SubscriptionRoutesOptions,
  viewRoutes,
  type ViewRoutesOptions,
} from './mounts.js'
export { basicAuth, type BasicAuthOptions } from './basic-auth.js'
export { assertCoverage, type AssertCoverageOptions, type CoveredApp } from './coverage.js'
export type { HonoContext, HonoHandler, HonoMiddleware, HonoRoute } from './hono.js'
export { recordRequests, type RecordRequestsOptions } from './record-requests.js'
export type { SubscriptionsAction } from '../../src/http/subscriptions/actions.js'
export type { ViewsAction } from '../../src/http/views/actions.js'
export type * from '../../src/http/events/shared-types.js'
