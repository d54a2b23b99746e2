import Database from 'better-sqlite3'
import { AuditLog } from 'daybook'
import { captureChanges, sqliteStore } from 'daybook/sqlite'
import { expect, it } from 'vitest'
import { tempDir } from '../../support/temp.js'
import { capturedIn, each } from '../shared/capture.js'

it('captures a row whose JSON would be larger than the largest text of SQLite', async () => {
  const temp = tempDir()
  const audit = new AuditLog({ store: sqliteStore({ filename: temp.file('app.db') }), types: {} })
  await audit.list()
  const database = new Database(temp.file('app.db'))
  try {
    database.exec('CREATE TABLE things (id INTEGER PRIMARY KEY, x, y)')
    captureChanges({ database, tables: ['things'] })
    database.exec(`
      INSERT INTO things VALUES (1, printf('%.*c', 170000000, char(1)), NULL);
      UPDATE things SET y = x`)
    const sizes = each(await capturedIn(audit), 'recording')
    expect(sizes).toMatchObject([{ cut_bytes: 170_000_001 }, { cut_bytes: 510_000_002 }])
  } finally {
    database.close()
    await audit.close()
    temp.remove()
  }
})
