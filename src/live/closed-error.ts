import { AuditLogError } from '../errors.js'

export const liveClosed = (reason: string): AuditLogError =>
  new AuditLogError('LIVE_CLOSED', `the live event ${reason}`)
