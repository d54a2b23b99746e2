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
export type { AssertCoverageOptions } from '../../src/http/record/coverage.js'
export { assertCoverage } from '../../src/http/record/listed-routes.js'
export type { FetchHandler, FetchMiddleware, FetchMount, FetchRequest } from './fetch.js'
export {
  recordRequests,
  type RecordHandler,
  type RecordRequestsOptions,
} from './record-requests.js'
export type { SubscriptionsAction } from '../../src/http/subscriptions/actions.js'
export type { ViewsAction } from '../../src/http/views/actions.js'
export type * from '../../src/http/events/shared-types.js'
