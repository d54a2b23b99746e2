import { setTimeout as delay } from 'node:timers/promises'
import pg from 'pg'
import { describe, expect, it, vi } from 'vitest'
import {
  begin,
  endTransaction,
  type PostgresPoolClient,
} from '../../../adapters/postgres/connection/client.js'
import type { DriverContext } from '../../../adapters/postgres/index/driver-context.js'
import {
  createPostgresSealer,
  type SealerOptions,
} from '../../../adapters/postgres/index/sealer.js'
import { deleteChunks } from '../../../adapters/postgres/index/segment-dropping.js'
import { createLog, type PostgresLog } from '../../../adapters/postgres/log/log.js'
import { namesIn } from '../../../adapters/postgres/schema/names.js'
import { createPostgresStore } from '../../../adapters/postgres/postgres-store.js'
import { EXACTLY } from '../../support/exact-counts.js'
import { postgresTruth } from '../../support/postgres-index.js'
import { eventAt } from '../../support/imported-event.js'
import { OLD } from '../../support/index-fixture.js'
import { useSchemas } from '../../support/schemas.js'
import { describeSealer, NEVER, SOON, TUNING, useSealer } from '../shared/sealer.js'

const { database, schema, query } = useSchemas('sealer')

interface Options extends SealerOptions {
  readonly pool: pg.Pool
}

const fixture = useSealer<Options>({
  open: ({ pool = database().pool, ...options }) =>
    createPostgresStore({ pool, schema: schema() }, { tuning: TUNING, checkMs: 50, ...options }),
  truth: () => postgresTruth(database().pool, schema()),
  async hideChunks(isHidden) {
    const [from, to] = isHidden
      ? ['segment_chunks', 'hidden_chunks']
      : ['hidden_chunks', 'segment_chunks']
    await query(`ALTER TABLE %${from} RENAME TO ${to}`)
  },
  async isLeased() {
    const [state] = await query('SELECT holder FROM %index_state')
    return state!['holder'] !== null
  },
})
const { open, record, truth } = fixture

describe('the sealer', () => describeSealer(fixture))

describe('the sealer of a log', () => {
  it('the index is built after imports and lists', async () => {
    const log = open()
    await log.audit.importEvents(Array.from({ length: 8 }, (_, i) => eventAt(OLD + i)))
    await vi.waitFor(async () => expect((await truth()).segments).toHaveLength(1), SOON)
    await record(open({ tuning: NEVER }), 24)
    await log.audit.list()
    await vi.waitFor(async () => expect((await truth()).segments[0]).toEqual([1, 32]), SOON)
  })

  it('ids of segments are exact numbers, although sequences on a node of Citus begin with larger ones', async () => {
    await record(open({ tuning: NEVER }), 1)
    const node = 40
    await query(
      `SELECT setval(pg_get_serial_sequence('%segments', 'id'), (${node}::bigint << 48) + 1)`,
    )
    const log = open()
    await record(log, 31)
    await vi.waitFor(async () => expect((await truth()).segments).toEqual([[1, 32]]), SOON)
    const segments = await query<{ id: string }>('SELECT id FROM %segments')
    for (const { id } of segments) expect(Math.floor(Number(id) / 2 ** 32)).toBe(node)
    expect((await log.audit.count(undefined, EXACTLY)).total).toBe(32)
  })

  it('a segment that is missing in the statistics is dropped without reading its chunks repeatedly', async () => {
    const log = open()
    await record(log, 32)
    await log.sealer.settled()
    await query('ANALYZE %segment_chunks')
    const [segment, chunks] = [1_000_000, 3000]
    await query(
      `INSERT INTO %segment_chunks
       SELECT ${segment}, n, 0, 0, '', n, '', '', 0 FROM generate_series(1, ${chunks}) AS n`,
    )
    const client = await database().pool.connect()
    const own = client as unknown as PostgresPoolClient
    const readStatistics = async (): Promise<{ fetched: number; deleted: number }> => {
      const { rows } = await client.query(
        `SELECT idx_tup_fetch::int AS fetched, n_tup_del::int AS deleted FROM pg_stat_xact_user_tables
         WHERE relid = '${schema()}.segment_chunks'::regclass`,
      )
      return rows[0]
    }
    try {
      await begin(own, 'READ COMMITTED')
      const before = await readStatistics()
      const context = { names: namesIn(schema()), run: (act) => act(client) } as DriverContext
      await deleteChunks(context, segment)
      const after = await readStatistics()
      expect(after.deleted - before.deleted).toBe(chunks)
      expect(after.fetched - before.fetched).toBeLessThanOrEqual(2 * chunks)
    } finally {
      await endTransaction(own, 'ROLLBACK')
      client.release()
    }
  })

  it('events that are added during a check are found by another check', async () => {
    // The first answer of this log is delayed, so that it is outdated.
    let setAnswered = (): void => {}
    const answered = new Promise<void>((resolve) => (setAnswered = resolve))
    let release = (): void => {}
    const held = new Promise<void>((resolve) => (release = resolve))
    const log = createLog({
      names: namesIn(schema()),
      pool: database().pool,
      partitions: 'none',
      clock: undefined,
      onPrepared: () => {},
    })
    const slow: PostgresLog = {
      ...log,
      async use(signal, act, end) {
        const result = await log.use(signal, act, end)
        setAnswered()
        await held
        return result
      },
    }
    const sealer = createPostgresSealer(slow, { tuning: TUNING, checkMs: 20 })
    try {
      sealer.checkSoon()
      await answered
      await record(open({ checkMs: 600_000, tuning: NEVER }), 8)
      sealer.checkSoon()
      release()
      await vi.waitFor(async () => expect((await truth()).unsealed).toBe(0), SOON)
    } finally {
      await sealer.close()
    }
  })

  it('nothing connects before the store is used, and close returns all connections', async () => {
    const pool = new pg.Pool({ connectionString: database().url, max: 2 })
    const log = open({ pool })
    await delay(200)
    expect(pool.totalCount).toBe(0)
    await record(log, 100)
    await log.sealer.settled()
    await log.audit.close()
    expect([pool.idleCount, pool.waitingCount]).toEqual([pool.totalCount, 0])
    await pool.end()
  })

  it('a store that can only read never tries to seal', async () => {
    const log = open()
    await record(open({ tuning: NEVER }), 20)
    const pool = new pg.Pool({
      connectionString: database().url,
      options: '-c default_transaction_read_only=on',
    })
    const warn = vi.spyOn(process, 'emitWarning').mockImplementation(() => {})
    try {
      const reader = open({ maxPauseMs: 10, pool })
      expect((await reader.audit.list({ limit: 100 })).events).toHaveLength(20)
      await delay(300)
      expect((await truth()).segments).toEqual([])
      await reader.audit.close()
      expect(warn).not.toHaveBeenCalled()
    } finally {
      warn.mockRestore()
      await pool.end()
    }
    await log.sealer.settled()
    expect((await truth()).unsealed).toBe(4)
  })

  it('a lease that ends later than a new one could is replaced', async () => {
    const log = open()
    await record(log, 8)
    await log.sealer.settled()
    const hold = (until: string) =>
      query(`UPDATE %index_state SET holder = gen_random_uuid(), held_until = ${until}`)
    await hold(`clock_timestamp() + interval '50 s'`)
    const before = (await truth()).segments.length
    await record(log, 8)
    await delay(300)
    expect((await truth()).segments).toHaveLength(before)
    await hold(`clock_timestamp() + interval '2 hours'`)
    await log.sealer.settled()
    expect((await truth()).unsealed).toBe(0)
  })
})
