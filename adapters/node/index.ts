export { auditHealth, type AuditHealthOptions } from '../../src/http/node/audit-health.js'
export { auditPage, type AuditPageOptions } from '../../src/http/node/audit-page.js'
export { auditRoutes, type AuditRoutesOptions } from '../../src/http/node/audit-routes.js'
export { basicAuth, type BasicAuthOptions } from '../../src/http/node/basic-auth.js'
export { listRoute, type ListRouteOptions } from '../../src/http/node/list-route.js'
export { logRoutes, type LogRoutesOptions } from '../../src/http/node/log-routes.js'
export type { Next, NodeListener, NodeMiddleware, NodeRequest } from '../../src/http/node/node.js'
export {
  recordListener,
  type RecordedListener,
  recordRequests,
  type RecordRequestsOptions,
} from '../../src/http/node/record-requests.js'
export {
  subscriptionRoutes,
  type SubscriptionRoutesOptions,
} from '../../src/http/node/subscription-routes.js'
export { recordError, recordErrors } from '../../src/http/node/thrown.js'
export type { AssertCoverageOptions } from '../../src/http/record/coverage.js'
export { assertCoverage } from '../../src/http/record/listed-routes.js'
export type { SubscriptionsAction } from '../../src/http/subscriptions/actions.js'
export { viewRoutes, type ViewRoutesOptions } from '../../src/http/node/view-routes.js'
export type { ViewsAction } from '../../src/http/views/actions.js'
export type * from '../../src/http/events/shared-types.js'
