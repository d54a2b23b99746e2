import { AuditLog, type AuditEvent, type EventPage } from 'daybook'
import { memoryStore } from 'daybook/memory'
import { sqliteStore } from 'daybook/sqlite'
import { manualClock } from 'daybook/testing'
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { ofOneLog } from '../../src/event/event-of-log.js'
import { eventsDocument } from '../../src/http/events/documents.js'
import type { Fieldset } from '../../src/http/events/fieldset.js'
import { LazyEvent } from '../../src/event/lazy-event.js'
import { joined } from '../support/text-parts.js'
import { tempDir } from '../support/temp.js'
import { events, query } from './arbitraries.js'

const PATH = '/api/"events"'
const LINKS = { self: PATH }

/** The JSON:API document, built without any optimization. */
function documentOf(page: EventPage, fields: Fieldset): unknown {
  const resource = ({ id, source, attributes, ...own }: AuditEvent): unknown => {
    const { type, username, system, created_at } = own
    const all = Object.entries({ type, username, system, created_at, ...attributes })
    const isRelated = source !== null && (!fields || fields.has('source'))
    return {
      type: 'event',
      id,
      attributes: Object.fromEntries(all.filter(([name]) => !fields || fields.has(name))),
      ...(isRelated && { relationships: { source: { links: { source } } } }),
      links: { self: `${PATH}/${id}` },
    }
  }
  return { jsonapi: { version: '1.1' }, data: page.events.map(resource), links: LINKS }
}

const fieldset: fc.Arbitrary<Fieldset> = fc.option(
  fc.subarray(['type', 'username', 'source', 'a', 'b', '__proto__', 'zz']).map((a) => new Set(a)),
  { nil: undefined },
)

/** Events. Every fourth one has no attributes. */
const someEmpty = events.map((all) =>
  all.map((event, i) => (i % 4 === 0 ? { ...event, attributes: {} } : event)),
)

/** Any UTF-16 code units, also those that JSON escapes, and lone surrogates. */
const text = fc
  .array(fc.oneof(fc.integer({ min: 0x20, max: 0x7f }), fc.nat(0xff), fc.nat(0xffff)), {
    maxLength: 8,
  })
  .map((units) => String.fromCharCode(...units))

it('texts of own fields are escaped as JSON.stringify does', () => {
  const event = fc.record({
    id: fc.constant('00000000-0000-4000-8000-000000000000'),
    created_at: fc.constant('2026-01-01T00:00:00.000000Z'),
    system: fc.boolean(),
    type: text,
    username: fc.option(text),
    source: fc.option(text),
    attributes: fc.constant({}),
  })
  fc.assert(
    fc.property(event, (event) => {
      const page = { events: [event], truncated: false }
      expect(joined(eventsDocument(ofOneLog(page.events), () => PATH, LINKS))).toBe(
        JSON.stringify(documentOf(page, undefined)),
      )
    }),
    { numRuns: 300 },
  )
})

it('documents are the same whether attributes are parsed or copied as text', async () => {
  let lazyEvents = 0
  await fc.assert(
    fc.asyncProperty(someEmpty, query, fieldset, async (events, query, fields) => {
      const temp = tempDir()
      const clock = manualClock('2026-06-01T00:00:00Z')
      const memory = new AuditLog({ store: memoryStore({ clock }), types: {} })
      const store = sqliteStore({ filename: temp.file('audit.db'), clock })
      const sqlite = new AuditLog({ store, types: {} })
      try {
        await memory.importEvents(events)
        await sqlite.importEvents(events)
        const plain = await memory.list(query)
        const lazy = await sqlite.list(query, { lazy: true })
        const textOf = ({ events }: EventPage): string =>
          joined(eventsDocument(ofOneLog(events), () => PATH, LINKS, { fields }))
        const text = textOf(lazy)
        expect(text).toBe(textOf(plain))
        expect(text).toBe(JSON.stringify(documentOf(plain, fields)))
        for (const event of lazy.events) if (event instanceof LazyEvent) lazyEvents++
      } finally {
        await memory.close()
        await sqlite.close()
        temp.remove()
      }
    }),
    { numRuns: 60 },
  )
  expect(lazyEvents).toBeGreaterThan(0)
})
