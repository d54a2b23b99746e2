import { type AuditEvent, AuditLog } from 'daybook'
import { memoryStore } from 'daybook/memory'
import { onTestFinished } from 'vitest'
import { listen } from '../support/node-server.js'

/* Closes everything that a test has opened when the test has finished, in reverse order. */

/** A log in memory. */
export function openLog(): AuditLog {
  const audit: AuditLog = new AuditLog({ store: memoryStore(), types: {} })
  onTestFinished(() => audit.close())
  return audit
}

/** Serves on a free port; returns the URL. */
export async function serveOn(listener: Parameters<typeof listen>[0]): Promise<string> {
  const { url, close } = await listen(listener)
  onTestFinished(close)
  return url
}

/** The events of a log, oldest first. */
export const eventsOf = async (audit: AuditLog): Promise<readonly AuditEvent[]> =>
  (await audit.list({ limit: 1000 })).events

/** Closes a log. Resolves to the events that it records then, such as those of counted calls. */
export async function eventsAtClose(audit: AuditLog): Promise<readonly AuditEvent[]> {
  const events: AuditEvent[] = []
  audit.on('recorded', (event) => events.push(event))
  await audit.close()
  return events
}
