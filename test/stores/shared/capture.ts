import {
  type AuditEvent,
  type AuditLog,
  type HistoryEntry,
  type LinkKind,
  revertPatch,
} from 'daybook'
import { describe, expect, it } from 'vitest'
import type { CaptureAsArguments } from '../../../src/recording/call-context.js'
import type { CaptureOptions, CaptureResult } from '../../../src/store-kit/capture.js'
import { type CaptureRow, expectActors, REFUSED } from './captured-actors.js'

/** The tables that each test finds, without rows and triggers. */
export const TABLES = `
  CREATE TABLE orders (id text PRIMARY KEY, total numeric, remark text);
  CREATE TABLE lines (
    order_id text REFERENCES orders ON DELETE CASCADE, line int, product text,
    PRIMARY KEY (order_id, line)
  )`

/** Runs statements. */
type Run = (text: string) => Promise<unknown>

type CaptureAs = (...given: CaptureAsArguments<unknown>) => Promise<unknown>

/** A connection of the host, on which a transaction can be begun. */
export interface HostConnection {
  readonly sql: Run
  /** Calls `captureAs` for the transaction of the connection. */
  readonly as: CaptureAs
}

/** Functions with which tests capture changes in one store. Each test has a new log. */
export interface CaptureHarness {
  audit(): AuditLog
  readonly sql: Run
  connect(act: (connection: HostConnection) => Promise<void>): Promise<void>
  /** Captures both tables, unless the options name others. */
  capture(options?: Partial<CaptureOptions>): Promise<CaptureResult>
  remove(tables?: readonly string[]): Promise<readonly string[]>
  /** Changes whenever a trigger is created, replaced or dropped. */
  version(): Promise<unknown>
  /** Triggers and functions of captured tables. */
  triggers(): Promise<readonly unknown[]>
  /** Maximum number of columns of a captured table in addition to its key. */
  readonly columns: number
  /** Options that only this store refuses, by a part of the message. */
  readonly refused: Readonly<Record<string, object>>
}

/** Moves captured changes into the log, and returns their events. */
export async function capturedIn(audit: AuditLog): Promise<readonly AuditEvent[]> {
  await audit.recordCustom('end')
  const { events } = await audit.list('filter[type_start]=audit:&limit=1000')
  // An event that is moved at least a second later has the time of the change of its row.
  return events.map((event) => {
    const { ...attributes } = event.attributes
    delete attributes['occurred_at']
    return { ...event, attributes }
  })
}

export const typesOf = (events: readonly AuditEvent[]): readonly string[] =>
  events.map(({ type }) => type)

/** The values of an attribute. */
export const each = (events: readonly AuditEvent[], name: string): readonly unknown[] =>
  events.map(({ attributes }) => attributes[name])

/** The key of each order, and the user who changed it. */
export const usersOf = (events: readonly AuditEvent[]): readonly unknown[] =>
  events.map(({ username, attributes }) => [attributes['order_id'], username])

export const insertOrder = (id: string, total = 1): string =>
  `INSERT INTO orders (id, total) VALUES ('${id}', ${total})`

const invalid = (message: string): unknown =>
  expect.objectContaining({ code: 'INVALID_OPTION', message: expect.stringContaining(message) })

/** Tests of the content of events of captured changes. */
export function describeCapturedChanges(harness: CaptureHarness): void {
  const { audit, sql, capture } = harness
  const captured = () => capturedIn(audit())

  it('are events with the row before and after, in order', async () => {
    await capture()
    await sql(insertOrder('A', 99.5))
    await sql(`UPDATE orders SET total = 100.10, remark = 'x' WHERE id = 'A'`)
    await audit().recordCustom('between')
    await sql(`DELETE FROM orders`)
    const before = { id: 'A', total: 99.5, remark: null }
    const after = { id: 'A', total: 100.1, remark: 'x' }
    const changes = [
      { op: 'replace', path: '/total', value: 100.1, old_value: 99.5 },
      { op: 'replace', path: '/remark', value: 'x', old_value: null },
    ]
    const identity = { table: 'orders', order_id: 'A' }
    const found = await captured()
    expect(found.map(({ type, username, attributes }) => [type, username, attributes])).toEqual([
      ['audit:orders:create', null, { ...identity, after: before }],
      ['audit:orders:update', null, { ...identity, before, after, changes }],
      ['audit:orders:destroy', null, { ...identity, before: after }],
    ])
    const { events } = await audit().list()
    expect(typesOf(events)).toEqual([
      'audit:orders:create',
      'audit:orders:update',
      'between',
      'audit:orders:destroy',
      'end',
    ])
    expect(events.every(({ system, type }) => system === type.startsWith('audit:'))).toBe(true)
    const query = 'filter[after_total_gt]=100&filter[changes_path_eq]=/remark'
    expect(typesOf((await audit().list(query)).events)).toEqual(['audit:orders:update'])
    expect(await audit().verify()).toMatchObject({ damage: [] })
  })

  it('have a history, and can be undone', async () => {
    await capture()
    await sql(insertOrder('A', 1))
    await sql(`UPDATE orders SET total = 2; UPDATE orders SET total = 3; DELETE FROM orders`)
    const events = await captured()
    const entries: HistoryEntry[] = []
    for await (const entry of audit().history({ order_id: 'A' })) entries.push(entry)
    const states = entries.map(({ state }) => (state as { total: number } | null)?.total)
    expect(states).toEqual([1, 2, 3, undefined])
    expect(entries.at(-1)!.state).toBeNull()
    expect(revertPatch(events[1]!)).toEqual([{ op: 'replace', path: '/total', value: 1 }])
  })

  it('follow a row to its new key, while another row gets the old key', async () => {
    await capture()
    await sql(insertOrder('A', 10))
    await sql(`UPDATE orders SET id = 'B' WHERE id = 'A'`)
    await sql(insertOrder('A', 99))
    await sql(`UPDATE orders SET total = 11 WHERE id = 'B'`)
    const [, renamed] = await captured()
    expect(renamed!.attributes).toMatchObject({ order_id: 'B', previous_order_id: 'A' })
    const totals: Record<string, unknown[]> = { A: [], B: [] }
    for (const id of Object.keys(totals))
      for await (const { state } of audit().history({ order_id: id }))
        totals[id]!.push((state as { total: number } | null)?.total ?? null)
    expect(totals).toEqual({ A: [10, null, 99], B: [10, 11] })
  })

  it('include changes by bulk statements, upserts and cascades, but not changes that are rolled back', async () => {
    await capture()
    for (const id of ['A', 'B', 'C']) await sql(insertOrder(id))
    await sql(`
      INSERT INTO lines VALUES ('A', 1, 'x'), ('A', 2, 'y');
      UPDATE orders SET total = total + 1;
      UPDATE orders SET total = total;
      INSERT INTO orders (id, total) VALUES ('A', 5) ON CONFLICT (id) DO UPDATE SET total = 5;
      INSERT INTO orders (id, total) VALUES ('A', 6) ON CONFLICT DO NOTHING`)
    await sql('BEGIN; DELETE FROM orders; ROLLBACK')
    await sql('BEGIN; SAVEPOINT one; DELETE FROM orders; ROLLBACK TO one; COMMIT')
    await sql(`DELETE FROM orders WHERE id = 'A'`)
    const found = await captured()
    expect(typesOf(found).toSorted()).toEqual([
      ...Array<string>(2).fill('audit:lines:create'),
      ...Array<string>(2).fill('audit:lines:destroy'),
      ...Array<string>(3).fill('audit:orders:create'),
      'audit:orders:destroy',
      ...Array<string>(4).fill('audit:orders:update'),
    ])
    const line = found.find(({ type }) => type === 'audit:lines:create')!
    expect(line.attributes).toMatchObject({ primary_key: { order_id: 'A', line: 1 } })
  })

  it('hold rows of many columns', async () => {
    const columns = Array.from({ length: harness.columns }, (_, i) => `c${i} int`)
    await sql(`CREATE TABLE wide (id int PRIMARY KEY, ${columns.join(', ')})`)
    await capture({ tables: ['wide'] })
    const last = `c${harness.columns - 1}`
    await sql(`INSERT INTO wide (id) VALUES (1); UPDATE wide SET ${last} = 1`)
    const [, update] = await captured()
    expect(update!.attributes['changes']).toEqual([
      { op: 'replace', path: `/${last}`, value: 1, old_value: null },
    ])
  })

  it('leave out states above the size of an event', async () => {
    await capture()
    await sql(insertOrder('A'))
    await sql(`UPDATE orders SET remark = '${'x'.repeat(1_100_000)}'`)
    const [, large] = await captured()
    expect(large!.attributes).toEqual({
      table: 'orders',
      order_id: 'A',
      recording: { replaced: ['/before', '/after'], cut_bytes: expect.any(Number) },
    })
    expect(() => revertPatch(large!)).toThrow(expect.objectContaining({ code: 'NOT_REVERTIBLE' }))
  })

  it.each<[LinkKind, string, readonly (readonly [key: string, end: string | null])[]]>([
    [
      'uuid',
      'text',
      [
        ["'0190B6A4-64A1-7000-8000-000000000001'", '0190b6a4-64a1-7000-8000-000000000001'],
        ["'acme'", null],
      ],
    ],
    [
      'code',
      'text',
      [
        ["'A-17_b.C'", 'A-17_b.C'],
        ["'..'", null],
        ["'a/b'", null],
        ["'ä'", null],
        ["'7'", '7'],
      ],
    ],
    [
      'integer',
      'bigint',
      [
        ['7', '7'],
        ['0', '0'],
        ['-7', null],
        ['9007199254740993', '9007199254740993'],
      ],
    ],
    [
      'integer',
      'text',
      [
        ["'7'", '7'],
        ["'07'", null],
        ["''", null],
        ["'7a'", null],
      ],
    ],
    ['/{code}', 'text', [["'/a'", null]]],
  ])(
    'name the resource of a link attribute of the kind %s as their source, keys are %s',
    async (kind, type, keys) => {
      await sql(`CREATE TABLE projects (id ${type} PRIMARY KEY)`)
      const place = kind === '/{code}' ? '{project_id}' : '/{project_id}'
      const links = [{ attribute: 'project_id', kind, path: `/api/projects${place}`, rank: 1 }]
      await capture({ tables: ['projects'] })
      await sql(`INSERT INTO projects VALUES (${keys[0]![0]})`)
      await sql('DELETE FROM projects')
      expect((await captured()).map(({ source }) => source)).toEqual([null, null])
      await capture({ tables: ['projects'], links })
      for (const [key] of keys) await sql(`INSERT INTO projects VALUES (${key})`)
      const ends = (await captured()).slice(2).map(({ source }) => source)
      expect(ends).toEqual(keys.map(([, end]) => end && `/api/projects/${end}`))
    },
  )

  it('refuse a wrong table of links', async () => {
    const links = [
      { attribute: 'project_id', kind: 'uuid', path: '/api/projects', rank: 1 },
    ] as const
    await expect(async () => capture({ links })).rejects.toMatchObject({
      code: 'INVALID_OPTION',
      message: expect.stringContaining('captureChanges: links[0]: path must be') as unknown,
    })
  })

  it('hide secrets, and leave out excluded columns', async () => {
    await sql(
      `CREATE TABLE users (id int PRIMARY KEY, name text, password_hash text, seen_at text)`,
    )
    await capture({ tables: ['users'], exclude: ['seen_at'] })
    await sql(`
      INSERT INTO users VALUES (1, 'ann', 'secret 1', 'now');
      UPDATE users SET seen_at = 'later';
      UPDATE users SET password_hash = 'secret 2', seen_at = 'then'`)
    const events = await captured()
    const value = '[redacted]'
    const after = { id: 1, name: 'ann', password_hash: value }
    const changes = [{ op: 'replace', path: '/password_hash', value, old_value: value }]
    expect(events.map(({ attributes }) => attributes)).toEqual([
      { table: 'users', user_id: 1, after },
      { table: 'users', user_id: 1, before: after, after, changes },
    ])
    expect(() => revertPatch(events[1]!)).toThrow('the old value of /password_hash is redacted')
  })

  it('leave out the columns that a type declares as personal, of each key', async () => {
    await sql(`CREATE TABLE people (id int PRIMARY KEY, email text, address text, n int)`)
    const subject = { kind: 'person', from: 'person_id' }
    const personal = [{ subject, attributes: ['email', 'address_city'] }]
    const types = { 'audit:people:update': { personal } }
    await capture({ tables: ['people'], types })
    await sql(`INSERT INTO people VALUES (1, 'ann@example.org', 'Bonn', 2)`)
    expect((await captured()).map(({ attributes }) => attributes)).toEqual([
      { table: 'people', people_id: 1, after: { id: 1, n: 2 } },
    ])
    const id = [{ subject, attributes: ['id'] }]
    await expect(async () =>
      capture({ tables: ['people'], types: { 'audit:people:create': { personal: id } } }),
    ).rejects.toMatchObject({ code: 'INVALID_OPTION', message: expect.stringContaining('id') })
  })

  it('have the chosen key of a table without a primary key, and the chosen name of the table', async () => {
    await sql(`CREATE TABLE keyless (a int, b int)`)
    await capture({ tables: [{ name: 'keyless', subject: 'things' }], primaryKey: ['a'] })
    await sql(`INSERT INTO keyless VALUES (1, 2)`)
    expect(await captured()).toMatchObject([
      {
        type: 'audit:things:create',
        attributes: { table: 'things', thing_id: 1, after: { a: 1, b: 2 } },
      },
    ])
  })
}

export function describeCaptureAs(harness: CaptureHarness): void {
  const { audit, sql, capture, connect } = harness
  const captured = () => capturedIn(audit())

  it('names the user of changes in the transaction meanwhile', async () => {
    await capture()
    await connect(async (host) => {
      await host.sql('BEGIN')
      await host.as("an'n", () => host.sql(insertOrder('A')))
      await host.sql(insertOrder('B'))
      const failing = host.as('eve', () => Promise.reject(new Error('mine')))
      await expect(failing).rejects.toThrow('mine')
      await host.sql(insertOrder('C'))
      await host.sql('COMMIT; BEGIN')
      const repeated = host.as('eve', () => host.sql(insertOrder('A')))
      await expect(repeated).rejects.toThrow(/UNIQUE|duplicate key/)
      await host.sql('ROLLBACK')
    })
    await sql(insertOrder('D'))
    expect(usersOf(await captured())).toEqual([
      ['A', "an'n"],
      ['B', null],
      ['C', null],
      ['D', null],
    ])
  })

  it('gives captured events the same actor and ids as recorded events', async () => {
    await sql('CREATE TABLE sessions (id text PRIMARY KEY)')
    await capture({ tables: ['orders', 'sessions'] })
    await connect(async (host) => {
      const add = async (...[given, table, id]: Parameters<CaptureRow>): Promise<void> => {
        await host.sql('BEGIN')
        await host.as(...given, () => host.sql(`INSERT INTO ${table} (id) VALUES ('${id}')`))
        await host.sql('COMMIT')
      }
      await expectActors(audit(), add, captured)
    })
  })

  it('is refused without a transaction, and with a bad actor', () =>
    connect(async ({ as }) => {
      const run = (): never => expect.fail('ran')
      await expect(as('ann', run)).rejects.toEqual(invalid('transaction'))
      for (const [given, message] of REFUSED)
        await expect(as(...(given as never))).rejects.toEqual(invalid(message))
    }))
}

/** Options that each store refuses, by a part of the message. */
const REFUSED_OPTIONS: Readonly<Record<string, object>> = {
  'tables must be a list of at least one table': { tables: [] },
  'tables has orders twice': { tables: ['orders', { name: 'orders' }] },
  'there is no table nowhere in': { tables: ['nowhere'] },
  'the table keyless has no primary key: give it { name, primaryKey }': { tables: ['keyless'] },
  'the table orders has no column totl; did you mean total?': {
    tables: [{ name: 'orders', exclude: ['totl'] }],
  },
  'exclude: no table has a column remarks; did you mean remark?': { exclude: ['remarks'] },
  'exclude has id, which identifies the rows of orders': { exclude: ['id'] },
  'exclude must be a list of names': { exclude: 'remark' },
  'the event type of the table orders must have 1 to 255 characters: give it a subject': {
    tables: [{ name: 'orders', subject: 'x'.repeat(300) }],
  },
}

export function describeCaptureChanges(harness: CaptureHarness): void {
  const { audit, sql, capture, remove } = harness
  const captured = () => capturedIn(audit())

  it('changes nothing if it is repeated, and replaces triggers for other options or columns', async () => {
    const none = { installed: [], replaced: [], unchanged: [] }
    expect(await capture()).toEqual({ ...none, installed: ['orders', 'lines'] })
    const version = await harness.version()
    expect(await capture()).toEqual({ ...none, unchanged: ['orders', 'lines'] })
    expect(await harness.version()).toEqual(version)
    const changed = { ...none, replaced: ['orders'], unchanged: ['lines'] }
    expect(await capture({ exclude: ['remark'] })).toEqual(changed)
    const tables = [{ name: 'orders', exclude: ['remark'] }, 'lines']
    expect(await capture({ tables })).toEqual({ ...none, unchanged: ['orders', 'lines'] })
    await sql('ALTER TABLE orders ADD COLUMN paid int')
    expect(await capture({ tables })).toEqual(changed)
    await sql(`INSERT INTO orders VALUES ('A', 1, 'x', 1)`)
    expect(each(await captured(), 'after')).toEqual([{ id: 'A', total: 1, paid: 1 }])
  })

  it('is undone by removeCapture', async () => {
    await capture()
    await sql(insertOrder('A'))
    expect(await remove(['lines', 'other'])).toEqual(['lines'])
    await sql(insertOrder('B'))
    expect(await remove()).toEqual(['orders'])
    expect(await remove()).toEqual([])
    await sql(insertOrder('C'))
    expect((await captured()).length).toBe(2)
    expect(await harness.triggers()).toEqual([])
  })

  it('refuses tables that it cannot capture', async () => {
    await sql(`CREATE VIEW seen AS SELECT 1; CREATE TABLE keyless (a int, b int)`)
    for (const [message, options] of Object.entries({ ...REFUSED_OPTIONS, ...harness.refused }))
      await expect(capture(options)).rejects.toEqual(invalid(message))
    expect(await harness.triggers()).toEqual([])
  })
}

/** Tests that all stores share, grouped by function. */
export function describeCapture(harness: CaptureHarness): void {
  describe('captured changes', () => describeCapturedChanges(harness))
  describe('captureAs', () => describeCaptureAs(harness))
  describe('captureChanges', () => describeCaptureChanges(harness))
}
