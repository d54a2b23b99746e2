import { setTimeout as delay } from 'node:timers/promises'
import { AuditLog, type FailurePolicy } from 'daybook'
import { postgresStore } from 'daybook/postgres'
import pg from 'pg'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { namesIn } from '../../../adapters/postgres/schema/names.js'
import { draft } from '../../../src/testing/conformance/helpers.js'
import { untilTried } from '../../support/deadlines.js'
import { useLeapingTime } from '../../support/leaping-time.js'
import { APPEND, type Proxy, startProxyOf } from '../../support/proxy.js'
import { holdOrderLock, waitingForOrder } from '../../support/order-lock.js'
import { useSchemas } from '../../support/schemas.js'
import { poolThrough, watchedPool } from '../../support/watched-pool.js'
import { memoryJournal } from '../../unit/memory-journal.js'

const { database, schema, openStore } = useSchemas('writer')

const ask = async (sql: string): Promise<unknown[][]> =>
  (await database().pool.query({ text: sql, rowMode: 'array' })).rows

/** The numbers and times of the stored events. */
const stored = async (): Promise<[number, string][]> =>
  (await ask(`SELECT (attributes->>'n')::int, created_at FROM ${schema()}.events
     WHERE type = 'test:event' ORDER BY created_at`)) as [number, string][]

const numbers = async (): Promise<number[]> => (await stored()).map(([n]) => n)

describe('an append and the commit that confirms it', () => {
  const append = (): string => `${namesIn(schema()).append}($1`

  /** Times at which the statements of appends are sent and answered. */
  const watchAppends = async (pipeline: boolean): Promise<string[]> => {
    const seen: string[] = []
    const options = { connectionString: database().url, max: 1, pipeline }
    const pool = poolThrough(options, async (text, send) => {
      const name = text.includes(append()) ? 'append' : text.includes('emit_message') && 'confirm'
      if (!name) return send()
      seen.push(`${name} sent`)
      return send().finally(() => seen.push(`${name} answered`))
    })
    const store = postgresStore({ pool, schema: schema() })
    // The first one connects and creates the schema.
    await store.append([draft({ n: 0 })])
    seen.length = 0
    await store.append([draft({ n: 1 }), draft({ n: 2 })])
    await store.close()
    await pool.end()
    return seen
  }

  it('are sent together if the driver can do that', async () => {
    expect(await watchAppends(true)).toEqual([
      'append sent',
      'confirm sent',
      'append answered',
      'confirm answered',
    ])
  })

  it('are sent one after another if the server cannot', async () => {
    expect(await watchAppends(false)).toEqual([
      'append sent',
      'append answered',
      'confirm sent',
      'confirm answered',
    ])
  })
})

it('an append on a connection with an open transaction is repeated on another one', async () => {
  const pool = new pg.Pool({ connectionString: database().url, max: 1 })
  const store = postgresStore({ pool, schema: schema() })
  await store.append([draft({ n: 0 })])
  const borrowed = await pool.connect()
  await borrowed.query('BEGIN')
  borrowed.release()
  await store.append([draft({ n: 1 })])
  expect(await numbers()).toEqual([0, 1])
  await store.close()
  await pool.end()
})

it('a role without write access to the log cannot block appends', async () => {
  const store = openStore()
  await store.append([draft({ n: 0 })])
  await store.close()
  const role = `reader_of_${schema()}`
  await ask(`CREATE ROLE ${role}; GRANT USAGE ON SCHEMA ${schema()} TO ${role};
    GRANT SELECT ON ALL TABLES IN SCHEMA ${schema()} TO ${role}`)
  const client = await database().pool.connect()
  try {
    for (const table of Object.values(namesIn(schema()).lockTables)) {
      await client.query(`BEGIN; SET LOCAL ROLE ${role}`)
      const locking = client.query(`LOCK TABLE ${table} IN EXCLUSIVE MODE`)
      await expect(locking).rejects.toMatchObject({ code: '42501' })
      await client.query('ROLLBACK')
    }
  } finally {
    client.release()
    await ask(`DROP OWNED BY ${role}; DROP ROLE ${role}`)
  }
})

it('other processes are notified only while one of them listens', async () => {
  let notified = 0
  const pool = watchedPool({ connectionString: database().url, max: 1 }, (text) => {
    if (text.includes('pg_notify')) notified++
  })
  const store = postgresStore({ pool, schema: schema() })
  const append = (): Promise<unknown> => store.append([draft({ n: 0 })])
  for (let n = 0; n < 5; n++) await append()
  // A notification would have been sent at once, before the next append.
  expect(notified).toBe(0)

  const other = openStore()
  let hints = 0
  const unwatch = other.watch(() => hints++)
  // The first hint comes when it listens.
  await vi.waitFor(() => expect(hints).toBe(1), { timeout: 60_000 })
  await append()
  await vi.waitFor(() => expect(hints).toBe(2), { timeout: 60_000 })
  expect(notified).toBe(1)
  unwatch()
  await other.close()
  await vi.waitFor(
    async () => {
      const before = notified
      await append()
      await append()
      expect(notified).toBe(before)
    },
    { timeout: 60_000 },
  )
  await store.close()
  await pool.end()
})

describe('an event whose acknowledgement is lost', () => {
  const DEADLINE_MS = 10_000
  const time = useLeapingTime()
  let proxy: Proxy
  let url: string

  beforeEach(async () => {
    ;({ proxy, url } = await startProxyOf(database().url))
    // Creates the schema, which the deadline does not allow for.
    const store = openStore()
    await store.openEvents()
    await store.close()
    return () => proxy.close()
  })

  /** The next append is stored, its result lost, and the server away until the proxy is healed. */
  const breakNextAppend = (): Promise<void> => proxy.breakAt(APPEND, 'answer')

  /** The stored events, once there are two. */
  const storedBoth = async (): Promise<[number, string][]> => {
    while ((await numbers()).length < 2) await delay(10)
    return stored()
  }

  const openLog = (policies: Record<string, FailurePolicy>, journal = memoryJournal()): AuditLog =>
    new AuditLog({
      store: postgresStore({ connectionString: url, schema: schema() }),
      types: {},
      journal,
      failurePolicy: { types: policies },
      waiting: { deadlineMs: DEADLINE_MS },
    })

  it('stays if the caller appends it again at once', async () => {
    const store = postgresStore({ connectionString: url, schema: schema() })
    await store.append([draft({ n: 0 })])
    const isBroken = breakNextAppend()
    const again = [draft({ n: 1 })]
    const giveUp = new AbortController()
    const failing = expect(store.append(again, { signal: giveUp.signal })).rejects.toMatchObject({
      code: 'ABORTED',
    })
    await isBroken
    const before = await storedBoth()
    // A poll begins meanwhile and waits for its turn.
    await delay(1100)
    time.stop()
    giveUp.abort()
    await failing
    proxy.heal()
    // The poll gets its turn first.
    await delay(50)
    await store.append(again)
    expect(await stored()).toEqual(before)
    await store.close()
  })

  it('stays if the journal has it, also after other appends', async () => {
    const journal = memoryJournal()
    const audit = openLog({ 'test:event': 'queue' }, journal)
    await audit.recordCustom('test:event', { n: 0 })
    const isBroken = breakNextAppend()
    const queued = audit.recordCustom('test:event', { n: 1 })
    const blocked = expect(audit.recordCustom('test:blocked')).rejects.toMatchObject({
      code: 'DEADLINE_EXCEEDED',
    })
    await isBroken
    const before = await storedBoth()
    time.leap(DEADLINE_MS)
    await blocked
    proxy.heal()
    await audit.recordCustom('test:blocked')
    expect(await queued).toBeUndefined()
    while (journal.length > 0) await delay(10)
    expect(await stored()).toEqual(before)
    expect(
      await ask(`SELECT count(*)::int FROM ${schema()}.events
      WHERE type = 'test:blocked'`),
    ).toEqual([[1]])
    await audit.close()
  })

  it('is removed if the journal has no room for it', async () => {
    const audit = openLog({ 'test:event': 'queue' }, memoryJournal(0))
    await audit.recordCustom('test:event', { n: 0 })
    const isBroken = breakNextAppend()
    const refused = expect(audit.recordCustom('test:event', { n: 1 })).rejects.toMatchObject({
      code: 'QUEUE_FULL',
    })
    await isBroken
    time.leap(DEADLINE_MS)
    await refused
    expect(await numbers()).toEqual([0, 1])
    proxy.heal()
    await audit.recordCustom('test:blocked')
    expect(await numbers()).toEqual([0])
    await audit.close()
  })
})

describe('the outbox', () => {
  afterEach(() => {
    vi.restoreAllMocks()
  })

  it('is moved in batches, with appends in between', async () => {
    const audit = new AuditLog({ store: openStore(), types: {} })
    await audit.recordCustom('test:event', { n: 0 })
    const release = await holdOrderLock(database().pool, schema())
    await ask(`INSERT INTO ${schema()}.outbox (suffix, type, system, attributes, recorded_at)
      SELECT '8' || lpad(to_hex(i), 15, '0'), 'test:enlisted', false, '{}', 1
      FROM generate_series(1, 20000) AS i`)
    while ((await waitingForOrder(database().pool, schema())).length === 0) await delay(5)
    const call = audit.recordCustom('test:event', { n: 1 })
    await untilTried()
    await release()
    await call
    while ((await ask(`SELECT count(*) > 0 FROM ${schema()}.outbox`))[0]![0]) await delay(20)
    expect(
      await ask(`SELECT count(*) FILTER (WHERE created_at < own) > 0,
          count(*) FILTER (WHERE created_at > own) > 0, count(*)::int
        FROM ${schema()}.events,
          (SELECT max(created_at) AS own FROM ${schema()}.events WHERE type = 'test:event') AS call
        WHERE type = 'test:enlisted'`),
    ).toEqual([[true, true, 20_000]])
    await audit.close()
  })

  it('is moved if partitions cannot be created ahead', async () => {
    const audit = new AuditLog({ store: openStore(), types: {} })
    await audit.recordCustom('test:event', { n: 0 })
    const [[last]] =
      (await ask(`SELECT max(relname) FROM pg_inherits JOIN pg_class ON oid = inhrelid
      WHERE inhparent = '${schema()}.events'::regclass`)) as [[string]]
    // No partition of that name can be created.
    await ask(`DROP TABLE ${schema()}.${last}; CREATE VIEW ${schema()}.${last} AS SELECT 1`)
    const client = await database().pool.connect()
    await client.query('BEGIN')
    await audit.recordCustom('test:event', { n: 1 }, { transaction: client })
    const now = performance.now.bind(performance)
    // Partitions are created ahead once an hour.
    vi.spyOn(performance, 'now').mockImplementation(() => now() + 3_700_000)
    await client.query('COMMIT')
    client.release()
    while ((await numbers()).length < 2) await delay(20)
    expect(await numbers()).toEqual([0, 1])
    await audit.close()
  })
})
