import fs from 'node:fs'
import path from 'node:path'
import { setImmediate as nextTurn, setTimeout as delay } from 'node:timers/promises'
import Database from 'better-sqlite3'
import { type AuditEvent, AuditLog, type AuditLogOptions, type EventTypes } from 'daybook'
import { sqliteStore, type SqliteStoreOptions } from 'daybook/sqlite'
import { manualClock } from 'daybook/testing'
import { beforeEach, describe, expect, it } from 'vitest'
import { DEADLINE_MS, driveDeadlines, untilTried } from '../../support/deadlines.js'
import { runScript } from '../../support/child.js'
import { BUSY } from '../../support/node-sqlite/busy.js'
import { soakRounds, soakTimeout } from '../../support/soak.js'
import { useSqliteFile } from '../../support/sqlite-file.js'

const file = useSqliteFile()
const openHost = (name: string): Database.Database => file.closing(new Database(name))

let host: Database.Database
beforeEach(() => {
  host = openHost(file.filename)
  host.exec('CREATE TABLE orders (name TEXT, n INTEGER)')
})

function openLog(
  options: Partial<SqliteStoreOptions> = {},
  others: Partial<AuditLogOptions<EventTypes>> = {},
): AuditLog {
  const place = 'database' in options ? {} : { filename: file.filename }
  const store = sqliteStore({ ...place, ...options } as SqliteStoreOptions)
  return file.closing(new AuditLog({ store, types: {}, ...others }))
}

async function all(audit: AuditLog, filter = ''): Promise<AuditEvent[]> {
  const events: AuditEvent[] = []
  for await (const page of audit.pages(`${filter}&filter[sorts]=created_at`)) events.push(...page)
  return events
}

const numbers = (events: readonly AuditEvent[]): unknown[] =>
  events.map((event) => event.attributes['n'])

/** Records the event in a new transaction. */
async function commitOne(
  audit: AuditLog,
  type: string,
  data: Record<string, string | number> = {},
  handle = host,
): Promise<void> {
  handle.exec('BEGIN')
  await audit.recordCustom(type, data, { transaction: handle })
  handle.exec('COMMIT')
}

const countWaiting = (handle = host): unknown =>
  handle.prepare('SELECT count(*) FROM daybook_outbox').pluck().get()

describe('events of host transactions', () => {
  it('are stored after a commit and not after a rollback', async () => {
    const audit = openLog()
    const calls: Promise<unknown>[] = []
    const order = host.transaction((n: number) => {
      host.prepare('INSERT INTO orders VALUES (?, ?)').run('ann', n)
      calls.push(audit.recordCustom('order', { n }, { username: 'ann', transaction: host }))
      if (n === 2) throw new Error('out of stock')
    })
    order(1)
    expect(() => order(2)).toThrow('out of stock')
    order(3)
    expect(countWaiting()).toBe(2)
    expect(await Promise.all(calls)).toEqual([undefined, undefined, undefined])
    expect((await audit.list()).events).toEqual([])
    const next = await audit.recordCustom('next', { n: 4 })
    const events = await all(audit)
    expect(numbers(events)).toEqual([1, 3, 4])
    expect(events[2]).toEqual(next)
    expect(events[0]).toMatchObject({ type: 'order', username: 'ann', system: false, source: null })
    expect(await audit.get(events[0]!.id)).toEqual(events[0])
    expect(countWaiting()).toBe(0)
    expect(audit.stats()).toMatchObject({ calls: 4, journalled: 3, stored: 1, waiting: 0 })
  })

  it('are not stored after a rollback to a savepoint', async () => {
    const audit = openLog()
    const step = host.transaction((n: number) => {
      void audit.recordCustom('step', { n }, { transaction: host })
      if (n === 2) throw new Error('no')
    })
    host.transaction(() => {
      step(1)
      expect(() => step(2)).toThrow('no')
      step(3)
    })()
    await audit.recordCustom('next', { n: 4 })
    expect(numbers(await all(audit))).toEqual([1, 3, 4])
  })

  it('are refused if no transaction is open', async () => {
    const audit = openLog()
    const refused = {
      code: 'INVALID_OPTION',
      message: 'transaction: no transaction is open on the database handle',
    }
    const record = (): Promise<unknown> =>
      audit.recordCustom('alone', { n: 1 }, { transaction: host })
    await expect(record()).rejects.toMatchObject(refused)
    await commitOne(audit, 'order', { n: 2 })
    await expect(record()).rejects.toMatchObject(refused)
    await audit.recordCustom('next', { n: 3 })
    expect(numbers(await all(audit))).toEqual([2, 3])
  })

  it('match the commits after many commits and rollbacks', async () => {
    const audit = openLog()
    const seen: AuditEvent[] = []
    const readNew = async (): Promise<void> => {
      const after = seen.at(-1)?.created_at ?? '2000-01-01'
      const filter = { created_at_gt: after, sorts: 'created_at' }
      seen.push(...(await audit.list({ filter, limit: 1000 })).events)
    }
    for (let n = 0; n < 200; n++) {
      host.exec('BEGIN')
      host.prepare('INSERT INTO orders VALUES (?, ?)').run('ann', n)
      await audit.recordCustom('order', { n }, { transaction: host })
      host.exec(n % 7 === 0 || Math.random() < 0.3 ? 'ROLLBACK' : 'COMMIT')
      if (n % 5 === 0) await audit.recordCustom('plain', { n })
      if (n % 50 === 0) await nextTurn()
      if (Math.random() < 0.2) await readNew()
    }
    await audit.recordCustom('end')
    await readNew()
    const committed = host.prepare('SELECT n FROM orders ORDER BY n').pluck().all()
    expect(committed.length).toBeGreaterThan(30)
    expect(committed.length).toBeLessThan(200 - 200 / 7)
    // The polls returned each event, in order.
    expect(numbers(seen.filter(({ type }) => type === 'order'))).toEqual(committed)
    expect(seen).toEqual(await all(audit))
  })

  it('match the commits after kills at any moment', { timeout: soakTimeout(180_000) }, async () => {
    host.pragma('journal_mode = WAL')
    let [committed, rolledBack, processes] = [0, 0, 0]
    for (const round of soakRounds(1)) {
      const names = [`${round}a`, `${round}b`]
      const children = names.map((name) =>
        runScript('test/stores/sqlite/committing-child.ts', [file.filename, name]),
      )
      await Promise.all(children.flatMap((child) => [child.saw('c\n'), child.saw('r\n')]))
      await delay(Math.random() * 200)
      for (const child of children) {
        await child.kill()
        processes += 1
        committed += child.stdout().split('c').length - 1
        rolledBack += child.stdout().split('r').length - 1
      }
    }
    const audit = openLog()
    await audit.recordCustom('end')
    while (countWaiting() !== 0) await delay(10)
    const orders = await all(audit, 'filter[type_eq]=order')
    const found = orders.map(({ attributes: { name, n } }) => `${name as string}/${n as number}`)
    const kept = host.prepare(`SELECT name || '/' || n FROM orders`).pluck().all() as string[]
    expect(found.toSorted()).toEqual(kept.toSorted())
    expect(rolledBack).toBeGreaterThanOrEqual(processes)
    expect(committed).toBeGreaterThanOrEqual(processes)
    // The child may be killed after a commit and before it writes the line.
    expect(kept.length).toBeGreaterThanOrEqual(committed)
    const times = (await all(audit)).map((event) => event.created_at)
    expect(times).toEqual([...new Set(times)].toSorted())
    for (const name of new Set(orders.map((event) => event.attributes['name']))) {
      const own = numbers(orders.filter((event) => event.attributes['name'] === name)) as number[]
      expect(own).toEqual(own.toSorted((a, b) => a - b))
    }
  })

  it('are all stored before a later append, even if there are many', async () => {
    const audit = openLog()
    host.transaction(() => {
      for (let n = 0; n < 1200; n++) void audit.recordCustom('order', { n }, { transaction: host })
    })()
    await audit.recordCustom('next', { n: 1200 })
    expect(numbers(await all(audit))).toEqual(Array.from({ length: 1201 }, (_, n) => n))
  })

  it('become visible without any append', async () => {
    const audit = openLog()
    let hints = 0
    audit.store.watch(() => hints++)
    host.transaction(() => {
      for (let n = 0; n < 700; n++) void audit.recordCustom('order', { n }, { transaction: host })
    })()
    while ((await audit.list()).events.length === 0) await delay(20)
    while (countWaiting() !== 0) await delay(5)
    expect(numbers(await all(audit))).toEqual(Array.from({ length: 700 }, (_, n) => n))
    await expect.poll(() => hints).toBeGreaterThanOrEqual(2)
  })

  it('are moved by another store after the store that recorded them is closed', async () => {
    const first = openLog()
    const other = openLog()
    host.exec('BEGIN')
    await first.recordCustom('order', { n: 1 }, { transaction: host })
    await first.close()
    host.exec('COMMIT')
    await other.recordCustom('next', { n: 2 })
    expect(numbers(await all(other))).toEqual([1, 2])
  })

  it('are moved by close unless close would have to wait', async () => {
    const audit = openLog()
    await commitOne(audit, 'order', { n: 1 })
    await audit.close()
    expect(countWaiting()).toBe(0)
    const second = openLog()
    host.exec('BEGIN')
    await second.recordCustom('order', { n: 2 }, { transaction: host })
    await second.close()
    expect(countWaiting()).toBe(1)
    host.exec('COMMIT')
    const third = openLog()
    expect(numbers(await all(third))).toEqual([1])
    await third.recordCustom('next', { n: 3 })
    expect(numbers(await all(third))).toEqual([1, 2, 3])
  })

  it('get occurred_at if they become visible more than a second later', async () => {
    const clock = manualClock('2026-03-01T12:00:00Z')
    const audit = openLog({ clock })
    const own = '2020-01-01T00:00:00.000000Z'
    const inputs = [
      { n: 1 },
      {},
      { occurred_at: own },
      { occurred_at: null },
      { deep: [{ a: '"' }] },
    ]
    host.exec('BEGIN')
    for (const data of inputs) await audit.recordCustom('late', data, { transaction: host })
    clock.advance(1_000_001)
    await audit.recordCustom('recent', { n: 2 }, { transaction: host })
    host.exec('COMMIT')
    // The store gives these seven events consecutive times, of which the last is the time of the clock.
    clock.advance(7)
    await audit.recordCustom('next')
    const events = await all(audit)
    const occurred_at = '2026-03-01T12:00:00.000000Z'
    expect(events.map(({ attributes }) => JSON.stringify(attributes))).toEqual([
      JSON.stringify({ n: 1, occurred_at }),
      JSON.stringify({ occurred_at }),
      JSON.stringify({ occurred_at: own }),
      JSON.stringify({ occurred_at: null }),
      JSON.stringify({ deep: [{ a: '"' }], occurred_at }),
      JSON.stringify({ n: 2 }),
      '{}',
    ])
    expect(events[0]!.created_at).toBe('2026-03-01T12:00:01.000002Z')
  })

  it('get no occurred_at after exactly a second or if the clock was set back', async () => {
    const clock = manualClock('2026-03-01T12:00:00Z')
    const audit = openLog({ clock })
    await commitOne(audit, 'a')
    clock.advance(1_000_001)
    // The two events get consecutive times, of which the second is the time of the clock.
    await audit.recordCustom('next')
    await commitOne(audit, 'b')
    clock.advance(-3_600_000_000)
    await audit.recordCustom('next')
    const events = await all(audit)
    expect(events[0]!.created_at).toBe('2026-03-01T12:00:01.000000Z')
    expect(events.map(({ attributes }) => attributes)).toEqual([{}, {}, {}, {}])
  })
})

describe('an open transaction of the host', () => {
  it('delays appends until it ends, and its events come first', async () => {
    const audit = openLog()
    host.exec('BEGIN')
    await audit.recordCustom('order', { n: 1 }, { transaction: host })
    const plain = audit.recordCustom('plain', { n: 2 })
    await delay(150)
    expect(audit.stats()).toMatchObject({ waiting: 1, journalled: 1, stored: 0 })
    host.exec('COMMIT')
    await plain
    expect(numbers(await all(audit))).toEqual([1, 2])
  })

  it('that lasts beyond the deadline makes appends reject with the reason', async () => {
    const passDeadlines = driveDeadlines()
    const audit = openLog({}, { waiting: { deadlineMs: DEADLINE_MS } })
    host.exec('BEGIN')
    await audit.recordCustom('order', { n: 1 }, { transaction: host })
    const plain = expect(audit.recordCustom('plain')).rejects.toMatchObject({
      code: 'DEADLINE_EXCEEDED',
      message: `the sqlite store did not take the event within ${DEADLINE_MS} ms: database is locked`,
    })
    await untilTried()
    passDeadlines()
    await plain
    host.exec('COMMIT')
    await audit.recordCustom('next', { n: 2 })
    // The report of the lost event may be stored by now.
    expect(numbers(await all(audit, 'filter[n_present]=true'))).toEqual([1, 2])
  })

  it('delays the poll of the outbox without an error', async () => {
    const audit = openLog()
    await commitOne(audit, 'order', { n: 1 })
    const other = openHost(file.filename)
    other.exec('BEGIN IMMEDIATE')
    await delay(1500)
    expect(countWaiting()).toBe(1)
    other.exec('COMMIT')
    while (countWaiting() !== 0) await delay(5)
    expect(numbers(await all(audit))).toEqual([1])
  })

  it('that cannot get the write lock makes the call reject', async () => {
    const audit = openLog()
    host.pragma('busy_timeout = 0')
    const other = openHost(file.filename)
    other.exec('BEGIN IMMEDIATE')
    host.exec('BEGIN')
    const call = audit.recordCustom('order', {}, { transaction: host })
    await expect(call).rejects.toMatchObject({
      code: 'STORE_FAILED',
      message: 'the SQLite store failed: database is locked',
      cause: BUSY,
    })
    other.exec('ROLLBACK')
    expect(audit.stats()).toMatchObject({ rejected: 1, journalled: 0 })
  })
})

describe('the handle', () => {
  const refused = (message: string | RegExp): object => ({
    code: 'INVALID_OPTION',
    message: expect.stringMatching(message),
  })

  it('keeps its settings and its statements', async () => {
    const names = ['journal_mode', 'synchronous', 'busy_timeout', 'foreign_keys', 'cache_size']
    const settings = (): unknown => names.map((name) => host.pragma(name, { simple: true }))
    host.pragma('synchronous = 1')
    host.pragma('foreign_keys = 0')
    host.defaultSafeIntegers(true)
    const audit = openLog({ database: host })
    const before = settings()
    const select = host.prepare('SELECT n FROM orders')
    await commitOne(audit, 'order')
    await audit.recordCustom('next')
    expect(settings()).toEqual(before)
    expect(select.all()).toEqual([])
    expect((await all(audit)).map(({ type }) => type)).toEqual(['order', 'next'])
  })

  it('works on a file in rollback-journal mode', async () => {
    const audit = openLog({ database: host })
    expect(host.pragma('journal_mode', { simple: true })).toBe('delete')
    host.transaction(() => void audit.recordCustom('order', { n: 1 }, { transaction: host }))()
    await audit.recordCustom('next', { n: 2 })
    expect(numbers(await all(audit))).toEqual([1, 2])
  })

  it('may be open under another name of the file', async () => {
    const audit = openLog()
    const link = file.beside('link')
    fs.symlinkSync(file.folder, link)
    const names = [path.relative(process.cwd(), file.filename), path.join(link, 'audit.db')]
    for (const name of names) await commitOne(audit, 'order', { name }, openHost(name))
    const through = new AuditLog({ store: sqliteStore({ filename: names[1]! }), types: {} })
    await commitOne(through, 'order', { name: file.filename })
    await through.close()
    const found = (await all(audit)).map(({ attributes }) => attributes['name'])
    expect(found).toEqual([...names, file.filename])
  })

  it('may have a temporary table of the same name', async () => {
    const audit = openLog()
    host.exec('CREATE TEMP TABLE daybook_outbox (id INTEGER)')
    await commitOne(audit, 'order', { n: 1 })
    await audit.recordCustom('next', { n: 2 })
    expect(numbers(await all(audit))).toEqual([1, 2])
  })

  it('on another file, in memory or closed is refused', async () => {
    const audit = openLog()
    const elsewhere = file.beside('other.db')
    await openLog({ filename: elsewhere }).recordCustom('x')
    const other = openHost(elsewhere)
    const memory = openHost(':memory:')
    memory.exec(`ATTACH '${file.filename}' AS audit`)
    const closed = new Database(file.filename)
    closed.close()
    const used = new Database(file.filename)
    await commitOne(audit, 'order', {}, used)
    used.close()
    const record = (transaction: object): Promise<unknown> =>
      audit.recordCustom('order', { wrong: true }, { transaction })
    await expect(record(other)).rejects.toMatchObject(refused(/other\.db, not on .*audit\.db$/))
    await expect(record(memory)).rejects.toMatchObject(refused('on no file, not on'))
    await expect(record(closed)).rejects.toMatchObject(refused('closed'))
    await expect(record(used)).rejects.toMatchObject(refused('closed'))
    expect(countWaiting(other)).toBe(0)
    expect(countWaiting()).toBe(1)
  })

  it.each<[string, object]>([
    ['an empty object', {}],
    ['a pg client', { query() {}, connect() {} }],
    ['a statement', { open: true, prepare: 'SELECT' }],
    ['a handle that breaks', { open: true, prepare: () => expect.fail('broken') }],
    ['a store', { open: 1, prepare() {} }],
  ])('%s is refused', async (_, transaction) => {
    const audit = openLog()
    const call = audit.recordCustom('order', {}, { transaction })
    await expect(call).rejects.toMatchObject(refused(/^transaction: the /))
    expect(countWaiting()).toBe(0)
  })
})

it('an open log does not keep its process alive', async () => {
  const child = runScript('test/stores/sqlite/idle-child.ts', [file.filename])
  expect(await child.ended).toBe(0)
  expect(child.stdout()).toBe('recorded\n')
  const audit = openLog()
  await audit.recordCustom('next')
  expect((await all(audit)).map(({ type }) => type)).toEqual(['enlisted', 'next'])
})
