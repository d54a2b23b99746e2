import Database from 'better-sqlite3'
import { AuditLog, type AuditLogOptions, type EventStore } from 'daybook'
import { memoryStore } from 'daybook/memory'
import { captureChanges as capturePostgres, postgresStore } from 'daybook/postgres'
import { captureChanges as captureSqlite, sqliteStore } from 'daybook/sqlite'
import pg from 'pg'
import { once } from 'node:events'
import { setTimeout as delay } from 'node:timers/promises'
import { keyFile } from 'daybook/ledger'
import { beforeEach, describe, expect, inject, it, onTestFinished, vi } from 'vitest'
import { boundSigner } from '../../../src/ledger/bound-signer.js'
import { statementEntry } from '../../../src/ledger/entry.js'
import type { LedgerSigner } from '../../../src/ledger/note.js'
import { readPlaces, writePlaces } from '../../../src/ledger/places.js'
import { leafHash } from '../../../src/ledger/tree.js'
import type { LedgerStore } from '../../../src/store/ledger.js'
import { FAR } from '../../../src/testing/conformance/helpers.js'
import { eventAt } from '../../support/imported-event.js'
import { type LedgerKey, ledgerKey, ORIGIN } from '../../support/ledger-key.js'
import { type LedgerPlace, ledgerPlaces } from '../../support/ledger-places.js'
import { tempDir } from '../../support/temp.js'

/* The ledger after crashes, without rights, and with events of every origin. */

type Options = Partial<AuditLogOptions<Record<string, object>>>

const INTACT = { result: 'intact', findings: [], pending: 0 }
const PAST = 1_700_000_000_000_000

let key: LedgerKey
beforeEach(async () => {
  key = await ledgerKey()
  return key.remove
})

const openLog = (store: EventStore, options: Options = {}): AuditLog => {
  const audit = new AuditLog({
    store,
    types: { 'test:live': {}, 'test:throttled': { throttle: { period: { hours: 1 } } } },
    ledger: { origin: ORIGIN, signer: key.signer },
    ...options,
  })
  onTestFinished(() => audit.close())
  return audit
}

const newPlace = (create: () => LedgerPlace): LedgerPlace => {
  const place = create()
  onTestFinished(() => place.remove())
  return place
}

/** Fails unless each closed event has one leaf, and no other leaf is one of an event. */
async function expectSealedOnce(ledger: LedgerStore): Promise<void> {
  const leaves = (await ledger.rows(0, 1000))
    .flatMap((row) => readPlaces(row))
    .flatMap((place) => (place.kind === 'statement' ? [] : [place.time]))
  const events = await ledger.events({ from: 0, to: FAR, limit: 100_000 })
  expect(leaves.toSorted((a, b) => a - b)).toEqual(events.map(({ time }) => time))
}

describe.each(Object.entries(ledgerPlaces))('on the %s store, a ledger', (name, create) => {
  it('knows the live events that were open when its first process ended before the first leaf', async () => {
    const place = newPlace(create)
    const store = place.open()
    const writer = openLog(store, { ledger: undefined })
    const live = await writer.recordLive('test:live', {})
    const closed = await writer.recordLive('test:live', {})
    await store.ledger!.begin(Infinity)
    await closed.close()
    await writer.recordCustom('test:sealed')
    const audit = openLog(place.open())
    await audit.ledger.checkpoint()
    await live.close()
    await audit.ledger.checkpoint()
    expect(await audit.ledger.verify()).toMatchObject({ ...INTACT, waiting: 0 })
    expect(await audit.ledger.adopt()).toBe(1)
  })

  it('still explains imported events once their announcement was removed', async () => {
    const place = newPlace(create)
    const rules = [
      { target: 'events', maxRows: 0, filter: 'filter[type_eq]=info:audit_log:import' },
    ] as const
    const audit = openLog(place.open(), { cleaning: { rules, scheduled: false } })
    await audit.recordCustom('test:first')
    await audit.ledger.checkpoint()
    await audit.importEvents([eventAt(PAST), eventAt(PAST + 1)])
    await audit.ledger.checkpoint()
    expect(await audit.cleaning.run()).toMatchObject([{ removed_count: 1 }])
    const announced = await audit.list('filter[type_eq]=info:audit_log:import')
    expect(announced.events).toEqual([])
    expect(await audit.ledger.verify()).toMatchObject({ ...INTACT, removed: 1 })
    const inserted = eventAt(PAST + 2)
    await place.edit(undefined, inserted)
    await place.listLate(inserted)
    await audit.ledger.checkpoint()
    const { findings } = await audit.ledger.verify()
    expect(findings).toMatchObject([{ kind: 'late', id: inserted.id }])
  })

  it('seals many late events in few calls', async () => {
    const store = newPlace(create).open()
    let calls = 0
    const counted = new Proxy(store.ledger!, {
      get: (ledger, name: keyof LedgerStore) => {
        const call = ledger[name] as (...given: unknown[]) => unknown
        return (...given: unknown[]) => {
          if (name !== 'state' && name !== 'waiting') calls += 1
          return call.apply(ledger, given)
        }
      },
    })
    const audit = openLog({ ...store, ledger: counted })
    await audit.recordCustom('test:first')
    await audit.ledger.checkpoint()
    await audit.importEvents(Array.from({ length: 500 }, (_, n) => eventAt(PAST + n)))
    calls = 0
    await audit.ledger.checkpoint()
    expect(calls).toBeLessThan(100)
    await expectSealedOnce(store.ledger!)
  })

  it('has each event once, whatever wrote it, and the last one of a log that is closed', async () => {
    const place = newPlace(create)
    const audit = openLog(place.open(), { ownEvents: { runs: true, reads: true } })
    const hurried = new AbortController()
    const rejected = audit.recordCustom('test:aborted', {}, { signal: hurried.signal })
    hurried.abort()
    await rejected.catch(() => undefined)
    const live = await audit.recordLive('test:live', { text: '' })
    await audit.recordLive('test:live', { n: 1 })
    await audit.ledger.checkpoint()
    await audit.importEvents([eventAt(PAST)])
    for (let n = 0; n < 3; n++) {
      await audit.recordCustom('test:once', {}, { idempotencyKey: 'one' })
      await audit.record('test:throttled', {})
      await audit.recordSystem('info:test', { n })
      await audit.ledger.checkpoint()
    }
    await live.close()
    void audit.recordCustom('test:last')
    await audit.close()
    const reader = openLog(place.open(), { ledger: { origin: ORIGIN, key: key.vkey } })
    await expectSealedOnce(reader.store.ledger!)
    const { events } = await reader.list('limit=1')
    expect(events).toMatchObject([{ type: 'info:audit_log:stop' }])
    const heads = [await key.signer.lastNote!()]
    expect(await reader.ledger.verify({ heads })).toMatchObject({
      ...INTACT,
      waiting: 0,
    })
  })

  it('that was lost or has not begun is a warning of health', async () => {
    const place = newPlace(create)
    const reader = openLog(place.open(), { ledger: { origin: ORIGIN, key: key.vkey } })
    await reader.recordCustom('test:unsealed')
    expect(await reader.health()).toMatchObject({
      status: 'warn',
      ledger: { state: 'no-signer', error: expect.stringContaining('the log has no ledger yet') },
    })
    const audit = openLog(place.open())
    await audit.ledger.checkpoint()
    expect((await reader.health()).ledger).toBeUndefined()
    if (!place.execute) return
    await place.execute(`DELETE FROM %${name === 'SQLite' ? 'ledger' : 'ledger_state'}`)
    await audit.recordCustom('test:recorded')
    expect((await reader.health()).ledger).toMatchObject({ status: 'warn' })
    await expect(audit.ledger.checkpoint()).rejects.toMatchObject({ code: 'NO_LEDGER' })
    expect((await audit.health()).ledger).toMatchObject({ status: 'warn', state: 'failed' })
  })
})

/** A log in the database of the host, and what changes a row of its table there. */
interface Host {
  open(options?: { readonly migrate?: 'never' }): EventStore
  capture(): Promise<unknown>
  sql(text: string): Promise<unknown>
  /** A transaction of the host, and what ends it. */
  begin(): Promise<readonly [transaction: object, end: (how: string) => Promise<unknown>]>
}

function hostOnSqlite(): Host {
  const temp = tempDir()
  const filename = temp.file('app.db')
  const database = new Database(filename)
  onTestFinished(() => {
    database.close()
    temp.remove()
  })
  return {
    open: (options = {}) => sqliteStore({ filename, ...options }),
    capture: async () => captureSqlite({ database, tables: ['orders'] }),
    sql: async (text) => database.exec(text),
    async begin() {
      database.exec('BEGIN')
      return [database, async (how) => database.exec(how)]
    },
  }
}

function hostOnPostgres(): Host {
  const connectionString = inject('postgresUrl')
  const schema = `ledger ${crypto.randomUUID()}`
  const tables = `host_${crypto.randomUUID().replaceAll('-', '')}`
  const pool = new pg.Pool({
    connectionString,
    options: `-c search_path=${tables}`,
  })
  onTestFinished(async () => {
    await pool.query(`DROP SCHEMA "${schema}" CASCADE; DROP SCHEMA IF EXISTS ${tables} CASCADE`)
    await pool.end()
  })
  return {
    open: (options = {}) => postgresStore({ connectionString, schema, ...options }),
    capture: () => capturePostgres({ pool, tables: ['orders'], schema }),
    async sql(text) {
      await pool.query(`CREATE SCHEMA IF NOT EXISTS ${tables}`)
      await pool.query(text)
    },
    async begin() {
      const client = await pool.connect()
      await client.query('BEGIN')
      const end = (how: string) => client.query(how).finally(() => client.release())
      return [client, end]
    },
  }
}

describe.each(Object.entries({ SQLite: hostOnSqlite, Postgres: hostOnPostgres }))(
  'in the database of the host on %s, a ledger',
  (_, createHost) => {
    it('has captured changes and events of transactions once they are visible', async () => {
      const host = createHost()
      const audit = openLog(host.open())
      await audit.ledger.checkpoint()
      await host.sql('CREATE TABLE orders (id text PRIMARY KEY, total int)')
      await host.capture()
      await host.sql(`INSERT INTO orders VALUES ('a', 1)`)
      for (const how of ['COMMIT', 'ROLLBACK']) {
        const [transaction, end] = await host.begin()
        await audit.recordCustom('test:enlisted', { how }, { transaction })
        await audit.ledger.checkpoint()
        await end(how)
      }
      await audit.recordCustom('test:moves')
      await audit.ledger.checkpoint()
      const { events } = await audit.list('')
      expect(events.map(({ type }) => type).toSorted()).toEqual([
        expect.stringMatching(/^audit:/),
        'test:enlisted',
        'test:moves',
      ])
      await expectSealedOnce(audit.store.ledger!)
      expect(await audit.ledger.verify()).toMatchObject({ ...INTACT, events: 3 })
    })

    it('begins only where the schema may be changed', async () => {
      const host = createHost()
      await openLog(host.open(), { ledger: undefined }).recordCustom('test:first')
      const audit = openLog(host.open({ migrate: 'never' }))
      await audit.recordCustom('test:recorded')
      await expect(audit.ledger.checkpoint()).rejects.toMatchObject({
        code: 'SCHEMA_MISMATCH',
        message: expect.stringContaining('run daybook migrate'),
      })
      expect(await audit.health()).toMatchObject({
        status: 'warn',
        ledger: { state: 'failed', error: expect.stringContaining('run daybook migrate') },
      })
      expect(await audit.store.ledger!.state()).toBeUndefined()
      await openLog(host.open(), { ledger: undefined }).store.ledger!.begin(Infinity)
      await audit.recordCustom('test:sealed')
      await audit.ledger.checkpoint()
      expect(await audit.ledger.verify()).toMatchObject({ ...INTACT, events: 1 })
    })
  },
)

describe('processes that seal', () => {
  /** A signer of the key file that waits before each signature until it is let go. */
  function gatedSigner() {
    const signer = keyFile(key.file)
    const events = new EventTarget()
    const [arrived, gate] = [once(events, 'arrived'), once(events, 'open')]
    const sign: LedgerSigner['sign'] = async (...call) => {
      events.dispatchEvent(new Event('arrived'))
      await gate
      return signer.sign(...call)
    }
    const letGo = () => events.dispatchEvent(new Event('open'))
    return { signer: { ...signer, sign }, arrived, letGo }
  }

  it('sign one tree, if both have the lease, and one takes over statements of the other', async () => {
    const store = memoryStore()
    const updateState: EventStore['updateState'] = async (_, change) => change(undefined, 0)
    const shared = { ...store, updateState, close: async () => undefined }
    const writer = openLog(shared, { ledger: undefined })
    const live = await writer.recordLive('test:live', {})
    const [first, second] = [gatedSigner(), gatedSigner()]
    const logs: AuditLog[] = []
    for (const { signer, arrived } of [first, second]) {
      logs.push(openLog(shared, { ledger: { origin: ORIGIN, signer } }))
      await arrived
      await writer.recordCustom('test:event')
    }
    const before = await key.signer.lastNote!()
    first.letGo()
    while ((await key.signer.lastNote!()) === before) await delay(5)
    second.letGo()
    for (const audit of logs) await audit.ledger.checkpoint()
    await live.close()
    for (const audit of logs) {
      await audit.ledger.checkpoint()
      expect(await audit.ledger.verify()).toMatchObject(INTACT)
      expect((await audit.ledger.status()).state).toBe('sealing')
    }
  })

  it('do not wait for one that has failed and closed', async () => {
    const store = memoryStore()
    const shared = { ...store, close: async () => undefined }
    let fails = false
    const sign: LedgerSigner['sign'] = async (text) => {
      if (fails) throw new Error('the key is away')
      return key.forgetful.sign(text)
    }
    const ledger = { origin: ORIGIN, signer: { vkey: key.vkey, sign } }
    const first = openLog(shared, { ledger })
    await first.ledger.checkpoint()
    fails = true
    await first.recordCustom('test:event')
    await expect(first.ledger.checkpoint()).rejects.toThrow('the key is away')
    expect(await first.health()).toMatchObject({ status: 'warn', ledger: { state: 'failed' } })
    await first.close()
    const second = openLog(shared, { ledger: { origin: ORIGIN, signer: key.forgetful } })
    await second.ledger.checkpoint()
    expect((await second.ledger.status()).state).toBe('sealing')
  })

  it('stop to wait for a signer that does not answer', async () => {
    const sign: LedgerSigner['sign'] = () => new Promise(() => {})
    const audit = openLog(memoryStore(), {
      ledger: { origin: ORIGIN, signer: { vkey: key.vkey, sign } },
    })
    await audit.recordCustom('test:event')
    const stop = new AbortController()
    const call = audit.ledger.checkpoint({ signal: stop.signal })
    stop.abort()
    await expect(call).rejects.toMatchObject({ code: 'ABORTED' })
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    onTestFinished(() => void vi.useRealTimers())
    const answer = expect(boundSigner({ vkey: key.vkey, sign }, {}).sign(new Uint8Array())).rejects
    vi.advanceTimersByTime(30_000)
    await answer.toMatchObject({
      code: 'STORE_FAILED',
      message: expect.stringContaining('within 30 seconds'),
    })
    const closed = audit.close()
    await vi.advanceTimersByTimeAsync(10_000)
    await closed
  })

  it('keep no statement for which none of them vouches', async () => {
    const store = memoryStore()
    const shared = { ...store, close: async () => undefined }
    const first = openLog(shared)
    await first.recordCustom('test:event')
    await first.ledger.checkpoint()
    await first.close()
    const before = (await store.ledger!.state())!
    const foreign = { kind: 'opened', ids: ['any'] } as const
    const [row] = await store.ledger!.rows(0, 1)
    const entry = statementEntry(foreign)
    const places = writePlaces([...readPlaces(row!), { kind: 'statement' }], row!.after)
    const hashes = new Uint8Array(Buffer.concat([row!.hashes, leafHash(entry)]))
    const after = { ...before, size: before.size + 1, voucher: `${before.size + 1} AAAA` }
    const statements = [{ leaf: before.size, entry }]
    const rows = [{ ...row!, places, hashes }]
    await store.ledger!.append({ before, after, rows, nodes: [], statements, late: [] })
    const audit = openLog(shared)
    await audit.recordCustom('test:event')
    await audit.ledger.checkpoint()
    expect((await store.ledger!.statements(0, 10)).map((one) => one.entry)).not.toContain(entry)
    expect(await audit.ledger.verify()).toMatchObject(INTACT)
  })
})

it('a log with an origin that is no URL, or on Citus, has no ledger', () => {
  const withOrigin = (origin: unknown) => () =>
    openLog(memoryStore(), { ledger: { origin: origin as string, signer: key.signer } })
  for (const origin of [1n, null, '', ' ', 'a b', 'a+b', `${ORIGIN}\n`, 'https://a'])
    expect(withOrigin(origin)).toThrow('ledger.origin must be a URL without its scheme')
  const store = postgresStore({ connectionString: 'postgres://127.0.0.1:1/x', citus: true })
  expect(() => openLog(store)).toThrow('the postgres store keeps no ledger with the option citus')
})
