import Database from 'better-sqlite3'
import { memoryStore } from 'daybook/memory'
import { sqliteStore } from 'daybook/sqlite'
import type { CreateStore } from 'daybook/testing'
import { expect, it } from 'vitest'
import { tempDir } from '../support/temp.js'
import { describeStore } from './describe-store.js'

const createSqliteStore: CreateStore = ({ clock }) => {
  const temp = tempDir()
  const filename = temp.file('audit.db')
  const open = () => sqliteStore({ filename, clock })
  const begin = (kind: string) => {
    const handle = new Database(filename)
    handle.exec(`BEGIN ${kind}`)
    const end = async (command: string) => {
      handle.exec(command)
      handle.close()
    }
    return { handle, commit: () => end('COMMIT'), rollback: () => end('ROLLBACK') }
  }
  return {
    store: open(),
    reopen: async () => open(),
    transaction: async () => begin('DEFERRED'),
    // The file has one lock for writing.
    interrupt: async () => begin('IMMEDIATE').rollback,
    dispose: async () => temp.remove(),
  }
}

describeStore('memory', ({ clock }) => ({ store: memoryStore({ clock }) }))
describeStore('sqlite', createSqliteStore)

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
