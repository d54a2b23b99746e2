import { randomBytes, randomUUID } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import { AuditLog, type AuditLogOptions, type EventStore } from 'daybook'
import { keyFile } from 'daybook/ledger'
import { postgresCheckups, postgresStore } from 'daybook/postgres'
import pg from 'pg'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { writePlaces } from '../../../src/ledger/places.js'
import type { LedgerSigner } from '../../../src/ledger/note.js'
import type { LeafRow, LedgerStore } from '../../../src/store/ledger.js'
import { namesIn } from '../../../adapters/postgres/schema/names.js'
import { DAY, formatTimestamp, SECOND } from '../../../src/event/timestamp.js'
import { draft, drafts, FAR, timeOf } from '../../../src/testing/conformance/helpers.js'
import { runScript } from '../../support/child.js'
import { eventAt } from '../../support/imported-event.js'
import { type LedgerKey, ledgerKey, ORIGIN } from '../../support/ledger-key.js'
import { useLeapingTime } from '../../support/leaping-time.js'
import { holdOrderLock, waitingForOrder } from '../../support/order-lock.js'
import { APPEND, startProxyOf } from '../../support/proxy.js'
import { useSchemas } from '../../support/schemas.js'
import { soakRounds, soakTimeout } from '../../support/soak.js'

const { database, schema, query, openStore } = useSchemas('ledger')

const time = useLeapingTime()

let key: LedgerKey
const open: { close(): Promise<unknown> }[] = []
beforeEach(async () => {
  key = await ledgerKey()
})
afterEach(async () => {
  for (const log of open.splice(0).toReversed()) await log.close()
  key.remove()
})

const opened = <Log extends { close(): Promise<unknown> }>(log: Log): Log => {
  open.push(log)
  return log
}

const openLog = (
  store: EventStore = openStore(),
  options: Partial<AuditLogOptions<Record<string, object>>> = {},
): AuditLog =>
  opened(
    new AuditLog({
      store,
      types: { 'test:live': {} },
      ledger: { origin: ORIGIN, signer: key.signer },
      ...options,
    }),
  )

const record = (audit: AuditLog, count: number) =>
  Promise.all(Array.from({ length: count }, (_, n) => audit.recordCustom('test:event', { n })))

const INTACT = { result: 'intact', findings: [] }

/** A row of random hashes, of events that are about a millisecond apart. */
function leafRow(row: number): LeafRow {
  const places = Array.from(
    { length: 256 },
    (_, i) => ({ kind: 'event', time: 1000 * (256 * row + i) + (i % 7) + 1 }) as const,
  )
  const after = 256_000 * row
  const hashes = new Uint8Array(randomBytes(32 * 256))
  return {
    row,
    after,
    last: places.at(-1)!.time,
    places: writePlaces(places, after),
    hashes,
    seed: hashes.slice(0, 32),
  }
}

/** The number of tables of the ledger. */
const countTables = async (): Promise<number> => {
  const [row] = await query<{ count: string }>(
    `SELECT count(*) FROM pg_class WHERE relnamespace = $1::regnamespace AND relkind = 'r' AND starts_with(relname, 'ledger')`,
    [`"${schema()}"`],
  )
  return Number(row!.count)
}

describe('a log on Postgres', () => {
  it('has no tables of a ledger until one begins', async () => {
    const audit = openLog(undefined, { ledger: undefined })
    await record(audit, 1)
    await audit.health()
    expect(await audit.store.ledger!.state()).toBeUndefined()
    expect(await countTables()).toBe(0)
  })

  it('seals from its first event on', async () => {
    const audit = openLog()
    const [first] = await record(audit, 300)
    await audit.ledger.checkpoint()
    expect(await audit.ledger.prove(first!.id)).toMatch(/^c2sp\.org\/tlog-proof/)
    expect(await audit.ledger.verify()).toMatchObject({ ...INTACT, events: 300, size: 301 })
  })

  it('seals events of any size, of which it reads fewer at once the larger they are', async () => {
    const audit = openLog()
    await audit.ledger.checkpoint()
    const pad = 'x'.repeat(40_000)
    const recordAll = (count: number, data: object) =>
      Promise.all(Array.from({ length: count }, () => audit.recordCustom('test:event', data)))
    await recordAll(300, { pad })
    await recordAll(1200, {})
    await audit.ledger.checkpoint()
    expect(await audit.ledger.verify()).toMatchObject({ ...INTACT, events: 1500, size: 1501 })
  })

  it('keeps a leaf in 44 bytes', async () => {
    const { store } = openLog(undefined, { ledger: undefined })
    const ledger = store.ledger!
    let { state } = await ledger.begin(0)
    for (let row = 0; row < 100; row += 4) {
      const rows = Array.from({ length: 4 }, (_, i) => leafRow(row + i))
      const nodes = [...rows, ...rows].map(({ row: index, seed: hash }, i) => ({
        level: 8 + Math.floor(i / 4),
        index,
        hash,
      }))
      const after = { ...state, size: 256 * (row + 4) }
      expect(
        await ledger.append({ before: state, after, rows, nodes, statements: [], late: [] }),
      ).toBe(true)
      state = after
    }
    const [kept] = await query<{ bytes: string }>(
      `SELECT sum(pg_total_relation_size(oid)) AS bytes FROM pg_class
       WHERE relnamespace = $1::regnamespace AND relname IN ('ledger_rows', 'ledger_nodes')`,
      [`"${schema()}"`],
    )
    expect(Number(kept!.bytes) / state.size).toBeLessThan(44)
  })
})

describe('late events', () => {
  it('that commit in another order than they were written in are all listed', async () => {
    const { store } = openLog(undefined, { ledger: undefined })
    const ledger = store.ledger!
    await ledger.begin(0)
    const [first, second] = [await database().pool.connect(), await database().pool.connect()]
    const add = (at: number) => `INSERT INTO "${schema()}".late_events (created_at) VALUES (${at})`
    await first.query(`BEGIN; ${add(1)}`)
    await second.query(add(2))
    const before = await ledger.late(0, 10)
    await first.query('COMMIT')
    const after = await ledger.late(before.at(-1)!.id, 10)
    first.release()
    second.release()
    expect([...before, ...after].map((one) => one.time)).toEqual([2, 1])
    expect(after[0]!.id).toBeGreaterThan(before[0]!.id)
  })

  it('are listed for readers too, although these write nothing', async () => {
    const { store } = openLog(undefined, { ledger: undefined })
    await store.ledger!.begin(0)
    const event = eventAt(1_700_000_000_000_000)
    await store.importEvents([{ event, time: timeOf(event), json: '{}' }])
    const reader = opened(openStore({ readOnly: true }))
    expect(await reader.ledger!.late(0, 10)).toEqual([{ id: 1, time: timeOf(event) }])
    expect(await query('SELECT id FROM %ledger_late')).toEqual([])
    expect(await store.ledger!.late(0, 10)).toEqual([{ id: 1, time: timeOf(event) }])
  })

  it('of an import that runs while the ledger begins are listed, or came before', async () => {
    const { store } = openLog(undefined, { ledger: undefined })
    await store.append(drafts(1))
    const client = await database().pool.connect()
    await client.query(`BEGIN; INSERT INTO "${schema()}".late_events (created_at) VALUES (1)`)
    const beginning = store.ledger!.begin(FAR)
    const waits = 'SELECT FROM pg_locks WHERE NOT granted AND relation = $1::regclass'
    while ((await query(waits, [`"${schema()}".late_events`])).length === 0) await delay(5)
    await store.append(drafts(1))
    expect(await store.ledger!.state()).toBeUndefined()
    await client.query('COMMIT')
    client.release()
    await beginning
    expect(await store.ledger!.late(0, 10)).toEqual([])
  })
})

describe('a call whose answer was lost, and whose deadline has passed,', () => {
  const DEADLINE_MS = 10_000

  it.each(['answer', 'statement'] as const)(
    'is of unknown outcome in a log with a ledger, and its event stays (the %s was lost)',
    async (lost) => {
      const sealing = openLog()
      await sealing.ledger.checkpoint()
      const { proxy, url } = await startProxyOf(database().url)
      opened({ close: () => proxy.close() })
      const store = postgresStore({ connectionString: url, schema: schema() })
      const waiting = { deadlineMs: DEADLINE_MS }
      const audit = openLog(store, { ledger: undefined, waiting })
      await audit.recordCustom('test:before')
      const isCutOff = proxy.breakAt(APPEND, lost)
      const rejected = expect(audit.recordCustom('test:lost')).rejects.toMatchObject({
        code: 'OUTCOME_UNKNOWN',
      })
      await isCutOff
      time.leap(DEADLINE_MS)
      await rejected
      await sealing.ledger.checkpoint()
      proxy.heal()
      // Without a ledger this would remove the event.
      await audit.recordCustom('test:after')
      const { events } = await audit.list('filter[type_eq]=test:lost')
      expect(events).toHaveLength(lost === 'answer' ? 1 : 0)
      await sealing.ledger.checkpoint()
      expect(await sealing.ledger.verify()).toMatchObject(INTACT)
    },
  )
})

describe('roles', () => {
  it('with rights on the log have them on its ledger', async () => {
    const role = `App ${randomUUID().slice(0, 8)}`
    const owner = openLog(openStore({ partitions: 'none' }), { ledger: undefined })
    await record(owner, 1)
    const name = `"${schema()}"`
    await database().pool.query(`CREATE ROLE "${role}" LOGIN;
      GRANT USAGE ON SCHEMA ${name} TO "${role}";
      GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA ${name} TO "${role}";
      GRANT SELECT, USAGE, UPDATE ON ALL SEQUENCES IN SCHEMA ${name} TO "${role}"`)
    const url = new URL(database().url)
    url.username = role
    const options = { connectionString: url.href, schema: schema() }
    const app = openLog(postgresStore(options), { ledger: undefined })
    await expect(app.store.ledger!.begin(0)).rejects.toMatchObject({
      message: expect.stringContaining('only the owner of the log'),
    })
    const live = await app.recordLive('test:live', {})
    const fixed = openLog(postgresStore({ ...options, migrate: 'never' }), { ledger: undefined })
    await expect(fixed.store.ledger!.begin(0)).rejects.toMatchObject({ code: 'SCHEMA_MISMATCH' })
    const sealing = openLog()
    await sealing.ledger.checkpoint()
    await live.close()
    await app.importEvents([eventAt(1_700_000_000_000_000)])
    await sealing.ledger.checkpoint()
    expect(await sealing.ledger.verify()).toMatchObject(INTACT)
    expect((await app.store.ledger!.state())!.size).toBeGreaterThan(0)
    const checkups = await postgresCheckups(options)
    expect(checkups.find(({ name }) => name === 'rights')).toMatchObject({ status: 'pass' })
    await app.close()
    open.splice(open.indexOf(app), 1)
    await database().pool.query(`DROP OWNED BY "${role}"; DROP ROLE "${role}"`)
  })
})

describe('partitions', () => {
  const names = async (): Promise<readonly string[]> => {
    const rows = await query<{ name: string }>(
      `SELECT child.relname AS name FROM pg_inherits JOIN pg_class AS child ON child.oid = inhrelid
       WHERE inhparent = $1::regclass ORDER BY 1`,
      [`"${schema()}".events`],
    )
    return rows.map(({ name }) => name)
  }
  const at = (day: number): number => Date.now() * 1000 - day * DAY

  it('that a removal has emptied are dropped, and others stay', async () => {
    const cleaning = {
      rules: [{ target: 'events', maxAge: { days: 10 } }],
      holds: [{ filter: 'filter[kept_eq]=1' }],
      scheduled: false,
    } as const
    const audit = openLog(openStore({ partitions: 'day' }), { cleaning })
    await audit.ledger.checkpoint()
    const before = await names()
    const old = [eventAt(at(30)), eventAt(at(20)), eventAt(at(5))]
    await audit.importEvents([...old, eventAt(at(25), { attributes: { kept: 1 } })])
    expect(await names()).toHaveLength(before.length + 4)
    const kept = await names()
    await audit.ledger.checkpoint()
    expect(await audit.cleaning.run()).toMatchObject([{ removed_count: 2 }])
    const day = (time: number) => `events_${formatTimestamp(time).slice(0, 10).replaceAll('-', '')}`
    const gone = new Set([day(at(30)), day(at(20))])
    expect(await names()).toEqual(kept.filter((name) => !gone.has(name)))
    await audit.importEvents([eventAt(at(30))])
    await audit.ledger.checkpoint()
    expect(await audit.ledger.verify()).toMatchObject({ ...INTACT, removed: 2 })
  })

  it('keep an event that is imported while an empty one is dropped', async () => {
    const store = openStore({ partitions: 'day' })
    const audit = openLog(store, { ledger: undefined })
    await audit.importEvents([eventAt(at(30))])
    await query('DELETE FROM %events')
    const late = { event: eventAt(at(30)), time: at(30), json: '{}' }
    late.event = eventAt(late.time)
    const client = await database().pool.connect()
    // Detaching waits for this transaction, which has seen the empty table.
    await client.query(`BEGIN; SELECT FROM "${schema()}".events`)
    const released = store.ledger!.release(at(10))
    const detaching = `SELECT FROM pg_stat_activity WHERE query LIKE '%DETACH PARTITION%' AND wait_event_type = 'Lock'`
    while ((await database().pool.query(detaching)).rows.length === 0) await delay(5)
    const name = `events_${formatTimestamp(late.time).slice(0, 10).replaceAll('-', '')}`
    await client.query(
      `INSERT INTO "${schema()}"."${name}" SELECT $1, $2, 'old', NULL, NULL, true, '{}', 0`,
      [late.time, late.event.id],
    )
    await client.query('COMMIT')
    client.release()
    await released
    expect(await query('SELECT created_at FROM %events')).toEqual([
      { created_at: String(late.time) },
    ])
    expect(await names()).toContain(name)
  })
})

describe('connections', () => {
  const settings: Readonly<Record<string, string>> = {
    'a short statement timeout': '-c statement_timeout=1ms',
    'a short lock timeout': '-c lock_timeout=1ms',
    'serializable transactions': '-c default_transaction_isolation=serializable',
    'an unusual search path': '-c search_path=pg_temp',
    'texts of bytes': '-c bytea_output=escape -c standard_conforming_strings=off',
    'one plan': '-c plan_cache_mode=force_generic_plan -c enable_indexscan=off',
  }

  it.each(Object.entries(settings))('with %s, of which there is one, seal', async (_, options) => {
    const pool = new pg.Pool({ connectionString: database().url, max: 1, options })
    pool.on('error', () => {})
    const cleaning = { rules: [{ target: 'events', maxRows: 10 }], scheduled: false } as const
    const audit = openLog(postgresStore({ pool, schema: schema() }), { cleaning })
    opened({ close: () => audit.close().then(() => pool.end()) })
    await audit.ledger.checkpoint()
    await record(audit, 300)
    await audit.importEvents([eventAt(1_700_000_000_000_000)])
    await audit.ledger.checkpoint()
    expect(await audit.cleaning.run()).toMatchObject([{ removed_count: expect.any(Number) }])
    await audit.ledger.checkpoint()
    expect(await audit.ledger.verify()).toMatchObject(INTACT)
    expect((await audit.ledger.status()).state).toBe('sealing')
  })
})

describe('several processes', () => {
  it('take a lease by the time at which they get its lock', async () => {
    let now = Date.now() * 1000
    const store = opened(openStore({ clock: () => now }))
    await store.updateState('other', () => 1)
    const client = await database().pool.connect()
    await client.query(`BEGIN; SELECT ${namesIn(schema()).lock('state')}`)
    const times: number[] = []
    const call = store.updateState('lease', (_, time) => times.push(time))
    const waits = `SELECT FROM pg_locks WHERE NOT granted AND locktype = 'advisory'
      AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`
    while ((await query(waits)).length === 0) await delay(5)
    now += SECOND
    await client.query('COMMIT')
    client.release()
    await call
    expect(times).toEqual([now])
  })

  it('that all seal at once make one tree', async () => {
    /** A store on which every process gets the lease. */
    const withLease = (): EventStore => {
      const store = openStore()
      const updateState: EventStore['updateState'] = async (_, change) => change(undefined, 0)
      return { ...store, updateState }
    }
    const logs = Array.from({ length: 3 }, () =>
      openLog(withLease(), { ledger: { origin: ORIGIN, signer: key.forgetful } }),
    )
    const heads: string[] = []
    await Promise.all(
      logs.map(async (audit) => {
        for (let n = 0; n < 5; n++) {
          await record(audit, 40)
          heads.push(await audit.ledger.checkpoint())
        }
      }),
    )
    for (const audit of logs) expect(await audit.ledger.verify({ heads })).toMatchObject(INTACT)
    expect((await logs[0]!.ledger.verify()).events).toBeGreaterThanOrEqual(600)
  })

  it('sign nothing once another one has the lease', async () => {
    const store = openStore()
    const foreign = { holder: 'other', until: SECOND }
    let lease: typeof foreign | undefined
    let isArmed = false
    const ledger: LedgerStore = {
      ...store.ledger!,
      async append(...call) {
        const isDone = await store.ledger!.append(...call)
        // This process was suspended meanwhile.
        if (isArmed) {
          lease = foreign
          time.leap(10_000)
        }
        return isDone
      },
    }
    const updateState: EventStore['updateState'] = async (_, change) => change(lease, 0)
    let signatures = 0
    const signer: LedgerSigner = {
      vkey: key.vkey,
      sign(text) {
        signatures += 1
        return key.forgetful.sign(text)
      },
    }
    const audit = openLog({ ...store, ledger, updateState }, { ledger: { origin: ORIGIN, signer } })
    const head = await audit.ledger.checkpoint()
    isArmed = true
    await audit.recordCustom('test:event')
    const before = signatures
    expect(await audit.ledger.checkpoint()).toBe(head)
    expect(signatures).toBe(before)
    expect((await audit.ledger.status()).state).toBe('standby')
  })

  it(
    'that are killed while they record and seal leave a ledger that the next one continues',
    { timeout: soakTimeout(120_000) },
    async () => {
      const place = { connectionString: database().url, schema: schema(), origin: ORIGIN }
      let ahead = 0
      const clock = (): number => Date.now() * 1000 + ahead
      for (const round of soakRounds(1)) {
        const children = [0, 1].map((n) =>
          runScript('test/stores/postgres/ledger-child.ts', [
            JSON.stringify(place),
            key.file,
            String(ahead),
            String(2 * round + n),
          ]),
        )
        await Promise.race(children.map((child) => child.saw('sealing\n')))
        await delay(Math.random() * 300)
        for (const child of children) await child.kill()
        // The leases of the killed processes end.
        ahead += 60 * SECOND
        const store = openStore({ clock })
        const audit = openLog(store, { ledger: { origin: ORIGIN, signer: keyFile(key.file) } })
        await audit.ledger.checkpoint()
        expect((await audit.ledger.status()).state).toBe('sealing')
        expect(await audit.ledger.verify()).toMatchObject(INTACT)
        await audit.close()
        open.splice(open.indexOf(audit), 1)
      }
    },
  )
})

describe('an event that the server holds back', () => {
  it('is not sealed before it is visible', async () => {
    const audit = openLog()
    await audit.ledger.checkpoint()
    const release = await holdOrderLock(database().pool, schema())
    const call = audit.store.append([draft({ n: 1 })])
    while ((await waitingForOrder(database().pool, schema())).length === 0) await delay(5)
    expect((await audit.ledger.status()).waiting).toBe(0)
    await release()
    await call
    await audit.ledger.checkpoint()
    expect(await audit.ledger.verify()).toMatchObject({ ...INTACT, events: 1 })
  })
})
