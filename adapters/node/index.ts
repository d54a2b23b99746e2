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
} from '../../src/http/node/mounts.js'
export { basicAuth, type BasicAuthOptions } from '../../src/http/node/basic-auth.js'
export type { Next, NodeListener, NodeMiddleware, NodeRequest } from '../../src/http/node/node.js'
export {
  recordListener,
  type RecordedListener,
  recordRequests,
  type RecordRequestsOptions,
} from '../../src/http/node/record-requests.js'
export { recordError, recordErrors } from '../../src/http/node/thrown.js'
export type { AssertCoverageOptions } from '../../src/http/record/coverage.js'
export { assertCoverage } from '../../src/http/record/listed-routes.js'
export type { SubscriptionsAction } from '../../src/http/subscriptions/actions.js'
export type { ViewsAction } from '../../src/http/views/actions.js'
export type * from '../../src/http/events/shared-types.js'
