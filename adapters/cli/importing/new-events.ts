import type { AuditEvent, AuditLog } from 'daybook'

/**
 * Distinguishes calls that have recorded a new event from calls that got the event of an earlier call. Run the
 * returned function when a call begins. It returns a check for the event of this call.
 */
export async function watchNew(
  audit: Pick<AuditLog, 'list'>,
): Promise<() => (event: AuditEvent) => boolean> {
  const { events } = await audit.list('limit=1')
  // A new event is later than all events that were stored when its call began.
  let newest = events[0]?.created_at ?? ''
  // Concurrent calls for one event get the same object.
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
