import type { AuditEvent } from '../event/event.js'
import type { LogEvent } from './named-logs.js'

/** Remembers the logs of events, for code that works with events of one log. */
export interface EventLogs {
  /** The events without their logs. */
  readonly take: (events: readonly LogEvent[]) => readonly AuditEvent[]
  readonly takePages: (
    pages: AsyncIterable<readonly LogEvent[]>,
  ) => AsyncGenerator<readonly AuditEvent[], void, void>
  /** The key of the log of an event that was taken. */
  readonly logOf: (event: AuditEvent) => string
}

export function createEventLogs(): EventLogs {
  const logs = new WeakMap<AuditEvent, string>()
  const take: EventLogs['take'] = (events) =>
    events.map(({ log, event }) => {
      logs.set(event, log)
      return event
    })
  return {
    take,
    async *takePages(pages) {
      for await (const events of pages) yield take(events)
    },
    logOf: (event) => logs.get(event)!,
  }
}
