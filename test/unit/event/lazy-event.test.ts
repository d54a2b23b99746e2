import { expect, it } from 'vitest'
import { attributesJson, plainEvent, LazyEvent } from '../../../src/event/lazy-event.js'
import { plainEvent as storedEvent } from '../../support/plain-events.js'

const { attributes: _, ...own } = storedEvent({ username: 'ann', type: 'deploy:note' })

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
