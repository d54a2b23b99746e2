import Database from 'better-sqlite3'
import { describe, expect, it } from 'vitest'
import { createSqliteStore } from '../../../adapters/sqlite/sqlite-store.js'
import { sqliteTruth } from '../../support/sqlite-index.js'
import { useSqliteFile } from '../../support/sqlite-file.js'
import { isWritable } from '../../support/sqlite-lock.js'
import { TUNING } from '../shared/sealer.js'
import { describeSealerProcesses, useProcesses } from '../shared/sealer-processes.js'

const file = useSqliteFile()

/** Leaves the file in the state in which a killed process has left it. */
function read(sql: string): unknown {
  const database = new Database(file.filename, { readonly: true })
  try {
    return database.prepare(sql).pluck().get()
  } finally {
    database.close()
  }
}

const fixture = useProcesses({
  place: () => ({ filename: file.filename }),
  truth: async () => sqliteTruth(file.filename),
  async settle(leaseMs) {
    const { store, sealer } = createSqliteStore(
      { filename: file.filename },
      { tuning: TUNING, leaseMs },
    )
    await sealer.settled()
    await store.close()
  },
  leaseHolder: async () => read(`SELECT value FROM daybook_state WHERE key = 'sqlite:sealing'`),
  isWritable: async () => isWritable(file.filename),
  segmentsBegun: async () =>
    Number(read(`SELECT seq FROM sqlite_sequence WHERE name = 'daybook_segments'`)),
})

describe('several processes with a file', () => {
  describeSealerProcesses(fixture)

  it('the sealing thread keeps no process running', async () => {
    const child = fixture.start({ count: 16, end: 'exit' })
    expect(await child.ended).toBe(0)
    expect(sqliteTruth(file.filename)).toMatchObject({ missing: [], damage: [] })
  })
})
