import { memoryStore } from 'daybook/memory'
import { expect, it } from 'vitest'
import { describeStore } from './describe-store.js'

describeStore('memory', ({ clock }) => ({ store: memoryStore({ clock }) }))

it('a large import fits into the memory store', async () => {
  const store = memoryStore()
  const events = Array.from({ length: 150_000 }, (_, i) => ({
    event: {
      id: `00000000-0000-4000-8000-${String(i).padStart(12, '0')}`,
      created_at: '',
      username: null,
      system: true,
      type: 'x',
      source: null,
      attributes: {},
    },
    time: 1_700_000_000_000_000 + i,
    json: '{}',
  }))
  expect(await store.importEvents(events)).toEqual({ imported: 150_000, skipped: 0 })
})
