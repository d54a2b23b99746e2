import { setTimeout as delay } from 'node:timers/promises'
import { AuditLog, type EventStore } from 'daybook'
import pg from 'pg'
import { afterEach, describe, expect, it, vi } from 'vitest'
import {
  createSealer,
  type Sealer,
  type SealerOptions,
} from '../../../adapters/postgres/index/sealer.js'
import { createLog, type PostgresLog } from '../../../adapters/postgres/log/log.js'
import { namesIn } from '../../../adapters/postgres/schema/names.js'
import { createPostgresStore } from '../../../adapters/postgres/postgres-store.js'
import { postgresTruth } from '../../support/postgres-index.js'
import { useSchemas } from '../../support/schemas.js'

const tuning = { segmentSize: 8, fanOut: 4 }
const FEW = { timeout: 20_000, interval: 50 }

const { database, schema } = useSchemas('sealer')

interface Opened {
  readonly audit: AuditLog
  readonly store: EventStore
  readonly sealer: Sealer
}

describe('the index of a log', () => {
  const opened: Opened[] = []

  afterEach(async () => {
    await Promise.all(opened.splice(0).map(({ audit }) => audit.close()))
  })

  const open = (options: Partial<SealerOptions> = {}, pool = database().pool): Opened => {
    const { store, sealer } = createPostgresStore(
      { pool, schema: schema() },
      { tuning, lookMs: 50, ...options },
    )
    const one = { audit: new AuditLog({ store, types: {} }), store, sealer }
    opened.push(one)
    return one
  }
  const record = async ({ audit }: Opened, count: number): Promise<void> => {
    const all = Array.from({ length: count }, (_, n) => audit.recordCustom(`type-${n % 3}`, { n }))
    await Promise.all(all)
  }
  const truth = () => postgresTruth(database().pool, schema())
  const query = (sql: string) => database().pool.query(sql.replaceAll('%', `${schema()}.`))
  const whole = { hidden: 0, missing: [], stray: 0 }

  it('is sealed up to the last full segment, and merged', async () => {
    const log = open()
    await record(log, 8 * 4 * 4 + 5)
    await log.sealer.settled()
    expect(await truth()).toEqual({ ...whole, segments: [[2, 128]], unsealed: 5 })
    await record(log, 12)
    await log.sealer.settled()
    const segments = [
      [2, 128],
      [0, 8],
      [0, 8],
    ]
    expect(await truth()).toEqual({ ...whole, segments, unsealed: 1 })
  })

  it('is built without anybody waiting for it, after appends, imports, closings and lists', async () => {
    const log = open()
    await record(log, 12)
    await vi.waitFor(async () => expect((await truth()).unsealed).toBe(4), FEW)
    const time = (i: number) => new Date(1.6e12 + i).toISOString().replace('Z', '000Z')
    await log.audit.importEvents(
      Array.from({ length: 8 }, (_, i) => ({
        id: `0196b3c2-0000-4000-8000-00000000000${i}`,
        created_at: time(i),
        ...{ type: 'old', username: null, system: false, source: null, attributes: {} },
      })),
    )
    await vi.waitFor(async () => expect((await truth()).segments).toHaveLength(2), FEW)
    await record(open({ tuning: { segmentSize: 1000, fanOut: 4 } }), 16)
    await log.audit.list()
    await vi.waitFor(async () => expect((await truth()).segments[0]).toEqual([1, 32]), FEW)
  })

  it('what comes right after a look is looked for in time', async () => {
    const log = open({ lookMs: 300 })
    await record(log, 7)
    await delay(100)
    await record(log, 1)
    await vi.waitFor(async () => expect((await truth()).unsealed).toBe(0), FEW)
  })

  it('what comes while it looks is looked for again', async () => {
    // A log whose first answer takes so long, and is of before.
    let tellAnswered = (): void => {}
    const answered = new Promise<void>((resolve) => (tellAnswered = resolve))
    let letGo = (): void => {}
    const held = new Promise<void>((resolve) => (letGo = resolve))
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
        tellAnswered()
        await held
        return result
      },
    }
    const sealer = createSealer(slow, { tuning, lookMs: 20 })
    try {
      sealer.look()
      await answered
      await record(open({ lookMs: 600_000, tuning: { segmentSize: 1000, fanOut: 4 } }), 8)
      sealer.look()
      letGo()
      await vi.waitFor(async () => expect((await truth()).unsealed).toBe(0), FEW)
    } finally {
      await sealer.close()
    }
  })

  it('connects to nothing before the store is used, and takes no connection along', async () => {
    const pool = new pg.Pool({ connectionString: database().url, max: 2 })
    const log = open({}, pool)
    await delay(200)
    expect(pool.totalCount).toBe(0)
    await record(log, 100)
    await log.sealer.settled()
    await log.audit.close()
    expect([pool.idleCount, pool.waitingCount]).toEqual([pool.totalCount, 0])
    await pool.end()
  })

  it('is gone on with by the next one where the store is closed in the middle', async () => {
    for (let n = 0; n < 5; n++) {
      const log = open({ lookMs: 10 })
      await record(log, 200)
      await delay(30 * n)
      await log.audit.close()
      expect(await truth()).toMatchObject({ missing: [], stray: 0 })
      const { rows } = await query('SELECT holder FROM %index_state')
      expect(rows).toEqual([{ holder: null }])
    }
    await open().sealer.settled()
    const end = await truth()
    expect(end).toMatchObject({ ...whole, unsealed: 0 })
    expect(end.segments.reduce((sum, [, size]) => sum + size, 0)).toBe(1000)
  })

  it('is tried again after errors, which no call notices, and which are told once', async () => {
    const log = open({ maxPauseMs: 1000 })
    await log.audit.list()
    const warn = vi.spyOn(process, 'emitWarning').mockImplementation(() => {})
    try {
      await query('ALTER TABLE %segment_chunks RENAME TO hidden_chunks')
      await record(log, 20)
      await vi.waitFor(() => expect(warn).toHaveBeenCalled(), FEW)
      await delay(2500)
      await query('ALTER TABLE %hidden_chunks RENAME TO segment_chunks')
      expect(warn.mock.calls).toEqual([[expect.stringMatching(/fails: .*segment_chunks/)]])
    } finally {
      warn.mockRestore()
    }
    await vi.waitFor(async () => expect((await truth()).unsealed).toBe(4), FEW)
    await log.sealer.settled()
    expect(await truth()).toMatchObject(whole)
  })

  it('is nothing that who may only read attempts', async () => {
    const log = open()
    await record(open({ tuning: { segmentSize: 1000, fanOut: 4 } }), 20)
    const pool = new pg.Pool({
      connectionString: database().url,
      options: '-c default_transaction_read_only=on',
    })
    const warn = vi.spyOn(process, 'emitWarning').mockImplementation(() => {})
    try {
      const reader = open({ maxPauseMs: 10 }, pool)
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

  it('forgets what was removed', async () => {
    const log = open()
    await record(log, 40)
    await log.sealer.settled()
    expect(await log.store.removeBefore(Number.MAX_SAFE_INTEGER)).toBe(40)
    await log.audit.list()
    await vi.waitFor(
      async () => expect(await truth()).toMatchObject({ segments: [], hidden: 0, stray: 0 }),
      FEW,
    )
  })

  it('a lease that ends later than any is taken for one before the clock was set back', async () => {
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
