import { setTimeout as delay } from 'node:timers/promises'
import { AuditLog, type AuditEvent, AuditLogError, formatTimestamp, parseTimestamp } from 'daybook'
import type { PostgresStoreOptions } from 'daybook/postgres'
import { manualClock } from 'daybook/testing'
import pg from 'pg'
import { describe, expect, it, onTestFinished } from 'vitest'
import { eventId } from '../../../src/event/event-id.js'
import { useSchemas } from '../../support/schemas.js'

const { database, schema, openStore } = useSchemas('test')

type Options = Partial<PostgresStoreOptions>

const openLog = (options?: Options): AuditLog =>
  new AuditLog({ store: openStore(options), types: {} })

/** A connection of the host, for the rest of the test. */
async function connect(options: pg.ClientConfig = {}): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: database().url, ...options })
  await client.connect()
  onTestFinished(() => client.end())
  return client
}

/** An event to import. */
const old = (created_at: string): AuditEvent => ({
  id: `0196b3c2-0000-4000-8000-${created_at.replaceAll(/\D/g, '').slice(2, 14)}`,
  ...{ created_at, username: null, system: true, type: 'old', source: null, attributes: {} },
})

const types = (events: readonly AuditEvent[]): string[] => events.map((event) => event.type)

async function codeOf(promise: Promise<unknown>): Promise<string> {
  const error = await promise.then(
    () => undefined,
    (error: unknown) => error,
  )
  expect(error).toBeInstanceOf(AuditLogError)
  return (error as AuditLogError).code
}

describe('the schema', () => {
  it('of a newer version is refused', async () => {
    await using audit = openLog()
    await audit.recordCustom('a')
    await database().pool.query(`UPDATE ${schema()}.schema_version SET version = 99`)
    await using other = openLog()
    await expect(other.recordCustom('b')).rejects.toMatchObject({
      code: 'SCHEMA_MISMATCH',
      message: expect.stringContaining('has version 99') as string,
    })
  })

  it('may have any name; each schema is a separate log', async () => {
    const imported = old('2025-05-01T10:00:00.000001Z')
    const names = ['Ünïcode "quoted" \'name\' $1 ?', 'select', 'a.b']
    for (const name of names) {
      await using audit = openLog({ schema: name })
      await audit.recordCustom('own:type', { name })
      await audit.importEvents([imported])
      const { events } = await audit.list({ filter: { name_cont: name.slice(1, 4) } })
      expect(events.map((event) => event.attributes['name'])).toEqual([name])
      const { events: found } = await audit.list({ filter: { id_eq: imported.id } })
      expect(found).toEqual([imported])
    }
  })

  it('can be used by a role without CREATE', async () => {
    await using owner = openLog()
    await owner.recordCustom('a')
    await database().pool.query(`
      CREATE ROLE ${schema()}_user LOGIN;
      GRANT USAGE ON SCHEMA ${schema()} TO ${schema()}_user;
      GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA ${schema()} TO ${schema()}_user;
      GRANT USAGE, SELECT, UPDATE ON ALL SEQUENCES IN SCHEMA ${schema()} TO ${schema()}_user;`)
    const url = new URL(database().url)
    url.username = `${schema()}_user`
    await using audit = openLog({ connectionString: url.href })
    await audit.recordCustom('b')
    expect(types((await audit.list()).events)).toEqual(['a', 'b'])
    await audit.close()
    await database().pool.query(`DROP OWNED BY ${schema()}_user; DROP ROLE ${schema()}_user`)
  })

  it('is refused in a database of another encoding', async () => {
    const name = `ascii_${schema()}_${process.pid}`
    await database().pool.query(
      `CREATE DATABASE ${name} ENCODING 'SQL_ASCII' TEMPLATE template0 LC_COLLATE 'C' LC_CTYPE 'C'`,
    )
    const url = new URL(database().url)
    url.pathname = `/${name}`
    const audit = openLog({ connectionString: url.href })
    await expect(audit.recordCustom('a')).rejects.toMatchObject({
      code: 'STORE_FAILED',
      message: expect.stringContaining('UTF8') as string,
    })
    await audit.close()
    await database().pool.query(`DROP DATABASE ${name}`)
  })
})

it('refuses invalid options', () => {
  const wrong: readonly [Options, RegExp][] = [
    [{ schema: '' }, /schema must be a name/],
    [{ schema: 'pg_mine' }, /does not begin with pg_/],
    [{ schema: 'x'.repeat(64) }, /63 bytes/],
    [{ partitions: 'week' as 'day' }, /month, day or none; it is week/],
    [{ connectionString: undefined as unknown as string }, /needs a connectionString/],
  ]
  for (const [options, message] of wrong) expect(() => openStore(options)).toThrow(message)
})

it('rejects at once if a retry cannot help', async () => {
  const url = new URL(database().url)
  url.pathname = '/no_such_database'
  await using audit = openLog({ connectionString: url.href })
  await expect(audit.recordCustom('a')).rejects.toMatchObject({
    code: 'STORE_FAILED',
    message: expect.stringContaining('no_such_database') as string,
  })
})

describe("in the host's pool", () => {
  it('neither ends the pool nor changes its settings', async () => {
    const pool = new pg.Pool({ connectionString: database().url, max: 2 })
    await pool.query('SELECT 1')
    const audit = openLog({ pool })
    await audit.recordCustom('a')
    await audit.list('filter[x_eq]=1')
    await audit.close()
    const settings = async (of: pg.Pool): Promise<unknown> =>
      (
        await of.query(
          `SELECT name, setting FROM pg_settings
           WHERE name IN ('statement_timeout', 'jit', 'synchronous_commit')`,
        )
      ).rows
    expect(await settings(pool)).toEqual(await settings(database().pool))
    await pool.end()
  })

  it('works with any type parsers of the host', async () => {
    const pool = new pg.Pool({
      connectionString: database().url,
      types: { getTypeParser: () => () => 'parsed' },
    })
    await using audit = openLog({ pool })
    const event = await audit.recordCustom('a', { x: [1] })
    expect((await audit.list()).events).toEqual([event])
    await audit.close()
    await pool.end()
  })
})

describe("in the host's transaction", () => {
  it('an open transaction blocks no append', async () => {
    await using audit = openLog()
    await audit.recordCustom('first')
    const host = await connect()
    await host.query('BEGIN')
    expect(await audit.recordCustom('inside', {}, { transaction: host })).toBeUndefined()
    const others = await Promise.all([1, 2, 3].map((n) => audit.recordCustom(`outside:${n}`)))
    expect(types((await audit.list()).events)).toEqual([
      'first',
      ...types(others.map((event) => event!)),
    ])
    await host.query('COMMIT')
    await audit.recordCustom('last')
    expect(types((await audit.list()).events)).toEqual([
      'first',
      'outside:1',
      'outside:2',
      'outside:3',
      'inside',
      'last',
    ])
  })

  it('a statement timeout of the host is reported as such', async () => {
    await using audit = openLog()
    await audit.recordCustom('first')
    const host = await connect()
    const other = await connect()
    await other.query('BEGIN')
    await other.query(`LOCK TABLE ${schema()}.outbox IN ACCESS EXCLUSIVE MODE`)
    await host.query('BEGIN; SET LOCAL statement_timeout = 50')
    await expect(audit.recordCustom('a', {}, { transaction: host })).rejects.toMatchObject({
      code: 'STORE_FAILED',
      message: expect.stringContaining('statement timeout') as string,
    })
    await other.query('ROLLBACK')
  })

  it('the event is kept exactly if the connection has another encoding', async () => {
    await using audit = openLog()
    await audit.recordCustom('first')
    const host = await connect()
    // In UTF-8, the last byte of this character is the first of two in SJIS. The second of these can be a backslash.
    const text = `\u0401\\'); SELECT 1; -- ?`
    await host.query("SET client_encoding TO 'SJIS'")
    await host.query('BEGIN')
    await audit.recordCustom('a', { text }, { username: text, transaction: host })
    await host.query('COMMIT')
    await audit.recordCustom('last')
    const { events } = await audit.list('filter[type_eq]=a')
    expect(events).toMatchObject([{ username: text, attributes: { text } }])
  })

  it('a client without an open transaction is refused', async () => {
    await using audit = openLog()
    await audit.recordCustom('first')
    const host = await connect()
    const record = (transaction: object): Promise<unknown> =>
      audit.recordCustom('order', {}, { transaction })
    const refused = {
      code: 'INVALID_OPTION',
      message: 'transaction must be a client with an open transaction: BEGIN first',
    }
    await expect(record(host)).rejects.toMatchObject(refused)
    await host.query('BEGIN')
    await record(host)
    await host.query('COMMIT')
    await expect(record(host)).rejects.toMatchObject(refused)
    // Runs each query on any connection, as wrappers of pools do.
    const wrapper = {
      query: (text: string, params: unknown[]) => database().pool.query(text, params),
    }
    await expect(record(wrapper)).rejects.toMatchObject(refused)
    await audit.recordCustom('last')
    expect(types((await audit.list()).events)).toEqual(['first', 'order', 'last'])
  })

  it('a pool, or a client of another database, is refused', async () => {
    await using audit = openLog()
    await audit.recordCustom('first')
    expect(await codeOf(audit.recordCustom('a', {}, { transaction: database().pool }))).toBe(
      'INVALID_OPTION',
    )
    const url = new URL(database().url)
    url.pathname = '/postgres'
    const other = await connect({ connectionString: url.href })
    expect(await codeOf(audit.recordCustom('a', {}, { transaction: other }))).toBe('INVALID_OPTION')
    expect(types((await audit.list()).events)).toEqual(['first'])
  })
})

describe('partitions', () => {
  const partitionsOf = async (): Promise<string[]> => {
    const { rows } = await database().pool.query<{ name: string }>(
      `SELECT relname AS name FROM pg_inherits JOIN pg_class ON pg_class.oid = inhrelid
       WHERE inhparent = '${schema()}.events'::regclass ORDER BY 1`,
    )
    return rows.map(({ name }) => name)
  }
  it('are created ahead, for imports, and after a leap of time', async () => {
    const clock = manualClock('2026-01-31T23:59:59.999999Z')
    await using audit = openLog({ clock })
    await audit.recordCustom('a')
    expect(await partitionsOf()).toEqual(['events_202601', 'events_202602', 'events_202603'])
    await audit.importEvents([
      old('2025-05-01T10:00:00.000001Z'),
      old('2025-06-30T23:59:59.999999Z'),
    ])
    clock.advance(366 * 86_400_000_000)
    await audit.recordCustom('b')
    expect(await partitionsOf()).toEqual(
      ['202505', '202506', '202601', '202602', '202603', '202702', '202703', '202704'].map(
        (month) => `events_${month}`,
      ),
    )
    expect(types((await audit.list()).events)).toEqual(['old', 'old', 'a', 'b'])
    expect(types((await audit.list('filter[sorts]=type desc')).events)).toEqual([
      'old',
      'old',
      'b',
      'a',
    ])
  })

  it('exist for a batch that spans midnight', async () => {
    const clock = manualClock('2026-03-01T00:00:00.000002Z')
    await using audit = openLog({ clock, partitions: 'day' })
    await Promise.all([1, 2, 3, 4, 5].map((n) => audit.recordCustom('a', { n })))
    const { events } = await audit.list()
    expect(events.map(({ created_at }) => created_at.slice(0, 10))).toEqual([
      '2026-02-28',
      '2026-02-28',
      '2026-03-01',
      '2026-03-01',
      '2026-03-01',
    ])
  })

  it('are dropped when their period has been removed, while events are appended', async () => {
    const clock = manualClock('2026-01-15T00:00:00Z')
    await using audit = openLog({ clock })
    for (let month = 0; month < 4; month++) {
      await Promise.all(Array.from({ length: 20 }, (_, n) => audit.recordCustom('a', { month, n })))
      clock.advance(31 * 86_400_000_000)
    }
    const bound = Date.UTC(2026, 2, 20) * 1000
    const host = await connect()
    await host.query('BEGIN')
    await audit.recordCustom('b', {}, { transaction: host })
    const [removed] = await Promise.all([
      audit.store.removeBefore(bound),
      ...Array.from({ length: 50 }, () => audit.recordCustom('c')),
    ])
    await host.query('COMMIT')
    expect(removed).toBe(60)
    expect((await partitionsOf()).slice(0, 1)).toEqual(['events_202603'])
    const { events } = await audit.list('filter[type_eq]=a&limit=100')
    expect(events.map((event) => event.attributes['month'])).toEqual(Array(20).fill(3))
    expect(events[0]!.created_at > formatTimestamp(bound)).toBe(true)
  })

  it('that a killed process left detached are dropped by the next removal', async () => {
    const clock = manualClock('2026-01-15T00:00:00Z')
    await using audit = openLog({ clock })
    await audit.recordCustom('a')
    clock.advance(31 * 86_400_000_000)
    await audit.recordCustom('b')
    await database().pool.query(
      `ALTER TABLE ${schema()}.events DETACH PARTITION ${schema()}.events_202601`,
    )
    await audit.store.removeBefore(Date.UTC(2026, 1, 1) * 1000)
    const { rows } = await database().pool.query(
      `SELECT 1 FROM pg_class WHERE oid = to_regclass('${schema()}.events_202601')`,
    )
    expect(rows).toEqual([])
    expect(types((await audit.list()).events)).toEqual(['b'])
  })
})

describe('queries', () => {
  it('are cancelled after the time limit with a clear error', async () => {
    await using audit = openLog({ queryTimeoutMs: 50 })
    await audit.recordCustom('a')
    const host = await connect()
    await host.query('BEGIN')
    await host.query(`LOCK TABLE ${schema()}.events IN ACCESS EXCLUSIVE MODE`)
    await expect(audit.list('filter[x_cont]=y')).rejects.toMatchObject({
      code: 'QUERY_TIMEOUT',
      message: expect.stringMatching(/longer than 50 ms: add bounds of created_at/) as string,
    })
    await host.query('ROLLBACK')
    await using patient = openLog()
    expect(types((await patient.list()).events)).toEqual(['a'])
  })

  it('are cancelled when their signal aborts', async () => {
    const writer = openLog()
    await writer.recordCustom('a')
    // From here on, no index builder waits for the lock.
    await writer.close()
    await using audit = openLog()
    expect(types((await audit.list()).events)).toEqual(['a'])
    const host = await connect()
    await host.query('BEGIN')
    await host.query(`LOCK TABLE ${schema()}.events IN ACCESS EXCLUSIVE MODE`)
    // `host` cannot wait for this, because in a transaction pg_stat_activity shows the connections of its first
    // query.
    const waiting = async (): Promise<number> => {
      const { rows } = await database().pool.query(
        `SELECT FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()`,
      )
      return rows.length
    }
    const cancel = new AbortController()
    const list = codeOf(audit.list('', { signal: cancel.signal }))
    while ((await waiting()) === 0) await delay(10)
    cancel.abort()
    expect(await list).toBe('ABORTED')
    while ((await waiting()) > 0) await delay(10)
    await host.query('ROLLBACK')
  })

  it('find rare values by the index and frequent ones among the newest events', async () => {
    await using audit = openLog({ partitions: 'none' })
    const first = parseTimestamp('2026-01-01')!
    await audit.importEvents(
      Array.from({ length: 1500 }, (_, n) => ({
        ...old(formatTimestamp(first + n)),
        id: eventId(first + n, '8000000000000000'),
        type: `type:${n % 7}`,
        attributes: { n, old: n < 400 ? 'yes' : 'no' },
      })),
    )
    await database().pool.query(`ANALYZE ${schema()}.events`)
    const list = async (filter: object): Promise<unknown[]> =>
      (await audit.list({ filter, limit: 3 } as never)).events.map((event) => event.attributes['n'])
    expect(await list({ n_eq: '17' })).toEqual([17])
    expect(await list({ n_in: ['17', '400', '1499'] })).toEqual([17, 400, 1499])
    expect(await list({ old_eq: 'yes' })).toEqual([397, 398, 399])
    expect(await list({ old_eq: 'yes', n_lt: '10' })).toEqual([7, 8, 9])
    expect(await list({ type_eq: 'type:3', sorts: 'n' })).toEqual([3, 10, 17])
    expect(await list({ missing_cont: 'x' })).toEqual([])
    expect(await list({ n_eq: '17', sorts: 'created_at' })).toEqual([17])
    expect(await list({ old_eq: 'no', sorts: 'created_at' })).toEqual([400, 401, 402])
  })
})

describe('hints', () => {
  it('arrive from other processes, also after a lost connection', async () => {
    await using audit = openLog()
    await using other = openLog()
    await audit.recordCustom('a')
    let hints = 0
    const stop = audit.store.watch(() => hints++)
    const untilHinted = async (): Promise<void> => {
      const before = hints
      while (hints === before) {
        await other.recordCustom('b')
        await delay(100)
      }
    }
    await untilHinted()
    await database().pool.query(
      `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
       WHERE datname = current_database() AND pid <> pg_backend_pid() AND query LIKE 'LISTEN%'`,
    )
    await delay(50)
    await untilHinted()
    stop()
  })
})
