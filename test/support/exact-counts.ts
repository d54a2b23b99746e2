import type { AuditLog } from 'daybook'

/** Gives counts enough time on a busy machine, so that they are exact instead of estimates. */
export function countExactly(audit: Pick<AuditLog, 'count'>): void {
  const { count } = audit
  audit.count = (query, options) => count.call(audit, query, { ...options, within: 60_000 })
}
