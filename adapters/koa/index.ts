export { auditRoutes, type AuditRoutesOptions } from './audit-routes.js'
export { basicAuth, type BasicAuthOptions, type VerifyUser } from './basic-auth.js'
export type { KoaContext, KoaMiddleware, RoutedContext } from './koa.js'
export { recordRequests, type RecordRequestsOptions } from './record-requests.js'
