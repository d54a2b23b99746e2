import { memoryStore } from 'daybook/memory'
import { sqliteStore } from 'daybook/sqlite'
import { type CreateStore, storeConformance } from 'daybook/testing'
import { describe, expect, it } from 'vitest'
import { tempDir } from '../support/temp.js'

const stores: Readonly<Record<string, CreateStore>> = {
  memory: ({ clock }) => ({ store: memoryStore({ clock }) }),
  sqlite: ({ clock }) => {
    const temp = tempDir()
    const open = () => sqliteStore({ filename: temp.file('audit.db'), clock })
    return { store: open(), reopen: async () => open(), dispose: async () => temp.remove() }
  },
}

for (const [name, createStore] of Object.entries(stores)) {
  describe(`${name} store`, () => {
    for (const { name: title, run } of storeConformance(createStore)) {
      it(title, async ({ skip }) => {
        const reason = await run()
        if (reason !== undefined) skip(reason)
      })
    }
  })
}

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
