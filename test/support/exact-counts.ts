import type { AuditLog } from 'daybook'

/** Gives counts and groups enough time on a busy machine, so that they are exact instead of estimates. */
export function countExactly(audit: Pick<AuditLog, 'count' | 'groups'>): void {
  const { count, groups } = audit
  audit.groups = (query, options) => groups.call(audit, query, { ...options, within: 60_000 })
  audit.count = (query, options) => count.call(audit, query, { ...options, within: 60_000 })
}
