import type { AuditEvent } from 'daybook'
import { expect, it } from 'vitest'
import { attributesJson, plainEvent, LazyEvent } from '../../../src/event/lazy-event.js'

const own: Omit<AuditEvent, 'attributes'> = {
  id: '01890a5d-ac96-774b-bcce-b302099a8057',
  created_at: '2026-01-01T00:00:00.000000Z',
  username: 'ann',
  system: true,
  type: 'deploy:note',
  source: null,
}

it('parses the attributes once, when they are first read', () => {
  const event = new LazyEvent(own, '{"count": 1}')
  expect(event.attributes).toEqual({ count: 1 })
  expect(event.attributes).toBe(event.attributes)
})

it('returns the original text until the attributes are read', () => {
  const event = new LazyEvent(own, '{"count": 1}')
  expect(attributesJson(event)).toBe('{"count": 1}')
})

it('serializes the attributes again after they were read', () => {
  const event = new LazyEvent(own, '{"count": 1}')
  event.attributes['count'] = 2
  expect(attributesJson(event)).toBe('{"count":2}')
})

it('serializes a plain event', () => {
  expect(attributesJson({ ...own, attributes: { count: 1 } })).toBe('{"count":1}')
})

it('can be turned into a plain event', () => {
  const event = plainEvent(new LazyEvent(own, '{"count":1}'))
  expect({ ...event }).toEqual({ ...own, attributes: { count: 1 } })
})

it('leaves a plain event unchanged', () => {
  const event = { ...own, attributes: {} }
  expect(plainEvent(event)).toBe(event)
})
