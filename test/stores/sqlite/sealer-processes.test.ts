import Database from 'better-sqlite3'
import { describe, expect, it } from 'vitest'
import { createSqliteStore } from '../../../adapters/sqlite/sqlite-store.js'
import { sqliteTruth } from '../../support/sqlite-index.js'
import { tempDir } from '../../support/temp.js'
import { TUNING } from '../shared/sealer.js'
import { describeSealerProcesses, useProcesses } from '../shared/sealer-processes.js'

let temp: ReturnType<typeof tempDir>
let filename: string

function read(sql: string): unknown {
  const database = new Database(filename, { readonly: true })
  try {
    return database.prepare(sql).pluck().get()
  } finally {
    database.close()
  }
}

const fixture = useProcesses({
  async begin() {
    temp = tempDir()
    filename = temp.file('audit.db')
  },
  place: () => ({ filename }),
  truth: async () => sqliteTruth(filename),
  async settle(leaseMs) {
    const { store, sealer } = createSqliteStore({ filename }, { tuning: TUNING, leaseMs })
    await sealer.settled()
    await store.close()
  },
  leaseHolder: async () => read(`SELECT value FROM daybook_state WHERE key = 'sqlite:sealing'`),
  // A process that is suspended within a transaction keeps the lock.
  async isWritable() {
    const database = new Database(filename, { timeout: 0 })
    try {
      database.exec('BEGIN IMMEDIATE; ROLLBACK')
      return true
    } catch {
      return false
    } finally {
      database.close()
    }
  },
  segmentsBegun: async () =>
    Number(read(`SELECT seq FROM sqlite_sequence WHERE name = 'daybook_segments'`)),
  remove: () => temp.remove(),
})

describe('several processes with a file', () => {
  describeSealerProcesses(fixture)

  it('the sealing thread keeps no process running', async () => {
    const child = fixture.start({ count: 40, end: 'exit' })
    expect(await child.ended).toBe(0)
    expect(sqliteTruth(filename)).toMatchObject({ missing: [], damage: [] })
  })
})
