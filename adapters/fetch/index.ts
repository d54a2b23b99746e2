export { auditHealth, type AuditHealthOptions } from './audit-health.js'
export { auditPage, type AuditPageOptions } from './audit-page.js'
export { auditRoutes, type AuditRoutesOptions } from './audit-routes.js'
export { basicAuth, type BasicAuthOptions } from './basic-auth.js'
export type { AssertCoverageOptions } from '../../src/http/record/coverage.js'
export { assertCoverage } from '../../src/http/record/listed-routes.js'
export type { FetchHandler, FetchMiddleware, FetchMount, FetchRequest } from './fetch.js'
export { listRoute, type ListRouteOptions } from './list-route.js'
export { logRoutes, type LogRoutesOptions } from './log-routes.js'
export {
  recordRequests,
  type RecordHandler,
  type RecordRequestsOptions,
} from './record-requests.js'
export { subscriptionRoutes, type SubscriptionRoutesOptions } from './subscription-routes.js'
export { viewRoutes, type ViewRoutesOptions } from './view-routes.js'
export type { SubscriptionsAction } from '../../src/http/subscriptions/actions.js'
export type { ViewsAction } from '../../src/http/views/actions.js'
export type * from '../../src/http/events/shared-types.js'
