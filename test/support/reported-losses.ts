import type { AuditEvent, AuditLog } from 'daybook'

/** The losses that a log reports, by type and reason. */
export interface ReportedLosses {
  /** The sums of the gap reports by `<type> <reason>`. */
  readonly gaps: ReadonlyMap<string, number>
  /** Suppressed calls by type, from `suppressed_count` and from gap reports. */
  readonly suppressed: ReadonlyMap<string, number>
}

interface GapLoss {
  readonly type: string
  readonly reason: string
  readonly count: number
}

const add = (sums: Map<string, number>, key: string, count: number): void =>
  void sums.set(key, (sums.get(key) ?? 0) + count)

export function reportedLosses(events: readonly AuditEvent[]): ReportedLosses {
  const gaps = new Map<string, number>()
  const suppressed = new Map<string, number>()
  for (const { type, attributes } of events) {
    if (type === 'warn:audit_log:gap')
      for (const loss of attributes['losses'] as unknown as GapLoss[])
        if (loss.reason === 'throttled') add(suppressed, loss.type, loss.count)
        else add(gaps, `${loss.type} ${loss.reason}`, loss.count)
    const count = attributes['suppressed_count']
    if (count !== undefined) add(suppressed, type, count as number)
  }
  return { gaps, suppressed }
}

/** All events of a log, oldest first. */
export async function allEvents(audit: AuditLog): Promise<AuditEvent[]> {
  const found: AuditEvent[] = []
  for await (const events of audit.pages('filter[sorts]=created_at')) found.push(...events)
  return found
}
