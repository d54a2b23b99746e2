import fs from 'node:fs'
import { setTimeout as delay } from 'node:timers/promises'
import Database from 'better-sqlite3'
import { AuditLog, type AuditLogOptions } from 'daybook'
import { faultyStore } from 'daybook/testing'
import { sqliteJournal, sqliteStore, type SqliteStoreOptions } from 'daybook/sqlite'
import { describe, expect, it, vi } from 'vitest'
import { pacerInMain } from '../../../adapters/sqlite/index/pacing.js'
import { createRoundRunner } from '../../../adapters/sqlite/index/round-runner.js'
import { defaultDriver } from '../../../adapters/sqlite/connection/driver.js'
import { TUNING } from '../shared/sealer.js'
import { useSqliteFile } from '../../support/sqlite-file.js'

const file = useSqliteFile()

/** The types of the newest events, without reports of losses. */
const typesIn = async (audit: AuditLog): Promise<string[]> => {
  const { events } = await audit.list()
  return events.map(({ type }) => type).filter((type) => type !== 'warn:audit_log:gap')
}

/** A log on the file, unless the options have a handle. */
const openLog = (
  options: Partial<SqliteStoreOptions> = {},
  others: Partial<AuditLogOptions<{}>> = {},
): AuditLog => {
  const place = 'database' in options ? {} : { filename: file.filename }
  const store = sqliteStore({ ...place, ...options } as SqliteStoreOptions)
  const audit: AuditLog = new AuditLog({ ...others, store, types: {} })
  // Otherwise the process warns of each loss.
  audit.on('rejected', () => {})
  return file.closing(audit)
}

const modes = (): Record<string, string> =>
  Object.fromEntries(
    fs
      .readdirSync(file.folder)
      .map((name) => [name, (fs.statSync(file.beside(name)).mode & 0o777).toString(8)]),
  )

describe('the permissions of files', () => {
  it('a file that the store creates is for its owner only, with -wal and -shm', async () => {
    await openLog().recordCustom('x')
    expect(modes()).toEqual({ 'audit.db': '600', 'audit.db-wal': '600', 'audit.db-shm': '600' })
  })

  it('the journal creates its file for its owner only', () => {
    file.closing(sqliteJournal({ filename: file.filename }))
    expect(new Set(Object.values(modes()))).toEqual(new Set(['600']))
  })

  it('mode sets them, with any umask', async () => {
    await openLog({ mode: 0o666 }).recordCustom('x')
    file.closing(sqliteJournal({ filename: file.beside('journal.db'), mode: 0o666 }))
    expect(new Set(Object.values(modes()))).toEqual(new Set(['666']))
  })

  it('a file that exists keeps its own', async () => {
    fs.writeFileSync(file.filename, '')
    fs.chmodSync(file.filename, 0o644)
    await openLog({ mode: 0o640 }).recordCustom('x')
    await openLog().recordCustom('x')
    expect(modes()).toEqual({ 'audit.db': '644', 'audit.db-wal': '644', 'audit.db-shm': '644' })
  })

  it('a symbolic link to no file leads to the file that is created', async () => {
    fs.symlinkSync('real.db', file.filename)
    await openLog().recordCustom('x')
    expect(modes()).toMatchObject({ 'real.db': '600', 'real.db-wal': '600' })
  })

  it('two stores of one process can create one file', async () => {
    const logs = [openLog(), openLog()]
    await Promise.all(logs.map((audit) => audit.recordCustom('x')))
    expect((await logs[0]!.list()).events).toHaveLength(2)
  })

  it.each([0o400, 0o1600, -1, 6.5, '600'])('the mode %j is refused', (mode) => {
    const refused = expect.objectContaining({
      code: 'INVALID_OPTION',
      message: expect.stringMatching(/^mode must be from 0o600 to 0o777/),
    })
    expect(() => sqliteStore({ filename: file.filename, mode: mode as number })).toThrow(refused)
    expect(() => sqliteJournal({ filename: file.filename, mode: mode as number })).toThrow(refused)
    expect(fs.readdirSync(file.folder)).toEqual([])
  })
})

describe('a host that keeps a transaction open', () => {
  // POSIX drops the locks of a process on a file once it closes any descriptor of that file.
  it('keeps its lock while the store opens and closes the file', async () => {
    await openLog().close()
    const host = new Database(file.filename)
    host.pragma('journal_mode = DELETE')
    host.exec('BEGIN IMMEDIATE')
    await openLog({ database: host }).close()
    const locks = fs.readFileSync('/proc/locks', 'utf8')
    expect(locks).toMatch(
      new RegExp(`POSIX +ADVISORY +WRITE +${process.pid} .*:${fs.statSync(file.filename).ino} `),
    )
    host.close()
  })
})

describe('a file that was moved', () => {
  const FAILED = { code: 'STORE_FAILED', message: expect.stringContaining('put the file back') }
  const names = ['', '-wal', '-shm']
  /**
   * In a series of commits, the place of the file is checked after each commit, but only every 5 ms before a commit.
   */
  const untilChecked = (): Promise<void> => delay(10)
  const move = (to: string): void => {
    for (const name of names) fs.renameSync(file.filename + name, file.beside(to) + name)
  }
  const moveBack = (from: string): void => {
    for (const name of names) fs.renameSync(file.beside(from) + name, file.filename + name)
  }

  it('a deleted file is noticed, and not created again', async () => {
    const audit = openLog()
    await audit.recordCustom('x')
    for (const name of names) fs.rmSync(file.filename + name)
    await untilChecked()
    await expect(audit.recordCustom('y')).rejects.toMatchObject(FAILED)
    await expect(audit.importEvents([])).rejects.toMatchObject(FAILED)
    expect(fs.existsSync(file.filename)).toBe(false)
  })

  it('the builder of the index creates no file', async () => {
    const runner = createRoundRunner(
      {
        filename: file.filename,
        driver: defaultDriver(),
        tuning: TUNING,
        leaseMs: 1000,
        cacheBytes: 1_048_576,
      },
      pacerInMain,
    )
    await expect(runner.run()).rejects.toMatchObject({ code: 'STORE_FAILED' })
    await runner.close()
    expect(fs.existsSync(file.filename)).toBe(false)
  })

  it('a moved file is noticed, and used again once it is back', async () => {
    const audit = openLog()
    await audit.recordCustom('before')
    move('moved.db')
    await untilChecked()
    await expect(audit.recordCustom('meanwhile')).rejects.toMatchObject(FAILED)
    moveBack('moved.db')
    await audit.recordCustom('after')
    await audit.close()
    expect(await typesIn(openLog())).toEqual(['before', 'after'])
  })

  it('another file in its place is noticed, and not changed', async () => {
    const audit = openLog()
    await audit.recordCustom('old')
    move('moved.db')
    const other = openLog()
    await other.recordCustom('new')
    await untilChecked()
    await expect(audit.recordCustom('lost')).rejects.toMatchObject(FAILED)
    expect(await typesIn(other)).toEqual(['new'])
  })

  it('is noticed at the first commit after the move', async () => {
    const audit = openLog()
    for (let round = 0; round < 8; round++) {
      await audit.recordCustom('x')
      move('moved.db')
      const code = { code: expect.stringMatching(/^(?:STORE_FAILED|OUTCOME_UNKNOWN)$/) }
      await expect(audit.recordCustom('y')).rejects.toMatchObject(code)
      await expect(audit.recordCustom('z')).rejects.toMatchObject(FAILED)
      moveBack('moved.db')
    }
  })

  it('a deleted -wal is noticed', async () => {
    const audit = openLog()
    await audit.recordCustom('x')
    fs.rmSync(`${file.filename}-wal`)
    await untilChecked()
    await expect(audit.recordCustom('y')).rejects.toMatchObject({
      code: 'STORE_FAILED',
      message: expect.stringContaining(`${file.filename}-wal was deleted`),
    })
  })

  it('a transaction of the host is not joined', async () => {
    const host = new Database(file.filename)
    const audit = openLog({ database: host })
    fs.renameSync(file.filename, file.beside('moved.db'))
    await expect(audit.recordCustom('x', {}, { transaction: host })).rejects.toMatchObject(FAILED)
    host.close()
  })

  it('the outcome of a commit is unknown if the file is moved during it', async () => {
    let onClock = (): void => {}
    const clock = (): number => {
      onClock()
      return Date.now() * 1000
    }
    const audit = openLog({ clock })
    await audit.recordCustom('x')
    onClock = () => {
      onClock = () => {}
      move('moved.db')
    }
    await expect(audit.recordCustom('y')).rejects.toMatchObject({ code: 'OUTCOME_UNKNOWN' })
  })

  it('with a journal, events wait until the file is back', async () => {
    const journal = sqliteJournal({ filename: file.beside('journal') })
    const audit = openLog({}, { journal, failurePolicy: 'queue' })
    await audit.recordCustom('before')
    move('moved.db')
    expect(await audit.recordCustom('meanwhile')).toBeUndefined()
    moveBack('moved.db')
    await vi.waitFor(() => expect(journal.length).toBe(0), 60_000)
    expect(await typesIn(audit)).toEqual(['before', 'meanwhile'])
  })

  it('a journal that was deleted takes no event', async () => {
    const journal = sqliteJournal({ filename: file.beside('journal') })
    const store = faultyStore(sqliteStore({ filename: file.filename }))
    const audit: AuditLog = new AuditLog({ store, journal, failurePolicy: 'queue', types: {} })
    audit.on('rejected', () => {})
    file.closing(audit)
    fs.rmSync(file.beside('journal'))
    store.fail('append')
    await expect(audit.recordCustom('x')).rejects.toMatchObject(FAILED)
    expect(journal.length).toBe(0)
  })
})
