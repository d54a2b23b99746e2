export { auditRoutes, type AuditRoutesOptions } from './audit-routes.js'
