import { slack } from 'daybook/channels'
import { memoryStore } from 'daybook/memory'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { fakeTime, openLog, until } from './world.js'

beforeEach(fakeTime)
afterEach(() => vi.useRealTimers())

it('an event whose text cannot be rendered is reported as such, and parked', async () => {
  const chat = slack({
    url: 'http://127.0.0.1:1/',
    render: () => {
      throw new Error('no name')
    },
  })
  const audit = openLog(memoryStore(), {
    channels: { chat },
    subscriptions: { all: { channel: 'chat', filter: 'filter[type_eq]=test:number' } },
  })
  await audit.recordCustom('test:number', { n: 1 })
  const { id } = (await audit.subscriptions.list())[0]!
  await until(async () => (await audit.subscriptions.parked(id)).length === 1)
  const { events } = await audit.list('filter[type_end]=:error')
  // That it was parked is the same type, which is recorded once an hour.
  expect(events).toMatchObject([
    {
      type: 'api:event_processor:error',
      attributes: { subscription: 'all', error: 'no name', attempt: 1 },
    },
  ])
  expect(await audit.subscriptions.parked(id)).toMatchObject([
    { last_error: { kind: 'rendering' } },
  ])
  await audit.close()
})
