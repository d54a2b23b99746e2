import type { AuditLogs } from '../../audit-logs.js'
import type { AuditEvent } from '../../event/event.js'
import type { LogEvent } from '../../logs/named-logs.js'
import { createOpenEventFinder } from '../events/open-events.js'

/** The events by log. */
export function byLog(events: readonly LogEvent[]): ReadonlyMap<string, readonly AuditEvent[]> {
  const found = new Map<string, AuditEvent[]>()
  for (const { log, event } of events) {
    const known = found.get(log)
    if (known) known.push(event)
    else found.set(log, [event])
  }
  return found
}

/** Ids that include those of the open live events among these. */
export async function openAmong(
  logs: AuditLogs,
  events: readonly LogEvent[],
  signal: AbortSignal,
): Promise<ReadonlySet<string>> {
  const open = new Set<string>()
  for (const [log, some] of byLog(events))
    for (const id of await createOpenEventFinder(logs.log(log))(some, { signal })) open.add(id)
  return open
}
