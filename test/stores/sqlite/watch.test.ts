import { setTimeout as delay } from 'node:timers/promises'
import Database from 'better-sqlite3'
import { AuditLog } from 'daybook'
import { sqliteStore } from 'daybook/sqlite'
import { describe, expect, it, vi } from 'vitest'
import { linesOf, runScript } from '../../support/child.js'
import { useSqliteFile } from '../../support/sqlite-file.js'

const file = useSqliteFile()

const openLog = (): AuditLog =>
  file.closing(new AuditLog({ store: sqliteStore({ filename: file.filename }), types: {} }))

describe('watch', () => {
  it('a hint comes after an append of this store, when its events can be read', async () => {
    const audit = openLog()
    const seen: Promise<number>[] = []
    const stop = audit.store.watch(() =>
      seen.push(audit.list().then(({ events }) => events.length)),
    )
    await audit.recordCustom('a')
    expect(await Promise.all(seen)).toEqual([1])
    stop()
    stop()
    await audit.recordCustom('b')
    expect(seen).toHaveLength(1)
  })

  it('a hint comes soon after a commit of another connection', async () => {
    const audit = openLog()
    const other = openLog()
    let hints = 0
    await delay(60)
    const stop = audit.store.watch(() => hints++)
    await delay(200)
    // Earlier commits of the other connection give no hint.
    expect(hints).toBe(0)
    for (let round = 1; round <= 3; round++) {
      const before = hints
      await other.recordCustom('a')
      while (hints === before) await delay(5)
    }
    stop()
    const atStop = hints
    await other.recordCustom('b')
    await delay(200)
    expect(hints).toBe(atStop)
  })

  it('a hint function that is removed, throws or was added twice does not affect others', async () => {
    const audit = openLog()
    const called: string[] = []
    const first = (): void => void called.push('first')
    const stops = [audit.store.watch(first), audit.store.watch(first)]
    audit.store.watch(() => {
      throw new Error('in a hint')
    })
    audit.store.watch(() => called.push('last'))
    await expect(audit.recordCustom('a')).resolves.toMatchObject({ type: 'a' })
    expect(called).toEqual(['first', 'first', 'last'])
    stops[0]!()
    stops[0]!()
    await audit.recordCustom('b')
    expect(called.slice(3)).toEqual(['first', 'last'])
  })

  it('no hint comes after close', async () => {
    const audit = openLog()
    const other = openLog()
    let hints = 0
    const stop = audit.store.watch(() => hints++)
    await audit.close()
    await other.recordCustom('a')
    await delay(150)
    expect(hints).toBe(0)
    stop()
    audit.store.watch(() => hints++)()
    expect(hints).toBe(0)
  })

  it('the store checks for commits only while there are watchers', async () => {
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
    try {
      const { store } = openLog()
      expect(vi.getTimerCount()).toBe(0)
      const stops = [store.watch(() => {}), store.watch(() => {})]
      expect(vi.getTimerCount()).toBe(1)
      stops[0]!()
      expect(vi.getTimerCount()).toBe(1)
      stops[1]!()
      expect(vi.getTimerCount()).toBe(0)
      store.watch(() => {})
      expect(vi.getTimerCount()).toBe(1)
      await store.close()
      expect(vi.getTimerCount()).toBe(0)
    } finally {
      vi.useRealTimers()
    }
  })

  it('watching continues while the file is locked or damaged', async () => {
    const audit = openLog()
    let hints = 0
    audit.store.watch(() => hints++)
    const other = new Database(file.filename)
    other.exec('BEGIN EXCLUSIVE')
    await delay(120)
    other.exec('DROP TABLE daybook_outbox; COMMIT')
    while (hints === 0) await delay(5)
    other.close()
    // Long enough for a poll of the damaged outbox.
    await delay(1200)
  })
})

/** Polls for the oldest new events, as the documentation recommends. Returns the ids. */
async function poll(audit: AuditLog, first: string, isOver: () => boolean): Promise<string[]> {
  const seen: string[] = []
  for (let after = first; ;) {
    const isLast = isOver()
    const filter = { type_not_eq: 'other', created_at_gt: after, sorts: 'created_at' }
    const { events } = await audit.list({ filter, limit: 50 })
    seen.push(...events.map(({ id }) => id))
    after = events.at(-1)?.created_at ?? after
    if (events.length > 0) continue
    if (isLast) return seen
    await delay(Math.random() * 3)
  }
}

describe('tail', () => {
  it('yields each event of four processes once and in order, and a poller gets each event once', async () => {
    const audit = openLog()
    const start = await audit.recordCustom('start')
    const tail = audit.tail('filter[type_not_eq]=other', { after: start!.created_at })
    let isOver = false
    const polling = poll(audit, start!.created_at, () => isOver)
    const children = ['a', 'b', 'c'].map((name) =>
      runScript('test/processes/recording-child.ts', [file.filename, name, '7', '100']),
    )
    const own: string[] = []
    const recording = (async () => {
      for (let n = 0; n < 40; n++) {
        own.push((await audit.recordCustom('own', { n }))!.id)
        if (n % 2 === 0) await audit.recordCustom('other')
        await delay(Math.random() * 8)
      }
    })()
    const seen: string[] = []
    const times: string[] = []
    for await (const event of tail) {
      seen.push(event.id)
      times.push(event.created_at)
      if (Math.random() < 0.02) await delay(Math.random() * 10)
      if (seen.length === 340) break
    }
    await recording
    expect(await Promise.all(children.map((child) => child.ended))).toEqual([0, 0, 0])
    isOver = true
    const written = children.flatMap((child) => linesOf(child))
    expect(written).toHaveLength(300)
    expect(seen.toSorted()).toEqual([...written, ...own].toSorted())
    expect(times).toEqual([...new Set(times)].toSorted())
    expect((await polling).toSorted()).toEqual(seen.toSorted())
  })

  it('yields events from the outbox', async () => {
    const audit = openLog()
    const host = new Database(file.filename)
    const tail = audit.tail()
    host.exec('BEGIN')
    await audit.recordCustom('order', { n: 1 }, { transaction: host })
    host.exec('COMMIT')
    const first = await tail.next()
    expect(first.value).toMatchObject({ type: 'order', attributes: { n: 1 } })
    await tail.return()
    host.close()
  })

  it('starts after the events that were there at the call', async () => {
    const audit = openLog()
    const other = openLog()
    await audit.recordCustom('before')
    await using tail = audit.tail()
    const recorded = other.recordCustom('after')
    expect((await tail.next()).value).toEqual(await recorded)
  })
})
