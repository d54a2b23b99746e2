import type { AuditEvent, AuditLog } from 'daybook'

/**
 * Finds out which calls have recorded an event, and which got the event of an earlier call. Run the result when a call begins: it returns the check for the event of
 * that call.
 */
export async function watchNew(
  audit: Pick<AuditLog, 'list'>,
): Promise<() => (event: AuditEvent) => boolean> {
  const { events } = await audit.list('limit=1')
  // A new event is later than all that were there when its call began.
  let newest = events[0]?.created_at ?? ''
  // Concurrent calls for one event have the same object.
  const seen = new WeakSet<AuditEvent>()
  return () => {
    const before = newest
    return (event) => {
      if (event.created_at <= before || seen.has(event)) return false
      seen.add(event)
      if (event.created_at > newest) newest = event.created_at
      return true
    }
  }
}
