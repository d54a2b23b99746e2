import Database from 'better-sqlite3'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { openDatabase } from '../../../adapters/sqlite/connection/database.js'
import { migrate, type Schema } from '../../../adapters/sqlite/schema/schema.js'
import { runScript } from '../../support/child.js'
import { tempDir } from '../../support/temp.js'

/* A made-up schema: a table of notes, to which version 2 adds a column. */
const VERSION_1: Schema = {
  versionTable: 'notes_schema',
  migrations: ['CREATE TABLE notes (text TEXT NOT NULL) STRICT;'],
}
const VERSION_2: Schema = {
  ...VERSION_1,
  migrations: [
    ...VERSION_1.migrations,
    'ALTER TABLE notes ADD COLUMN length INTEGER; UPDATE notes SET length = length(text);',
  ],
}

let temp: ReturnType<typeof tempDir>
let filename: string
let host: Database.Database

beforeEach(() => {
  temp = tempDir()
  filename = temp.file('notes.db')
  host = new Database(filename)
})
afterEach(() => {
  host.close()
  temp.remove()
})

const migrateTo = (schema: Schema): void => {
  openDatabase(filename, (database) => migrate(database, schema)).close()
}

const version = (): unknown => host.prepare('SELECT version FROM notes_schema').pluck().all()

it('a new file gets the newest version', () => {
  migrateTo(VERSION_2)
  expect(version()).toEqual([2])
  expect(host.prepare('SELECT text, length FROM notes').all()).toEqual([])
})

it('a file of version 1 keeps its rows', () => {
  migrateTo(VERSION_1)
  host.exec(`INSERT INTO notes VALUES ('four')`)
  migrateTo(VERSION_2)
  expect(version()).toEqual([2])
  expect(host.prepare('SELECT * FROM notes').all()).toEqual([{ text: 'four', length: 4 }])
})

it('of two processes that migrate at once, one migrates and the other waits', async () => {
  migrateTo(VERSION_1)
  host.exec('BEGIN IMMEDIATE')
  const script = 'test/stores/sqlite/migrating-child.ts'
  const children = [1, 2].map(() => runScript(script, [filename, JSON.stringify(VERSION_2)]))
  await Promise.all(children.map((child) => child.saw('opened')))
  expect(version()).toEqual([1])
  host.exec('COMMIT')
  expect(await Promise.all(children.map((child) => child.ended))).toEqual([0, 0])
  expect(children.map((child) => child.stderr())).toEqual(['', ''])
  expect(version()).toEqual([2])
})

it('a migration that fails changes nothing', () => {
  migrateTo(VERSION_1)
  const failing = { ...VERSION_2, migrations: [...VERSION_2.migrations, 'SELECT * FROM missing;'] }
  expect(() => migrateTo(failing)).toThrow('no such table: missing')
  expect(version()).toEqual([1])
  expect(host.pragma('table_info(notes)')).toHaveLength(1)
})

it('a file of a newer version is refused', () => {
  migrateTo(VERSION_2)
  expect(() => migrateTo(VERSION_1)).toThrow(
    'has schema version 2; this version of daybook knows 1',
  )
  expect(version()).toEqual([2])
})
