import { type AuditEvent, AuditLog, type ResolveSource } from 'daybook'
import { memoryStore } from 'daybook/memory'
import { workflowLinks } from 'daybook/workflow'
import { serviceEventTypes } from '../event-types.js'
import { type Moment, scenariosOf } from './scenarios.js'

export const HISTORY_DAYS = 5

const BATCH = 500

/** Midnight of the day that lies so many days before `now`, in local time. */
function midnight(now: Date, daysBefore: number): number {
  return new Date(now.getFullYear(), now.getMonth(), now.getDate() - daysBefore).getTime()
}

/** Moments with their times in milliseconds, in the order of time. */
function momentsBefore(now: Date): readonly (readonly [time: number, Moment])[] {
  const moments: [number, Moment][] = []
  for (let day = HISTORY_DAYS; day >= 1; day--)
    for (const [second, scenario, username] of scenariosOf(day)) {
      let time = midnight(now, day) + second * 1000
      for (const moment of scenario(username)) moments.push([(time += moment.after * 1000), moment])
    }
  return moments.toSorted(([a], [b]) => a - b)
}

/**
 * The events of the days before `now`, made by a log of their own with the same types. Each has the attribute
 * `demo_history`.
 */
export async function makeHistory(
  now: Date,
  resolveSource: ResolveSource,
): Promise<readonly AuditEvent[]> {
  let time = midnight(now, HISTORY_DAYS) * 1000
  const store = memoryStore({ clock: () => time })
  await using audit: AuditLog = new AuditLog({
    // The import into the log of the service encrypts.
    privacy: false,
    store,
    types: serviceEventTypes,
    strict: true,
    links: workflowLinks,
    resolveSource,
  })
  const events: AuditEvent[] = []
  for (const [ms, { type, username, data }] of momentsBefore(now)) {
    time = ms * 1000
    const event = await audit.recordSystem(type, data, { username })
    if (event) events.push({ ...event, attributes: { ...event.attributes, demo_history: true } })
  }
  return events
}

/** Imports the history; resolves to the number of its events. */
export async function importHistory(
  audit: Pick<AuditLog, 'importEvents'>,
  resolveSource: ResolveSource,
): Promise<number> {
  const events = await makeHistory(new Date(), resolveSource)
  for (let i = 0; i < events.length; i += BATCH)
    await audit.importEvents(events.slice(i, i + BATCH))
  return events.length
}
