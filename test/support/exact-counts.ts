import type { AuditLog } from 'daybook'

/** Gives counts the time that a busy machine takes, so that they are exact and not estimates. */
export function countExactly(audit: Pick<AuditLog, 'count'>): void {
  const { count } = audit
  audit.count = (query, options) => count.call(audit, query, { ...options, within: 60_000 })
}
