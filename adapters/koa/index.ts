export { auditRoutes, type AuditRoutesOptions } from './audit-routes.js'
export { basicAuth, type BasicAuthOptions, type VerifyUser } from './basic-auth.js'
export {
  type DescribeRequest,
  recordRequests,
  type RecordRequestsOptions,
} from './record-requests.js'
