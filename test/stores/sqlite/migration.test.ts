import Database from 'better-sqlite3'
import { sqliteStore } from 'daybook/sqlite'
import { beforeEach, expect, it } from 'vitest'
import { openDatabase } from '../../../adapters/sqlite/connection/database.js'
import { migrate } from '../../../adapters/sqlite/schema/migrate.js'
import type { Schema } from '../../../adapters/sqlite/schema/tables.js'
import { runScript } from '../../support/child.js'
import { useSqliteFile } from '../../support/sqlite-file.js'
import { describeMigration, VERSION_1, VERSION_2 } from '../shared/migration.js'

const file = useSqliteFile()
let host: Database.Database
beforeEach(() => {
  host = file.closing(new Database(file.filename))
})

const schemaOf = (migrations: readonly string[]): Schema => ({
  versionTable: 'notes_schema',
  migrations,
})

async function migrateTo(migrations: readonly string[]): Promise<void> {
  openDatabase(file.filename, (database) => migrate(database, schemaOf(migrations))).close()
}

const version = (): unknown => host.prepare('SELECT version FROM notes_schema').pluck().get()

describeMigration({
  migrate: migrateTo,
  run: async (sql) => host.exec(sql),
  rows: async (sql) => host.prepare(sql).all(),
  version: async () => version(),
  versionTable: 'notes_schema',
})

it('of two processes that migrate at once, one migrates and the other waits', async () => {
  await migrateTo(VERSION_1)
  host.exec('BEGIN IMMEDIATE')
  const args = [file.filename, JSON.stringify(schemaOf(VERSION_2))]
  const children = [1, 2].map(() => runScript('test/stores/sqlite/migrating-child.ts', args))
  await Promise.all(children.map((child) => child.saw('opened')))
  expect(version()).toBe(1)
  host.exec('COMMIT')
  expect(await Promise.all(children.map((child) => child.ended))).toEqual([0, 0])
  expect(children.map((child) => child.stderr())).toEqual(['', ''])
  expect(version()).toBe(2)
})

it.each(['UTF-16le', 'UTF-16be'])(
  'a database in %s is refused, by its path and by its handle',
  async (encoding) => {
    host.pragma(`encoding = '${encoding}'`)
    host.exec('CREATE TABLE orders (id TEXT)')
    const error = {
      code: 'SCHEMA_MISMATCH',
      message: expect.stringContaining(`texts in ${encoding}`) as string,
    }
    const stores = [
      () => sqliteStore({ filename: file.filename }),
      () => sqliteStore({ database: host }),
      () => sqliteStore({ filename: file.filename, readOnly: true }),
    ]
    for (const open of stores) expect(open).toThrow(expect.objectContaining(error))
    expect(host.prepare('SELECT name FROM sqlite_schema').pluck().all()).toEqual(['orders'])
  },
)
