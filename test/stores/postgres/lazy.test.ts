import { AuditLog, type AuditEvent, type EventPage, type EventStore } from 'daybook'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { MINUTE } from '../../../src/event/timestamp.js'
import { draft, throttled } from '../../../src/testing/conformance/helpers.js'
import { manualClock } from '../../../src/testing/conformance/manual-clock.js'
import { ofOneLog } from '../../../src/event/event-of-log.js'
import { eventsDocument } from '../../../src/http/events/documents.js'
import { LazyEvent } from '../../../src/event/lazy-event.js'
import { joined } from '../../support/text-parts.js'
import { useSchemas } from '../../support/schemas.js'

const schemas = useSchemas('lazy')
const clock = manualClock('2026-01-01T00:00:00Z')
let store: EventStore
let audit: AuditLog
beforeEach(() => {
  store = schemas.openStore({ clock })
  audit = new AuditLog({ store, types: {} })
})
afterEach(() => audit.close())

const textOf = ({ events }: EventPage): string =>
  joined(eventsDocument(ofOneLog(events), () => '/api/events', {}))

const isUnread = (event: AuditEvent): boolean => event instanceof LazyEvent

/** The page of a lazy list, which must equal the page of another list. */
async function lazyList(query: string): Promise<EventPage> {
  const lazy = await audit.list(query, { lazy: true })
  const read = await audit.list(query)
  expect(read.events.some(isUnread)).toBe(false)
  expect(textOf(lazy)).toBe(textOf(read))
  expect(lazy.truncated).toBe(read.truncated)
  return lazy
}

it('leaves attributes unparsed with any filter', async () => {
  const texts = [{ n: 1, 'Grüße 🎈': '\ud800"\\\u0000' }, { n: 2, 9: 1, 1: [1e21, -0.5] }, {}]
  await store.append(texts.map((attributes) => draft(attributes)))
  for (const query of ['', 'filter[n_not_null]=1', 'filter[sorts]=n desc', 'limit=1']) {
    const { events } = await lazyList(query)
    expect(events.length, query).toBeGreaterThan(0)
    expect(events.every(isUnread), query).toBe(true)
  }
})

it('parses attributes to which SQL may have added members', async () => {
  const own = { suppressed_count: 'mine', n: 1, suppressed_since: 'then' }
  await store.append([throttled(own)])
  await store.append([throttled(own)])
  await store.reportSuppressed({
    reporter: 'test',
    number: 1,
    counts: [
      {
        ...{ key: 'test:event', type: 'test:event', scope: {}, period: MINUTE, count: 3 },
        ...{ first: 1_767_225_600_000_001, last: 1_767_225_600_000_002 },
      },
    ],
  })
  clock.advance(2 * MINUTE)
  await store.append([throttled(own)])
  const { events } = await lazyList('')
  expect(events.map(isUnread)).toContain(false)
  const text = textOf({ events, truncated: false })
  expect(text.match(/"suppressed_count":3/g)).toHaveLength(1)
  expect(text.match(/"suppressed_count"/g)).toHaveLength(events.length)
})
