export { auditHealth, type AuditHealthOptions } from '../../src/http/node/audit-health.js'
export { auditPage, type AuditPageOptions } from '../../src/http/node/audit-page.js'
export { auditRoutes, type AuditRoutesOptions } from '../../src/http/node/audit-routes.js'
export { basicAuth } from './basic-auth.js'
export type { BasicAuthOptions } from '../../src/http/node/basic-auth.js'
export { listRoute, type ListRouteOptions } from '../../src/http/node/list-route.js'
export type { Next, NodeListener, NodeMiddleware, NodeRequest } from '../../src/http/node/node.js'
export { assertCoverage, type AssertCoverageOptions, type CoveredRouter } from './coverage.js'
export type { ExpressApp, ExpressRequest, ExpressRouter } from './express.js'
export { recordRequests, type RecordRequestsOptions } from './record-requests.js'
export {
  subscriptionRoutes,
  type SubscriptionRoutesOptions,
} from '../../src/http/node/subscription-routes.js'
export { recordError, recordErrors } from '../../src/http/node/thrown.js'
export type { SubscriptionsAction } from '../../src/http/subscriptions/actions.js'
export { viewRoutes, type ViewRoutesOptions } from '../../src/http/node/view-routes.js'
export type { ViewsAction } from '../../src/http/views/actions.js'
export type * from '../../src/http/events/shared-types.js'
