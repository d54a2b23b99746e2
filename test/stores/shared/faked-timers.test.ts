import { mock } from 'node:test'
import { AuditLog, type EventStore } from 'daybook'
import { afterEach, describe, expect, it, onTestFinished, vi } from 'vitest'
import { eachStore } from '../../support/event-stores.js'

afterEach(() => {
  vi.useRealTimers()
  mock.timers.reset()
})

/** Ways in which test runners replace timers. Jest uses the same as vitest. */
const FAKES: Readonly<Record<string, () => void>> = {
  'vi.useFakeTimers()': () => vi.useFakeTimers(),
  'vi.useFakeTimers() of all timers': () =>
    vi.useFakeTimers({
      toFake: [
        'setTimeout',
        'setInterval',
        'setImmediate',
        'Date',
        'performance',
        'queueMicrotask',
      ],
    }),
  'mock.timers.enable() of node:test': () => mock.timers.enable(),
}

async function recordAndRead(store: EventStore, before: () => void): Promise<void> {
  const audit = new AuditLog({ store, types: {} })
  before()
  expect(await audit.recordCustom('x', { n: 1 })).toMatchObject({ attributes: { n: 1 } })
  expect((await audit.list()).events).toHaveLength(1)
  await audit.close()
}

describe.each(eachStore)('a log of %s', (_, create) => {
  it.each(Object.entries(FAKES))('needs no timers: %s', async (_name, fake) => {
    for (const isFirst of [true, false]) {
      const place = await create()
      onTestFinished(() => place.remove())
      if (isFirst) fake()
      await recordAndRead(place.open(), isFirst ? () => {} : fake)
      vi.useRealTimers()
      mock.timers.reset()
    }
  })
})
