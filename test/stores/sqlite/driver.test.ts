import fs from 'node:fs'
import { createRequire } from 'node:module'
import path from 'node:path'
import { AuditLog } from 'daybook'
import { fromKysely } from 'daybook/orm'
import { captureChanges, sqliteJournal, sqliteStore } from 'daybook/sqlite'
import Database from 'better-sqlite3'
import { Kysely, SqliteDialect } from 'kysely'
import { describe, expect, it } from 'vitest'
import { openDatabase } from '../../../adapters/sqlite/connection/database.js'
import {
  defaultDriver,
  type Driver,
  libraryOf,
  type SqliteDriverName,
} from '../../../adapters/sqlite/connection/driver.js'
import { hasNodeSqlite } from '../../../adapters/sqlite/connection/driver-versions.js'
import { useSqliteFile } from '../../support/sqlite-file.js'

const file = useSqliteFile()

const own = defaultDriver()
const foreign: SqliteDriverName = own === 'node:sqlite' ? 'better-sqlite3' : 'node:sqlite'

/** A handle that looks like a handle of the driver. Only its library can be read. */
const handleOf = (driver: SqliteDriverName, sourceId?: string): never => {
  const prepare = (): object => {
    if (sourceId === undefined) throw new Error('a foreign handle was used')
    return { get: () => ({ id: sourceId }), setReturnArrays() {}, setReadBigInts() {} }
  }
  const handle =
    driver === 'node:sqlite'
      ? { isOpen: true, isTransaction: true, location: () => file.filename, prepare }
      : { open: true, inTransaction: true, name: file.filename, prepare }
  return handle as never
}

/** Records with the handle as `transaction`. */
const enlist = async (transaction: object): Promise<unknown> => {
  const audit = new AuditLog({ store: sqliteStore({ filename: file.filename }), types: {} })
  try {
    return await audit.recordCustom('x', {}, { transaction })
  } finally {
    await audit.close()
  }
}

const refusal = (message: RegExp): object => ({
  code: 'INVALID_OPTION',
  message: expect.stringMatching(message),
})

describe('a handle of another SQLite library', () => {
  it('is refused as transaction', async () => {
    const message = new RegExp(`^transaction: the handle is of ${foreign}, .*driver: '${foreign}'`)
    await expect(enlist(handleOf(foreign))).rejects.toMatchObject(refusal(message))
  })

  it('is refused as database, before the file is opened', () => {
    expect(() => sqliteStore({ database: handleOf(foreign), driver: own })).toThrow(
      expect.objectContaining(refusal(/^database: the handle is of .*cancel each other's locks/)),
    )
    expect(fs.existsSync(file.filename)).toBe(false)
  })

  it('is refused if it belongs to another copy of the driver', async () => {
    const message = new RegExp(`another copy of ${own} .*npm ls ${own}`)
    const handle = handleOf(own, '2001-01-01 other')
    expect(() => sqliteStore({ database: handle })).toThrow(
      expect.objectContaining(refusal(message)),
    )
    await expect(enlist(handle)).rejects.toMatchObject(refusal(message))
  })

  it('of an unknown driver is refused', () => {
    const database = { name: file.filename } as never
    expect(() => sqliteStore({ database })).toThrow(
      expect.objectContaining(refusal(/^database: the SQLite store takes a /)),
    )
  })
})

const require = createRequire(import.meta.url)

/** The library of better-sqlite3 once more, as a second installed copy brings it. */
function copyLibrary(): string {
  const folder = path.dirname(require.resolve('better-sqlite3/package.json'))
  const copy = path.join(path.dirname(file.filename), 'copy.node')
  fs.copyFileSync(path.join(folder, 'build/Release/better_sqlite3.node'), copy)
  return copy
}

describe.runIf(own === 'better-sqlite3')('a second copy of the same library', () => {
  const message = /another copy of better-sqlite3 .* locks on a file: install one copy/
  const inUse = /is open in this process through another SQLite library/

  it('is refused wherever it would open a file of the log', async () => {
    const filename = file.filename
    const handle = new Database(filename, { nativeBinding: copyLibrary() })
    expect(() => sqliteStore({ database: handle })).toThrow(
      expect.objectContaining(refusal(message)),
    )
    handle.exec('CREATE TABLE orders (id INTEGER PRIMARY KEY)')
    const store = sqliteStore({ filename })
    const audit = new AuditLog({ store, types: {} })
    handle.exec('BEGIN')
    await expect(audit.recordCustom('x', {}, { transaction: handle })).rejects.toMatchObject(
      refusal(message),
    )
    handle.exec('ROLLBACK')
    expect(() => captureChanges({ database: handle, tables: ['orders'] })).toThrow(
      expect.objectContaining(refusal(inUse)),
    )
    const kysely = new Kysely<object>({ dialect: new SqliteDialect({ database: handle }) })
    const inKysely = kysely
      .transaction()
      .execute((trx) => audit.recordCustom('x', {}, { transaction: fromKysely(trx) }))
    await expect(inKysely).rejects.toMatchObject(refusal(/uses another copy of SQLite/))
    await audit.close()
    await kysely.destroy()
  })

  it('is found where another copy of the package has opened the file', async () => {
    const nativeBinding = copyLibrary()
    const database = new Database(':memory:', { nativeBinding })
    const second: Driver = {
      name: 'better-sqlite3',
      library: libraryOf(database, 'better-sqlite3'),
      open: (name, options) => new Database(name, { ...options, nativeBinding }),
    }
    database.close()
    const audit = new AuditLog({ store: sqliteStore({ filename: file.filename }), types: {} })
    await audit.recordCustom('x')
    const openSecond = () => openDatabase(file.filename, () => {}, { driver: second })
    expect(openSecond).toThrow(expect.objectContaining(refusal(inUse)))
    await audit.close()
    openSecond().close()
  })
})

describe('the option driver', () => {
  it('accepts the names of the drivers only', () => {
    const driver = 'sqlite3' as never
    const error = expect.objectContaining(refusal(/^driver must be 'better-sqlite3' or /))
    expect(() => sqliteStore({ filename: file.filename, driver })).toThrow(error)
    expect(() => sqliteJournal({ filename: file.filename, driver })).toThrow(error)
  })

  it('needs Node 24 for node:sqlite', async () => {
    const open = () => sqliteStore({ filename: file.filename, driver: 'node:sqlite' })
    if (hasNodeSqlite(process.versions.node)) return open().close()
    expect(open).toThrow(
      expect.objectContaining({
        code: 'MISSING_DEPENDENCY',
        message: expect.stringMatching(/needs Node 24 .* npm install better-sqlite3$/),
      }),
    )
  })

  it('is by default the driver of the handle', async () => {
    const database = new Database(file.filename)
    const store = sqliteStore({ database })
    const audit = new AuditLog({ store, types: {} })
    database.exec('BEGIN')
    await audit.recordCustom('x', {}, { transaction: database })
    database.exec('COMMIT')
    await audit.close()
    database.close()
  })
})
