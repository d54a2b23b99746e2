import fs from 'node:fs'
import Database from 'better-sqlite3'
import { AuditLog } from 'daybook'
import { sqliteJournal, sqliteStore, type SqliteStoreOptions } from 'daybook/sqlite'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { tempDir } from '../../support/temp.js'

let temp: ReturnType<typeof tempDir>
let filename: string
const open: { close(): unknown }[] = []

beforeEach(() => {
  temp = tempDir()
  filename = temp.file('audit.db')
})
afterEach(async () => {
  for (const one of open.splice(0)) await one.close()
  temp.remove()
})

const openLog = (options: SqliteStoreOptions): AuditLog => {
  const audit: AuditLog = new AuditLog({ store: sqliteStore(options), types: {} })
  open.push(audit)
  return audit
}

const modes = (): Record<string, string> =>
  Object.fromEntries(
    fs
      .readdirSync(temp.dir)
      .map((name) => [name, (fs.statSync(temp.file(name)).mode & 0o777).toString(8)]),
  )

describe('the permissions of files', () => {
  it('a file that the store creates is for its owner only, with -wal and -shm', async () => {
    await openLog({ filename }).recordCustom('x')
    expect(modes()).toEqual({ 'audit.db': '600', 'audit.db-wal': '600', 'audit.db-shm': '600' })
  })

  it('the journal creates its file for its owner only', () => {
    open.push(sqliteJournal({ filename }))
    expect(new Set(Object.values(modes()))).toEqual(new Set(['600']))
  })

  it('mode sets them whatever the umask is', async () => {
    await openLog({ filename, mode: 0o666 }).recordCustom('x')
    open.push(sqliteJournal({ filename: temp.file('journal.db'), mode: 0o666 }))
    expect(new Set(Object.values(modes()))).toEqual(new Set(['666']))
  })

  it('a file that exists keeps its own', async () => {
    fs.writeFileSync(filename, '')
    fs.chmodSync(filename, 0o644)
    await openLog({ filename, mode: 0o640 }).recordCustom('x')
    await openLog({ filename }).recordCustom('x')
    expect(modes()).toEqual({ 'audit.db': '644', 'audit.db-wal': '644', 'audit.db-shm': '644' })
  })

  it('a symbolic link to no file leads to the file that is created', async () => {
    fs.symlinkSync('real.db', filename)
    await openLog({ filename }).recordCustom('x')
    expect(modes()).toMatchObject({ 'real.db': '600', 'real.db-wal': '600' })
  })

  it('two stores of one process can create one file', async () => {
    const logs = [openLog({ filename }), openLog({ filename })]
    await Promise.all(logs.map((audit) => audit.recordCustom('x')))
    expect((await logs[0]!.list()).events).toHaveLength(2)
  })

  it.each([0o400, 0o1600, -1, 6.5, '600'])('the mode %j is refused', (mode) => {
    const refused = expect.objectContaining({
      code: 'INVALID_OPTION',
      message: expect.stringMatching(/^mode must be from 0o600 to 0o777/),
    })
    expect(() => sqliteStore({ filename, mode: mode as number })).toThrow(refused)
    expect(() => sqliteJournal({ filename, mode: mode as number })).toThrow(refused)
    expect(fs.readdirSync(temp.dir)).toEqual([])
  })
})

describe('a host that keeps a transaction open', () => {
  // POSIX drops the locks of a process on a file once it closes any descriptor of that file.
  it('keeps its lock while the store opens and closes the file', async () => {
    await openLog({ filename }).close()
    const host = new Database(filename)
    host.pragma('journal_mode = DELETE')
    host.exec('BEGIN IMMEDIATE')
    await openLog({ database: host }).close()
    const locks = fs.readFileSync('/proc/locks', 'utf8')
    expect(locks).toMatch(
      new RegExp(`POSIX +ADVISORY +WRITE +${process.pid} .*:${fs.statSync(filename).ino} `),
    )
    host.close()
  })
})
