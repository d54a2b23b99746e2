import { expect, it } from 'vitest'
import { attributesJson, LazyEvent } from '../../../src/event/lazy-event.js'
import { lazyPage } from '../../../src/store-kit/lazy-page.js'
import { plainEvent } from '../../support/plain-events.js'

const { attributes: _, ...own } = plainEvent({ username: 'ann', type: 'deploy:note' })

it('keeps its text if a store only matched its attributes', () => {
  const [read, unread] = ['{"count": 1}', '{"count": 2}'].map((json) => new LazyEvent(own, json))
  const plain = { ...own, attributes: { count: 3 } }
  expect(read!.attributes).toEqual({ count: 1 })
  const { events, truncated } = lazyPage({ events: [read!, unread!, plain], truncated: true }, true)
  expect(events.map(attributesJson)).toEqual(['{"count": 1}', '{"count": 2}', '{"count":3}'])
  expect(events.map((event) => ({ ...event, attributes: event.attributes }))).toEqual(
    [1, 2, 3].map((count) => ({ ...own, attributes: { count } })),
  )
  expect(truncated).toBe(true)
})
