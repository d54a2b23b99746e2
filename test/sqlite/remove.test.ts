import fs from 'node:fs'
import { setImmediate as nextTurn } from 'node:timers/promises'
import Database from 'better-sqlite3'
import { AuditLog, type EventStore, parseTimestamp } from 'daybook'
import { sqliteStore } from 'daybook/sqlite'
import { manualClock } from 'daybook/testing'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { tempDir } from '../support/temp.js'

describe('removeBefore', () => {
  let temp: ReturnType<typeof tempDir>
  let filename: string
  let store: EventStore
  let audit: AuditLog
  const clock = manualClock('2026-03-01T12:00:00Z')

  beforeEach(() => {
    temp = tempDir()
    filename = temp.file('audit.db')
    store = sqliteStore({ filename, clock })
    audit = new AuditLog({ store, types: {} })
  })
  afterEach(async () => {
    await audit.close()
    temp.remove()
  })

  const record = (count: number, data = {}): Promise<unknown> =>
    Promise.all(Array.from({ length: count }, (_, n) => audit.recordCustom('x', { n, ...data })))
  const query = (sql: string): unknown => {
    const database = new Database(filename)
    try {
      return database.prepare(sql).pluck().all()
    } finally {
      database.close()
    }
  }
  const count = (table = 'daybook_events'): unknown => query(`SELECT count(*) FROM ${table}`)
  const now = (): number => clock()

  it('removes what is older in transactions of a thousand, and no more', async () => {
    await record(2500)
    clock.advance(1_000_000)
    const bound = now()
    clock.advance(1_000_000)
    const kept = await audit.recordCustom('kept')
    // One that is seen by another connection at every commit.
    const other = new Database(filename)
    const left = new Set<unknown>()
    const removed = store.removeBefore(bound)
    let running = true
    void removed.finally(() => (running = false))
    while (running) {
      left.add(other.prepare('SELECT count(*) FROM daybook_events').pluck().get())
      await nextTurn()
    }
    other.close()
    expect(await removed).toBe(2500)
    expect([...left]).toEqual([1501, 501, 1])
    expect((await audit.list()).events).toEqual([kept])
    expect(await store.removeBefore(bound)).toBe(0)
  })

  it('removes exactly a thousand, and at the time itself nothing', async () => {
    await record(1000)
    const [first] = (await audit.list({ filter: { sorts: 'created_at' } })).events
    expect(await store.removeBefore(parseTimestamp(first!.created_at)!)).toBe(0)
    expect(await store.removeBefore(parseTimestamp(first!.created_at)! + 1)).toBe(1)
    await record(1)
    expect(await store.removeBefore(Infinity)).toBe(1000)
    expect(count()).toEqual([0])
  })

  it('lets time go on after the newest is gone, in a new process too', async () => {
    await record(3)
    const newest = (await audit.list()).events.at(-1)!
    expect(await store.removeBefore(now() + 1)).toBe(3)
    clock.advance(-3_600_000_000)
    const next = await audit.recordCustom('next')
    expect(next!.created_at > newest.created_at).toBe(true)
    expect(await store.removeBefore(Infinity)).toBe(1)
    const again: AuditLog = new AuditLog({ store: sqliteStore({ filename, clock }), types: {} })
    const last = await again.recordCustom('last')
    expect(last!.created_at > next!.created_at).toBe(true)
    await again.close()
  })

  it('removes the places of ids that do not carry their time', async () => {
    const imported = ['2025-01-01', '2025-01-02', '2026-01-01'].map((created_at, n) => ({
      id: `0196b3c2-0000-4000-8000-00000000000${n}`,
      created_at: `${created_at}T00:00:00.000000Z`,
      username: null,
      system: true,
      type: 'old',
      source: null,
      attributes: {},
    }))
    await audit.importEvents(imported)
    expect(await store.removeBefore(parseTimestamp('2025-06-01')!)).toBe(2)
    expect(query('SELECT id FROM daybook_foreign_ids')).toEqual([imported[2]!.id])
    expect(await audit.get(imported[0]!.id)).toBeUndefined()
    expect(await audit.get(imported[2]!.id)).toEqual(imported[2])
    expect(await audit.importEvents(imported)).toEqual({ imported: 2, skipped: 1 })
  })

  it('holds up no append of this process or another', async () => {
    await record(6000)
    clock.advance(1_000_000)
    const other: AuditLog = new AuditLog({ store: sqliteStore({ filename, clock }), types: {} })
    let running = true
    const removed = store.removeBefore(now()).finally(() => (running = false))
    const meanwhile = [0, 0]
    const recordOn = async (log: AuditLog, i: number): Promise<void> => {
      while (running) {
        await log.recordCustom('meanwhile')
        if (running) meanwhile[i]!++
      }
    }
    await Promise.all([recordOn(audit, 0), recordOn(other, 1)])
    await other.close()
    expect(await removed).toBe(6000)
    expect(meanwhile[0]).toBeGreaterThan(1)
    expect(meanwhile[1]).toBeGreaterThan(1)
  })

  it('aborted, it keeps what it has not come to: the newest', async () => {
    await record(5000)
    const { events } = await audit.list({ limit: 1000 })
    const controller = new AbortController()
    const removed = store.removeBefore(Infinity, { signal: controller.signal })
    while (Number((count() as number[])[0]) > 3500) await nextTurn()
    controller.abort()
    await expect(removed).rejects.toMatchObject({ code: 'ABORTED' })
    const left = Number((count() as number[])[0])
    expect(left).toBeGreaterThanOrEqual(1000)
    expect(left).toBeLessThanOrEqual(4000)
    expect(left % 1000).toBe(0)
    expect((await audit.list({ limit: 1000 })).events).toEqual(events)
    await expect(
      store.removeBefore(Infinity, { signal: AbortSignal.abort() }),
    ).rejects.toMatchObject({ code: 'ABORTED' })
  })

  it('gives the space back where the file is made to', async () => {
    await record(3000, { text: 'x'.repeat(2000) })
    const size = (): number => {
      query('PRAGMA wal_checkpoint(TRUNCATE)')
      return fs.statSync(filename).size
    }
    const before = size()
    expect(before).toBeGreaterThan(5_000_000)
    expect(await store.removeBefore(Infinity)).toBe(3000)
    expect(query('PRAGMA freelist_count')).toEqual([0])
    expect(size()).toBeLessThan(before / 20)
  })

  it('leaves the free pages of a file that is not made to', async () => {
    const own = temp.file('host.db')
    const host = new Database(own)
    host.exec('CREATE TABLE orders (n INTEGER)')
    const beside = sqliteStore({ database: host, clock })
    const log: AuditLog = new AuditLog({ store: beside, types: {} })
    await Promise.all(
      Array.from({ length: 100 }, () => log.recordCustom('x', { t: 'x'.repeat(2000) })),
    )
    expect(await beside.removeBefore(Infinity)).toBe(100)
    expect(host.pragma('freelist_count', { simple: true })).toBeGreaterThan(20)
    await log.close()
    host.close()
  })

  it('is refused once closed', async () => {
    await audit.close()
    await expect(store.removeBefore(0)).rejects.toMatchObject({ code: 'CLOSED' })
  })
})
