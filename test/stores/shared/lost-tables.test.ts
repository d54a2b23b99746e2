import Database from 'better-sqlite3'
import { AuditLog } from 'daybook'
import pg from 'pg'
import { describe, expect, it, onTestFinished } from 'vitest'
import { dropSchema } from '../../support/database.js'
import { eachStore, type EventPlace } from '../../support/event-stores.js'

/** Drops tables that another program does not know, as `drizzle-kit push` does. */
async function dropTables({ demo }: EventPlace): Promise<void> {
  if (demo.kind === 'sqlite') {
    const database = new Database(demo.filename)
    const tables = database
      .prepare(`SELECT name FROM sqlite_schema WHERE type = 'table' AND name LIKE 'daybook%'`)
      .pluck()
      .all()
    for (const table of tables) database.exec(`DROP TABLE ${String(table)}`)
    database.close()
  }
  if (demo.kind === 'postgres') {
    const client = new pg.Client({ connectionString: demo.connectionString })
    await client.connect()
    await dropSchema(client, 'daybook')
    await client.end()
  }
}

// Creating the tables again may take long on a busy machine.
const waiting = { deadlineMs: 60_000 }

const kept = eachStore.filter(([name]) => name !== 'memory')

describe.each(kept)('a log whose tables another program has dropped, on %s', (_, create) => {
  it('reports the cause and the remedy', async () => {
    const place = await create()
    onTestFinished(() => place.remove())
    const audit = new AuditLog({ store: place.open(), types: {}, waiting })
    const event = await audit.recordCustom('x')
    await dropTables(place)
    const lost = /tables of the log are gone.*drizzle-kit push.*restore a backup/
    await expect(audit.list()).rejects.toMatchObject({ code: 'STORE_FAILED', message: lost })
    await expect(audit.importEvents([event!])).rejects.toMatchObject({ message: lost })
    const { store } = await audit.health({ timeoutMs: 60_000 })
    expect(store.error?.message).toMatch(lost)
    await audit.close()
    const again = new AuditLog({ store: place.open(), types: {}, waiting })
    expect(await again.recordCustom('x')).toBeDefined()
    await again.close()
  })
})
