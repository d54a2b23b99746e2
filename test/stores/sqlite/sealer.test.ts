import fs from 'node:fs'
import { setTimeout as delay } from 'node:timers/promises'
import Database from 'better-sqlite3'
import { AuditLog } from 'daybook'
import { describe, expect, it, vi } from 'vitest'
import type { SealerOptions } from '../../../adapters/sqlite/index/sealer.js'
import { createSqliteStore } from '../../../adapters/sqlite/sqlite-store.js'
import { sealingThreadFile } from '../../../adapters/sqlite/index/start-sealing-thread.js'
import { EARLY_LEVEL } from '../../../src/store-kit/index-builder/segment-levels.js'
import { useSqliteFile } from '../../support/sqlite-file.js'
import { sqliteTruth } from '../../support/sqlite-index.js'
import { describeSealer, NEVER, SOON, TUNING, useSealer } from '../shared/sealer.js'

const file = useSqliteFile()
const fixture = useSealer<SealerOptions>({
  open: (options) => createSqliteStore({ filename: file.filename }, { tuning: TUNING, ...options }),
  truth: async () => sqliteTruth(file.filename),
  async hideChunks(isHidden) {
    const [from, to] = isHidden
      ? ['daybook_chunks', 'hidden_chunks']
      : ['hidden_chunks', 'daybook_chunks']
    file.execute((database) => database.exec(`ALTER TABLE ${from} RENAME TO ${to}`))
  },
})
const { open, record } = fixture

describe('the sealer', () => describeSealer(fixture))

describe('the sealer of a file', () => {
  /** Files that this process has open beside or at the log's path. */
  const handles = (): readonly string[] =>
    fs.readdirSync('/proc/self/fd').flatMap((fd) => {
      try {
        const path = fs.readlinkSync(`/proc/self/fd/${fd}`)
        return path.startsWith(file.filename) ? [path] : []
      } catch {
        return []
      }
    })

  it('the poll checks for events that other processes have added', async () => {
    await record(open({ tuning: NEVER }), 20)
    open()
    await vi.waitFor(() => expect(sqliteTruth(file.filename).unsealed).toBe(4), SOON)
  })

  it('no thread is started for fewer events than a segment', async () => {
    const threadFile = vi.fn(sealingThreadFile)
    const log = open({ threadFile, checkMs: 20 })
    await record(log, 7)
    await delay(300)
    expect(threadFile).not.toHaveBeenCalled()
    await record(log, 1)
    await vi.waitFor(() => expect(sqliteTruth(file.filename).unsealed).toBe(0), SOON)
    expect(threadFile).toHaveBeenCalledTimes(1)
  })

  it('some events are sealed once they have waited', async () => {
    const early = { minEvents: 5, afterMs: 100 }
    const log = open({ tuning: { ...TUNING, early }, checkMs: 20 })
    await record(log, 4)
    await delay(400)
    expect(sqliteTruth(file.filename)).toMatchObject({ segments: [], unsealed: 4 })
    await record(log, 1)
    await vi.waitFor(() => expect(sqliteTruth(file.filename).unsealed).toBe(0), SOON)
    expect(sqliteTruth(file.filename)).toMatchObject({ segments: [[EARLY_LEVEL, 5]], missing: [] })
  })

  it.runIf(process.platform === 'linux')('close leaves no file open', async () => {
    const log = open()
    const own = handles().length
    await record(log, 40)
    await log.sealer.settled()
    expect(handles().length).toBeGreaterThan(own)
    await log.audit.close()
    await log.audit.close()
    expect(handles()).toEqual([])
  })

  it.runIf(process.platform === 'linux')('an idle thread ends and starts again', async () => {
    // SQLite keeps a handle of the file itself for the next connection.
    const logs = () => handles().filter((path) => path.endsWith('-wal')).length
    const log = open({ idleMs: 50 })
    await record(log, 8)
    await log.sealer.settled()
    // The second log is that of the store's syncs.
    await vi.waitFor(() => expect(logs()).toBe(2), SOON)
    await record(log, 8)
    await log.sealer.settled()
    expect(sqliteTruth(file.filename).segments).toHaveLength(2)
  })

  it('the main thread builds the index if no thread can start, and warns once', async () => {
    const log = open({ threadFile: () => new URL('./not-there.js', import.meta.url) })
    const warn = vi.spyOn(process, 'emitWarning').mockImplementation(() => {})
    try {
      await record(log, 40)
      await log.sealer.settled()
      await record(log, 40)
      await log.sealer.settled()
      expect(warn.mock.calls).toEqual([
        [expect.stringMatching(/^the SQLite store builds its index in the main thread.*not-there/)],
      ])
    } finally {
      warn.mockRestore()
    }
    expect(sqliteTruth(file.filename)).toMatchObject({ hidden: 0, unsealed: 0, missing: [] })
  })

  it('the index of a host’s file that is not in WAL mode is built', async () => {
    const host = new Database(file.filename)
    const { store, sealer } = createSqliteStore({ database: host }, { tuning: TUNING })
    try {
      const log = { audit: new AuditLog({ store, types: {} }), store, sealer }
      for (let n = 0; n < 5; n++) await record(log, 8)
      await sealer.settled()
      expect(host.pragma('journal_mode', { simple: true })).toBe('delete')
      expect(sqliteTruth(file.filename)).toMatchObject({ hidden: 0, unsealed: 0, missing: [] })
    } finally {
      await store.close()
      host.close()
    }
  })
})
