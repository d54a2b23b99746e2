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
export { basicAuth } from './basic-auth.js'
export type { BasicAuthOptions } from '../../src/http/node/basic-auth.js'
export type { Next, NodeListener, NodeMiddleware, NodeRequest } from '../../src/http/node/node.js'
export { assertCoverage, type AssertCoverageOptions, type CoveredRouter } from './coverage.js'
export type { ExpressApp, ExpressRequest, ExpressRouter } from './express.js'
export { recordRequests, type RecordRequestsOptions } from './record-requests.js'
export { recordError, recordErrors } from '../../src/http/node/thrown.js'
export type { SubscriptionsAction } from '../../src/http/subscriptions/actions.js'
export type { ViewsAction } from '../../src/http/views/actions.js'
export type * from '../../src/http/events/shared-types.js'
