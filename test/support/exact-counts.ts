import { AuditLog } from 'daybook'

type Counting = Pick<AuditLog, 'count' | 'groups'>

/** Gives a count enough time to be exact, also on a busy machine. */
export const EXACTLY = { within: 60_000 } as const

/** Gives counts and groups enough time to be exact, also on a busy machine. */
export const countExactly = (audit: Counting): void => countWithin(audit, EXACTLY.within)

/** Gives each count, and each grouping, this time. With 0, counts are lower bounds except in small logs. */
export function countWithin(audit: Counting, within: number): void {
  const { count, groups } = AuditLog.prototype
  audit.count = (query, options) => count.call(audit, query, { ...options, within })
  audit.groups = (query, options) => groups.call(audit, query, { ...options, within })
}
