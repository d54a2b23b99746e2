import { afterEach, expect, it } from 'vitest'
import { createConnection } from '../../../adapters/sqlite/connection/connection.js'
import { openDatabase } from '../../../adapters/sqlite/connection/database.js'
import { findDue } from '../../../adapters/sqlite/index/due.js'
import { createSqliteStore } from '../../../adapters/sqlite/sqlite-store.js'
import { INDEX_BOUNDS, maxStoredBytes } from '../../../src/store-kit/index/index-bounds.js'
import { drafts } from '../../../src/testing/conformance/helpers.js'
import { tempDir } from '../../support/temp.js'

const temp = tempDir()
afterEach(() => temp.remove())

const EVENTS = 2500
const NEVER = { segmentSize: 1e6, fanOut: 16 }

it('a check reads only some of the events, and the next check continues after them', async () => {
  const filename = temp.file('audit.db')
  const { store } = createSqliteStore({ filename }, { tuning: NEVER })
  const all = drafts(EVENTS).map((draft) => ({ ...draft, json: '{"text":"some text"}' }))
  for (let at = 0; at < EVENTS; at += 500) await store.append(all.slice(at, at + 500))
  await store.close()
  const connection = createConnection(openDatabase(filename, () => {}))
  try {
    const { size } = connection
      .statement('SELECT length(attributes) AS size FROM daybook_events LIMIT 1')
      .get() as { readonly size: number }
    const check = (events: number): unknown => {
      const factor = INDEX_BOUNDS.bytes / maxStoredBytes(INDEX_BOUNDS)
      const bounds = { ...INDEX_BOUNDS, bytes: events * size * factor }
      const options = { tuning: { ...NEVER, bounds }, compression: 'none' } as const
      return findDue(connection, options, Date.now() * 1000)
    }
    expect(check(EVENTS)).toBe('nothing')
    expect(check(1024)).toBe('due')
    expect(check(EVENTS)).toBe('nothing')
    expect(check(EVENTS)).toBe('due')
    expect(check(EVENTS + 1)).toBe('nothing')
  } finally {
    connection.database.close()
  }
})
