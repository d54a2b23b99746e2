import { memoryStore } from 'daybook/memory'
import { sqliteStore } from 'daybook/sqlite'
import { type CreateStore, storeConformance } from 'daybook/testing'
import { describe, it } from 'vitest'
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
