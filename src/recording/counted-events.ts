import { eventId, type IdSuffix } from '../event/event-id.js'
import type { AuditEvent } from '../event/event.js'
import { parseTimestamp } from '../event/timestamp.js'
import type { IntentState } from './intent-state.js'
import type { EventOfIntent, OpenIntents } from './open-intents.js'

/** The intents of the log itself, with the events that this process will record. */
function* keptEvents({ open }: OpenIntents): Generator<[IdSuffix, EventOfIntent]> {
  for (const [suffix, { isOwn, event }] of open) {
    const { interrupted: _, ...attributes } = event.attributes
    if (isOwn) yield [suffix, { ...event, attributes }]
  }
}

function countedEvent([suffix, intent]: [IdSuffix, EventOfIntent]): readonly AuditEvent[] {
  const { type, username, source, attributes } = intent
  const { collapsed, unfinished, first_at } = attributes
  if (collapsed !== true || unfinished === true || typeof first_at !== 'string') return []
  const id = eventId(parseTimestamp(first_at) ?? 0, suffix)
  return [{ id, created_at: first_at, username, system: true, type, source, attributes }]
}

/**
 * The events of counted calls that no process has recorded yet, with the time of their first call. Those of this process are exact,
 * those of the others are as they were saved last, with `interrupted: true`.
 */
export async function countedEvents(
  { book, state }: { readonly book: OpenIntents; readonly state: IntentState },
  signal: AbortSignal | undefined,
): Promise<readonly AuditEvent[]> {
  const own = [...keptEvents(book)]
  const others = Object.entries(await state.ofOthers(signal))
  return [...own, ...others].flatMap(countedEvent)
}
