import type { AuditEvent } from 'daybook'
import { expect, it } from 'vitest'
import {
  attributesJson,
  plainEvent,
  LazyEvent,
  lazyPage,
} from '../../../src/store-kit/lazy-event.js'

const own: Omit<AuditEvent, 'attributes'> = {
  id: '01890a5d-ac96-774b-bcce-b302099a8057',
  created_at: '2026-01-01T00:00:00.000000Z',
  username: 'ann',
  system: true,
  type: 'deploy:note',
  source: null,
}

it('reads the attributes when they are asked for, once', () => {
  const event = new LazyEvent(own, '{"count": 1}')
  expect(event.attributes).toEqual({ count: 1 })
  expect(event.attributes).toBe(event.attributes)
})

it('gives the text as it came until the attributes are read', () => {
  const event = new LazyEvent(own, '{"count": 1}')
  expect(attributesJson(event)).toBe('{"count": 1}')
})

it('gives the text of what has become of attributes that were read', () => {
  const event = new LazyEvent(own, '{"count": 1}')
  event.attributes['count'] = 2
  expect(attributesJson(event)).toBe('{"count":2}')
})

it('makes the text of an event that any store may give', () => {
  expect(attributesJson({ ...own, attributes: { count: 1 } })).toBe('{"count":1}')
})

it('becomes an event with all members of its own', () => {
  const event = plainEvent(new LazyEvent(own, '{"count":1}'))
  expect({ ...event }).toEqual({ ...own, attributes: { count: 1 } })
})

it('leaves another event as it is', () => {
  const event = { ...own, attributes: {} }
  expect(plainEvent(event)).toBe(event)
})

it('is sent on as it came by a store that has only looked at its attributes', () => {
  const [read, unread] = ['{"count": 1}', '{"count": 2}'].map((json) => new LazyEvent(own, json))
  const plain = { ...own, attributes: { count: 3 } }
  expect(read!.attributes).toEqual({ count: 1 })
  const { events, truncated } = lazyPage({ events: [read!, unread!, plain], truncated: true })
  expect(events.map(attributesJson)).toEqual(['{"count": 1}', '{"count": 2}', '{"count":3}'])
  expect(events.map((event) => ({ ...event, attributes: event.attributes }))).toEqual(
    [1, 2, 3].map((count) => ({ ...own, attributes: { count } })),
  )
  expect(truncated).toBe(true)
})
