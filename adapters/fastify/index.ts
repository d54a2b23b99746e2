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
export { recordRequests, type RecordRequestsOptions } from './record-requests.js'
export { recordError } from '../../src/http/node/thrown.js'
export type { SubscriptionsAction } from '../../src/http/subscriptions/actions.js'
export type { ViewsAction } from '../../src/http/views/actions.js'
export type * from '../../src/http/events/shared-types.js'
