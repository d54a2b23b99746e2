import fs from 'node:fs'
import { setTimeout as delay } from 'node:timers/promises'
import Database from 'better-sqlite3'
import { AuditLog, type EventStore, parseTimestamp } from 'daybook'
import { sqliteStore } from 'daybook/sqlite'
import { manualClock } from 'daybook/testing'
import { beforeEach, describe, expect, it } from 'vitest'
import { draft, range } from '../../../src/testing/conformance/helpers.js'
import { runScript } from '../../support/child.js'
import { eventAt, oldEvent } from '../../support/imported-event.js'
import { soakRounds, soakTimeout } from '../../support/soak.js'
import { useSqliteFile } from '../../support/sqlite-file.js'

describe('removeBefore', () => {
  const file = useSqliteFile()
  let store: EventStore
  let audit: AuditLog
  const clock = manualClock('2026-03-01T12:00:00Z')

  beforeEach(() => {
    store = sqliteStore({ filename: file.filename, clock })
    audit = file.closing(new AuditLog({ store, types: {} }))
  })

  const record = (count: number, data = {}): Promise<unknown> =>
    Promise.all(Array.from({ length: count }, (_, n) => audit.recordCustom('x', { n, ...data })))
  const query = (sql: string): unknown =>
    file.execute((database) => database.prepare(sql).pluck().all())
  const count = (table = 'daybook_events'): unknown => query(`SELECT count(*) FROM ${table}`)
  const now = (): number => clock()

  it('older events are removed, oldest first, in several transactions', async () => {
    await record(2500)
    clock.advance(1_000_000)
    const bound = now()
    clock.advance(1_000_000)
    const kept = await audit.recordCustom('kept')
    // Another connection reads the oldest event after every commit.
    const other = new Database(file.filename)
    const oldest = other.prepare('SELECT min(created_at), count(*) FROM daybook_events').raw()
    const seen: number[][] = []
    const progress: number[] = []
    const onProgress = (removed: number): void => {
      progress.push(removed)
      seen.push(oldest.get() as number[])
    }
    expect(await store.removeBefore(bound, { onProgress })).toBe(2500)
    other.close()
    expect(progress.at(-1)).toBe(2500)
    expect(seen.map(([, left]) => 2501 - left!)).toEqual(progress)
    const times = seen.map(([time]) => time!)
    expect(times).toEqual([...new Set(times)].toSorted((a, b) => a - b))
    expect((await audit.list()).events).toEqual([kept])
    expect(await store.removeBefore(bound)).toBe(0)
  })

  it('the ids of imported events are removed too', async () => {
    const imported = ['2025-01-01', '2025-01-02', '2026-01-01'].map((day) =>
      eventAt(parseTimestamp(day)!),
    )
    await audit.importEvents(imported)
    expect(await store.removeBefore(parseTimestamp('2025-06-01')!)).toBe(2)
    expect(query('SELECT id FROM daybook_foreign_ids')).toEqual([imported[2]!.id])
    expect(await audit.get(imported[0]!.id)).toBeUndefined()
    expect(await audit.get(imported[2]!.id)).toEqual(imported[2])
    expect(await audit.importEvents(imported)).toEqual({ imported: 2, skipped: 1 })
  })

  it('appends of this process and another continue meanwhile', async () => {
    await record(3000)
    clock.advance(1_000_000)
    const other: AuditLog = new AuditLog({
      store: sqliteStore({ filename: file.filename, clock }),
      types: {},
    })
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
    expect(await removed).toBe(3000)
    expect(meanwhile[0]).toBeGreaterThan(1)
    expect(meanwhile[1]).toBeGreaterThan(1)
  })

  it('after an abort the newest events are left', async () => {
    await record(3000)
    const { events } = await audit.list({ limit: 1000 })
    const controller = new AbortController()
    const { signal } = controller
    const onProgress = (): void => controller.abort()
    const removed = store.removeBefore(Infinity, { signal, onProgress })
    await expect(removed).rejects.toMatchObject({ code: 'ABORTED' })
    const left = Number((count() as number[])[0])
    expect(left).toBeGreaterThanOrEqual(2000)
    expect(left).toBeLessThan(3000)
    expect((await audit.list({ limit: 1000 })).events).toEqual(events)
    await expect(
      store.removeBefore(Infinity, { signal: AbortSignal.abort() }),
    ).rejects.toMatchObject({ code: 'ABORTED' })
  })

  it('free pages are released if the file has incremental vacuum', async () => {
    await record(3000, { text: 'x'.repeat(2000) })
    const size = (): number =>
      fs.statSync(file.filename).size + fs.statSync(`${file.filename}-wal`).size
    expect(size()).toBeGreaterThan(5_000_000)
    expect(await store.removeBefore(Infinity)).toBe(3000)
    expect(query('PRAGMA freelist_count')).toEqual([0])
    expect(size()).toBeLessThan(250_000)
  })

  it('the next call releases the free pages that an aborted one has left', async () => {
    await record(3000, { text: 'x'.repeat(2000) })
    const controller = new AbortController()
    const { signal } = controller
    const removed = store.removeBefore(Infinity, { signal, onProgress: () => controller.abort() })
    await expect(removed).rejects.toMatchObject({ code: 'ABORTED' })
    expect((query('PRAGMA freelist_count') as number[])[0]).toBeGreaterThan(20)
    expect(await store.removeBefore(0)).toBe(0)
    expect(query('PRAGMA freelist_count')).toEqual([0])
  })

  it(
    'after a kill at any moment the oldest events are gone, and the next call continues',
    { timeout: soakTimeout(180_000) },
    async () => {
      const text = 'x'.repeat(600)
      for (const _ of soakRounds(1)) {
        const all: string[] = []
        for (let batch = 0; batch < 20; batch++) {
          const drafts = range(1, 500).map(() => draft({ text }))
          all.push(...(await store.append(drafts)).map(({ created_at }) => created_at))
        }
        const child = runScript('test/stores/sqlite/removing-child.ts', [file.filename])
        await child.saw('\n')
        await delay(Math.random() * 60)
        await child.kill()
        const reported = Number(child.stdout().split('\n').at(-2))
        const left = query('SELECT created_at FROM daybook_events ORDER BY created_at') as number[]
        expect(reported).toBeGreaterThan(0)
        expect(all.length - left.length).toBeGreaterThanOrEqual(reported)
        expect(left).toEqual(
          all.slice(all.length - left.length).map((time) => parseTimestamp(time)),
        )
        expect(query('PRAGMA integrity_check')).toEqual(['ok'])
        expect(await store.removeBefore(Infinity)).toBe(left.length)
        expect(query('PRAGMA freelist_count')).toEqual([0])
      }
    },
  )

  it('many ids are removed in several transactions, and free pages are released', async () => {
    await record(3000, { text: 'x'.repeat(2000) })
    await audit.importEvents([oldEvent().event])
    const ids: string[] = []
    for await (const page of audit.pages()) ids.push(...page.map(({ id }) => id))
    const kept = ids.splice(500, 1)
    const size = (): number =>
      fs.statSync(file.filename).size + fs.statSync(`${file.filename}-wal`).size
    expect(size()).toBeGreaterThan(5_000_000)
    let running = true
    const removed = store.remove([...ids, ids[7]!, 'no id']).finally(() => (running = false))
    let meanwhile = 0
    for (; running; meanwhile++) await audit.recordCustom('meanwhile')
    expect(await removed).toBe(3000)
    expect(meanwhile).toBeGreaterThan(1)
    expect(query(`SELECT count(*) FROM daybook_events WHERE type <> 'meanwhile'`)).toEqual([1])
    expect((await audit.get(kept[0]!))!.id).toBe(kept[0])
    expect(count('daybook_foreign_ids')).toEqual([0])
    expect(size()).toBeLessThan(1_000_000)
  })

  it('free pages stay in a file without incremental vacuum', async () => {
    const own = file.beside('host.db')
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
})
