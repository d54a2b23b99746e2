import { slack } from 'daybook/channels'
import { expect, it } from 'vitest'
import { failing } from '../fake-store.js'
import { NUMBERS, recordNumbers, until, useWorld } from './world.js'

const { open } = useWorld()

it('an event is reported and parked if its text cannot be rendered', async () => {
  const chat = slack({
    url: 'http://127.0.0.1:1/',
    render: failing(new Error('no name')),
  })
  const audit = open({
    channels: { chat },
    subscriptions: { all: { channel: 'chat', filter: NUMBERS } },
  })
  await recordNumbers(audit, 1, 1)
  const { id } = (await audit.subscriptions.list())[0]!
  await until(async () => (await audit.subscriptions.parked(id)).length === 1)
  const { events } = await audit.list('filter[type_end]=:error')
  // The report of the parked event has the same type, which is recorded once an hour.
  expect(events).toMatchObject([
    {
      type: 'api:event_processor:error',
      attributes: { subscription: 'all', error: 'no name', attempt: 1 },
    },
  ])
  expect(await audit.subscriptions.parked(id)).toMatchObject([
    { last_error: { kind: 'rendering' } },
  ])
})
