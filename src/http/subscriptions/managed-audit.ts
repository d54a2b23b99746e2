import type { AuditLog } from '../../audit-log.js'

/** The part of an audit log that the endpoints need. */
export type ManagedAudit = Pick<AuditLog, 'subscriptions'>
