import fs from 'node:fs'
import { setTimeout as delay } from 'node:timers/promises'
import Database from 'better-sqlite3'
import { AuditLog, type EventStore } from 'daybook'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import type { Sealer, SealerOptions } from '../../../adapters/sqlite/index/sealer.js'
import { createSqliteStore } from '../../../adapters/sqlite/sqlite-store.js'
import { sealingThreadFile } from '../../../adapters/sqlite/index/start-sealing-thread.js'
import { indexTruth } from '../../support/index-truth.js'
import { tempDir } from '../../support/temp.js'

const tuning = { segmentSize: 8, fanOut: 4 }
const FEW = { timeout: 20_000, interval: 50 }

interface Opened {
  readonly audit: AuditLog
  readonly store: EventStore
  readonly sealer: Sealer
}

describe('the index of a file', () => {
  let temp: ReturnType<typeof tempDir>
  let filename: string
  const opened: Opened[] = []

  beforeEach(() => {
    temp = tempDir()
    filename = temp.file('audit.db')
  })
  afterEach(async () => {
    await Promise.all(opened.splice(0).map(({ audit }) => audit.close()))
    temp.remove()
  })

  const open = (options: Partial<SealerOptions> = {}): Opened => {
    const { store, sealer } = createSqliteStore({ filename }, { tuning, ...options })
    const one = { audit: new AuditLog({ store, types: {} }), store, sealer }
    opened.push(one)
    return one
  }
  const record = async ({ audit }: Opened, count: number): Promise<void> => {
    const all = Array.from({ length: count }, (_, n) => audit.recordCustom(`type-${n % 3}`, { n }))
    await Promise.all(all)
  }
  /** What this process has open of the file. */
  const handles = (): readonly string[] =>
    fs.readdirSync('/proc/self/fd').flatMap((fd) => {
      try {
        const path = fs.readlinkSync(`/proc/self/fd/${fd}`)
        return path.startsWith(filename) ? [path] : []
      } catch {
        return []
      }
    })

  it('is sealed up to the last full segment, and merged', async () => {
    const log = open()
    await record(log, 8 * 4 * 4 + 5)
    await log.sealer.settled()
    const whole = { segments: [[2, 128]], hidden: 0, missing: [], damage: [] }
    expect(indexTruth(filename)).toEqual({ ...whole, unsealed: 5 })
    await record(log, 12)
    await log.sealer.settled()
    const segments = [
      [2, 128],
      [0, 8],
      [0, 8],
    ]
    expect(indexTruth(filename)).toEqual({ ...whole, segments, unsealed: 1 })
  })

  it('is built without anybody waiting for it, and by the poll where nobody appends', async () => {
    await record(open({ tuning: { segmentSize: 1000, fanOut: 4 } }), 20)
    open()
    await vi.waitFor(() => expect(indexTruth(filename).unsealed).toBe(4), FEW)
  })

  it('has no thread for fewer events than a segment', async () => {
    const threadFile = vi.fn(sealingThreadFile)
    const log = open({ threadFile })
    await record(log, 7)
    await delay(1200)
    expect(threadFile).not.toHaveBeenCalled()
    await record(log, 1)
    await vi.waitFor(() => expect(indexTruth(filename).unsealed).toBe(0), FEW)
    expect(threadFile).toHaveBeenCalledTimes(1)
  })

  it.runIf(process.platform === 'linux')('leaves nothing open', async () => {
    const log = open()
    const own = handles().length
    await record(log, 40)
    await log.sealer.settled()
    expect(handles().length).toBeGreaterThan(own)
    await log.audit.close()
    await log.audit.close()
    expect(handles()).toEqual([])
  })

  it.runIf(process.platform === 'linux')('gives back what an idle thread takes', async () => {
    // Of the file itself SQLite keeps a handle for the next connection.
    const logs = () => handles().filter((path) => path.endsWith('-wal')).length
    const log = open({ idleMs: 50 })
    await record(log, 8)
    await log.sealer.settled()
    await vi.waitFor(() => expect(logs()).toBe(1), FEW)
    await record(log, 8)
    await log.sealer.settled()
    expect(indexTruth(filename).segments).toHaveLength(2)
  })

  it('is gone on with by the next one where the store is closed in the middle', async () => {
    for (let n = 0; n < 5; n++) {
      const log = open()
      await record(log, 200)
      await delay(100 * n)
      await log.audit.close()
      expect(indexTruth(filename)).toMatchObject({ missing: [], damage: [] })
    }
    await open().sealer.settled()
    const truth = indexTruth(filename)
    expect(truth).toMatchObject({ hidden: 0, unsealed: 0, missing: [] })
    expect(truth.segments.reduce((sum, [, size]) => sum + size, 0)).toBe(1000)
  })

  it('is built in the main thread where no other can start, which is told once', async () => {
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
    expect(indexTruth(filename)).toMatchObject({ hidden: 0, unsealed: 0, missing: [] })
  })

  it('is tried again after errors, which no call notices, and which are told once', async () => {
    const log = open({ maxPauseMs: 1000 })
    const warn = vi.spyOn(process, 'emitWarning').mockImplementation(() => {})
    const other = new Database(filename)
    try {
      other.exec('ALTER TABLE daybook_chunks RENAME TO hidden_chunks')
      await record(log, 20)
      await vi.waitFor(() => expect(warn).toHaveBeenCalled(), FEW)
      await delay(1500)
      await record(log, 20)
      expect(other.prepare('SELECT count(*) FROM daybook_events').pluck().get()).toBe(40)
      other.exec('ALTER TABLE hidden_chunks RENAME TO daybook_chunks')
      expect(warn.mock.calls).toEqual([[expect.stringMatching(/fails: .*daybook_chunks/)]])
    } finally {
      warn.mockRestore()
      other.close()
    }
    await vi.waitFor(() => expect(indexTruth(filename).unsealed).toBe(0), FEW)
    await log.sealer.settled()
    expect(indexTruth(filename)).toMatchObject({ hidden: 0, missing: [], damage: [] })
  })

  it('forgets what was removed', async () => {
    const log = open()
    await record(log, 40)
    await log.sealer.settled()
    expect(await log.store.removeBefore(Number.MAX_SAFE_INTEGER)).toBe(40)
    await vi.waitFor(
      () => expect(indexTruth(filename)).toMatchObject({ segments: [], hidden: 0 }),
      FEW,
    )
  })

  it('is built in a host’s file that is not in WAL mode', async () => {
    const host = new Database(filename)
    const { store, sealer } = createSqliteStore({ database: host }, { tuning })
    try {
      const log = { audit: new AuditLog({ store, types: {} }), store, sealer }
      for (let n = 0; n < 20; n++) await record(log, 8)
      await sealer.settled()
      expect(host.pragma('journal_mode', { simple: true })).toBe('delete')
      expect(indexTruth(filename)).toMatchObject({ hidden: 0, unsealed: 0, missing: [] })
    } finally {
      await store.close()
      host.close()
    }
  })
})
