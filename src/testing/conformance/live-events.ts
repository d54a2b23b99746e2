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

/** Adds to the end of a text. */
export const addText = (key: string, text: string): TextChange => ({
  key,
  text,
  replaces: false,
})

/** Replaces a text. */
export const replaceText = (key: string, text: string): TextChange => ({
  key,
  text,
  replaces: true,
})

/** Checks that `get` and `list` return the event with these attributes, in the same key order. */
export async function assertAttributes(
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
