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
export { recordError, recordErrors } from '../../src/http/node/thrown.js'
export type { VerifyUser } from '../../src/http/basic-auth.js'
export type { EventsRead } from '../../src/http/events/access.js'
export type { Visible } from '../../src/http/visible-filter.js'
export type { EventsAction } from '../../src/http/events/routes.js'
export type {
  FailureCount,
  FailureCounter,
  FailureCounterOptions,
  FailureStore,
} from '../../src/http/failure-counters.js'
export type { FailureLimits } from '../../src/http/login-rate-limit.js'
