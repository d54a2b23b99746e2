import { execFileSync } from 'node:child_process'
import fs from 'node:fs'
import Database from 'better-sqlite3'
import { AuditLog } from 'daybook'
import { sqliteJournal, sqliteStore } from 'daybook/sqlite'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { draft } from '../../../src/testing/conformance/helpers.js'
import { useSqliteFile } from '../../support/sqlite-file.js'

/*
 * Commits whose sync fails. The test creates the file in the state in which SQLite leaves it. `npm run attack --
 * fsync` lets real syncs fail.
 */

const file = useSqliteFile()
afterEach(() => void vi.restoreAllMocks())

/** The types of the newest events, without reports of losses. */
const typesIn = async (audit: AuditLog): Promise<string[]> => {
  const { events } = await audit.list()
  return events.map(({ type }) => type).filter((type) => type !== 'warn:audit_log:gap')
}

const openLog = (name = file.filename): AuditLog => {
  const store = sqliteStore({ filename: name })
  const audit: AuditLog = file.closing(new AuditLog({ store, types: {} }))
  // Otherwise the process warns of each loss.
  audit.on('rejected', () => {})
  return audit
}

const syncError = (): Error =>
  Object.assign(new Error('disk I/O error'), { code: 'SQLITE_IOERR_FSYNC' })

interface Statement {
  readonly source: string
  readonly run: (...params: unknown[]) => unknown
}

/** Calls `commit` in place of the next COMMIT, with a function that commits. */
function atNextCommit(commit: (real: () => void) => void): void {
  const probe = new Database(':memory:')
  const prototype = Object.getPrototypeOf(probe.prepare('SELECT 1')) as Statement
  const real = prototype.run
  probe.close()
  const spy = vi.spyOn(prototype, 'run').mockImplementation(function (this: Statement, ...params) {
    if (this.source !== 'COMMIT') return real.apply(this, params)
    spy.mockRestore()
    return commit(() => real.apply(this, params))
  })
}

// The header of the WAL index contains the number of valid frames:
// https://www.sqlite.org/walformat.html#the_wal_index_header
const HEADER_BYTES = 136

// Another process copies the file, because closing a descriptor in this process would drop SQLite's locks.
const copyHeader = (from: string, to: string): void =>
  void execFileSync(
    'dd',
    [`if=${from}`, `of=${to}`, `bs=${HEADER_BYTES}`, 'count=1', 'conv=notrunc'],
    {
      stdio: 'ignore',
    },
  )

/** The next commit fails. It leaves its frames in the WAL, where they are not valid. */
function failNextSync(): void {
  atNextCommit((commit) => {
    copyHeader(`${file.filename}-shm`, file.beside('header'))
    commit()
    copyHeader(file.beside('header'), `${file.filename}-shm`)
    throw syncError()
  })
}

/** Lets checkpoints fail as well until the returned function is called. */
function failCheckpoints(): () => void {
  const real = Database.prototype.pragma
  const spy = vi.spyOn(Database.prototype, 'pragma').mockImplementation(function (
    this: Database.Database,
    source,
    options,
  ) {
    if (source.startsWith('wal_checkpoint')) throw syncError()
    return real.call(this, source, options)
  })
  return () => spy.mockRestore()
}

/** The types of the events that a new process would find after the death of this process. */
async function typesAfterDeath(): Promise<string[]> {
  fs.mkdirSync(file.beside('copy'))
  execFileSync('cp', [file.filename, `${file.filename}-wal`, file.beside('copy')])
  return typesIn(openLog(file.beside('copy/audit.db')))
}

describe('a commit with a failed sync', () => {
  it('may come back after the process has died before it is settled', async () => {
    const audit = openLog()
    await audit.recordCustom('before')
    failNextSync()
    const undo = failCheckpoints()
    await expect(audit.recordCustom('doubtful')).rejects.toMatchObject({ code: 'OUTCOME_UNKNOWN' })
    expect(await typesIn(audit)).toEqual(['before'])
    undo()
    expect(await typesAfterDeath()).toEqual(['before', 'doubtful'])
  })

  it('rejects, and leaves nothing behind', async () => {
    const audit = openLog()
    await audit.recordCustom('before')
    failNextSync()
    await expect(audit.recordCustom('rejected')).rejects.toMatchObject({ code: 'STORE_FAILED' })
    expect(await typesAfterDeath()).toEqual(['before'])
    await audit.recordCustom('after')
    expect(await typesIn(audit)).toEqual(['before', 'after'])
  })

  it('resolves if the event is kept nevertheless', async () => {
    const audit = openLog()
    atNextCommit((commit) => {
      commit()
      throw syncError()
    })
    const event = await audit.recordCustom('kept')
    expect((await audit.list()).events).toEqual([event])
  })

  it('changes nothing of the host', async () => {
    const host = new Database(file.filename)
    host.pragma('user_version = 42')
    const audit = openLog()
    await audit.recordCustom('before')
    failNextSync()
    await expect(audit.recordCustom('rejected')).rejects.toMatchObject({ code: 'STORE_FAILED' })
    expect(host.pragma('user_version', { simple: true })).toBe(42)
    host.close()
  })

  it('events are acknowledged only after the disk works again', async () => {
    const audit = openLog()
    await audit.recordCustom('before')
    failNextSync()
    const undo = failCheckpoints()
    await expect(audit.recordCustom('doubtful')).rejects.toMatchObject({ code: 'OUTCOME_UNKNOWN' })
    await expect(audit.recordCustom('rejected')).rejects.toMatchObject({ code: 'STORE_FAILED' })
    undo()
    await audit.recordCustom('after')
    expect(await typesAfterDeath()).toEqual(['before', 'after'])
  })
})

describe('a commit of the journal with a failed sync', () => {
  const entry = { draft: draft({}), recordedAt: 1, since: undefined }
  const openJournal = () => file.closing(sqliteJournal({ filename: file.filename }))
  /** Runs `fail` in place of the next COMMIT. */
  const atNextExec = (fail: (database: Database.Database) => void): void => {
    const real = Database.prototype.exec
    const spy = vi.spyOn(Database.prototype, 'exec').mockImplementation(function (
      this: Database.Database,
      source,
    ) {
      if (source !== 'COMMIT') return real.call(this, source)
      spy.mockRestore()
      fail(this)
      throw syncError()
    })
  }

  it('is refused, and leaves nothing behind', () => {
    const journal = openJournal()
    atNextExec((database) => database.exec('ROLLBACK'))
    expect(() => journal.add([entry])).toThrow(expect.objectContaining({ code: 'STORE_FAILED' }))
    // Otherwise the frames of the refused commit would follow the frames of this one.
    expect(fs.statSync(`${file.filename}-wal`).size).toBeLessThan(10_000)
    expect(journal.length).toBe(0)
    journal.add([entry])
    expect(journal.first(9)).toHaveLength(1)
  })

  it('is accepted if the file has kept it', () => {
    const journal = openJournal()
    atNextExec((database) => database.exec('COMMIT'))
    journal.add([entry])
    expect([journal.length, journal.first(9).length]).toEqual([1, 1])
  })

  it('has an unknown outcome while the disk fails', () => {
    const journal = openJournal()
    atNextExec((database) => database.exec('ROLLBACK'))
    const undo = failCheckpoints()
    expect(() => journal.add([entry])).toThrow(expect.objectContaining({ code: 'OUTCOME_UNKNOWN' }))
    undo()
    journal.add([entry])
    expect(journal.length).toBe(1)
  })
})
