import type { AuditEvent } from './event.js'

/** An event that was read, and the key of its log if several logs were read. */
export interface EventOfLog {
  readonly event: AuditEvent
  readonly log?: string | undefined
}

export const ofOneLog = (events: readonly AuditEvent[]): readonly EventOfLog[] =>
  events.map((event) => ({ event }))

/** The pages of one log, as the pages of several have them. */
export async function* pagesOfOneLog(
  pages: AsyncIterable<readonly AuditEvent[]>,
): AsyncGenerator<readonly EventOfLog[], void, void> {
  for await (const events of pages) yield ofOneLog(events)
}

export const eventsOf = (items: readonly EventOfLog[]): readonly AuditEvent[] =>
  items.map(({ event }) => event)

/** The events of each log. */
export function byLog(
  items: readonly EventOfLog[],
): ReadonlyMap<string | undefined, readonly AuditEvent[]> {
  const found = new Map<string | undefined, AuditEvent[]>()
  for (const { log, event } of items) {
    const known = found.get(log)
    if (known) known.push(event)
    else found.set(log, [event])
  }
  return found
}
