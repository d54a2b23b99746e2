export { auditHealth, type AuditHealthOptions } from './audit-health.js'
export { auditPage, type AuditPageOptions } from './audit-page.js'
export { auditRoutes, type AuditRoutesOptions } from './audit-routes.js'
export { basicAuth } from './basic-auth.js'
export type { BasicAuthOptions } from '../../src/http/basic-auth.js'
export { assertCoverage, type AssertCoverageOptions } from './coverage.js'
export type {
  FastifyApp,
  FastifyHandler,
  FastifyPlugin,
  FastifyReply,
  FastifyRequest,
} from './fastify.js'
export { listRoute, type ListRouteOptions } from './list-route.js'
export { logRoutes, type LogRoutesOptions } from './log-routes.js'
export { recordRequests, type RecordRequestsOptions } from './record-requests.js'
export { recordError } from '../../src/http/node/thrown.js'
export { subscriptionRoutes, type SubscriptionRoutesOptions } from './subscription-routes.js'
export { viewRoutes, type ViewRoutesOptions } from './view-routes.js'
export type { SubscriptionsAction } from '../../src/http/subscriptions/actions.js'
export type { ViewsAction } from '../../src/http/views/actions.js'
export type * from '../../src/http/events/shared-types.js'
