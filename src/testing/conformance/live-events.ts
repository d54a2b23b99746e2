import assert from 'node:assert/strict'
import type { AuditEvent, EventDraft, JsonObject } from '../../event/event.js'
import type { EventStore, LiveChange } from '../../store/store.js'
import { draft } from './helpers.js'

export async function openLive(
  store: EventStore,
  attributes: JsonObject,
  overrides: Partial<EventDraft> = {},
): Promise<AuditEvent> {
  const [event] = await store.append([draft(attributes, { live: true, ...overrides })])
  return event!
}

type TextChange = NonNullable<LiveChange['texts']>[number]

/** Adds to a text. */
export const more = (key: string, text: string): TextChange => ({ key, text, replaces: false })

/** Takes the place of a text. */
export const anew = (key: string, text: string): TextChange => ({ key, text, replaces: true })

/** The event is everywhere as it is with these attributes, to the order of their keys. */
export async function assertIs(
  store: EventStore,
  event: AuditEvent,
  attributes: JsonObject,
): Promise<void> {
  const expected = { ...event, attributes }
  const read = await store.get(event.id)
  assert.deepEqual(read, expected)
  assert.equal(JSON.stringify(read?.attributes), JSON.stringify(attributes))
  const page = await store.list({ where: undefined, sorts: [], limit: 1000 })
  assert.deepEqual(
    page.events.filter(({ id }) => id === event.id),
    [expected],
  )
}
