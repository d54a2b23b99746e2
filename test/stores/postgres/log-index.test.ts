import { randomUUID } from 'node:crypto'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { type AuditEvent, AuditLog, parseQuery } from 'daybook'
import { postgresStore } from 'daybook/postgres'
import pg from 'pg'
import { afterEach, describe, expect, it, onTestFinished, vi } from 'vitest'
import type { TextRow } from '../../../adapters/postgres/connection/client.js'
import { createLogIndex, type LogIndex } from '../../../adapters/postgres/index/log-index.js'
import { listEvents } from '../../../adapters/postgres/read/list.js'
import { planList } from '../../../adapters/postgres/read/list-plan.js'
import { namesIn } from '../../../adapters/postgres/schema/names.js'
import { createDamageReporter } from '../../../src/store/damage.js'
import { createPostgresStore } from '../../../adapters/postgres/postgres-store.js'
import { compileFilter } from '../../../src/filter/evaluate.js'
import type { IndexPart } from '../../../src/store-kit/index/part.js'
import { NONE } from '../../../src/store-kit/index/postings.js'
import { DamagedSegment } from '../../../src/store-kit/index/segment-source.js'
import { createTrace } from '../../../src/store/trace.js'
import { parseTimestamp } from '../../../src/event/timestamp.js'
import { postgresDatabase } from '../../support/database.js'
import { type Moment, takeMoment } from '../../support/postgres-moment.js'
import { useSchemas } from '../../support/schemas.js'
import { sealPostgres } from '../../support/seal-postgres.js'
import { expectLists, SIZE, WITHOUT_SCAN } from '../shared/listed-numbers.js'

const TUNING = { segmentSize: 100, fanOut: 16 }
const schemas = useSchemas('log_index')
let audit: AuditLog
const moments: Moment[] = []
afterEach(async () => {
  for (const moment of moments.splice(0)) await moment.end()
  await audit.close()
})

async function record(from: number, to: number): Promise<void> {
  await Promise.all(
    Array.from({ length: to - from }, (_, i) => audit.recordCustom('own', { n: from + i })),
  )
}

/** Records events that are not sealed. */
async function openLog(size = SIZE): Promise<void> {
  audit = new AuditLog({ store: schemas.openStore(), types: {} })
  await record(0, size)
}

const pool = () => schemas.database().pool
const names = () => namesIn(schemas.schema())
const seal = (tuning = TUNING) => sealPostgres(schemas.database().url, schemas.schema(), tuning)

async function take(): Promise<Moment> {
  const moment = await takeMoment(schemas.database().url)
  moments.push(moment)
  return moment
}

const coverageOf = async (index: LogIndex, moment: Moment, ahead?: readonly TextRow[]) => {
  const coverage = await index.refresh(moment, ahead)
  if (coverage === 'outdated') throw new Error('outdated')
  return coverage
}

const timesOf = ({ partial, size, timeOf }: IndexPart): number[] => {
  expect(partial('n').seek(0, 1)).toBe(NONE)
  return Array.from({ length: size }, (_, ordinal) => timeOf(ordinal))
}

/** Runs a query at the moment. Returns the found events, and the methods that were used. */
async function ask(index: LogIndex, moment: Moment, query: string) {
  const trace = createTrace({ detailed: false })
  const page = await listEvents(
    { ...moment, server: 0, open: [], isOpenDamaged: false },
    { names: names(), index, firstProbe: 0, damages: createDamageReporter() },
    planList({ query: parseQuery(query), trace }, names()),
  )
  if (!page) return 'outdated'
  const ways = trace.steps.filter(({ checked }) => checked > 0).map(({ method }) => method)
  const found = page.events.map(({ attributes }) => attributes['n'])
  return { found, truncated: page.truncated, ways }
}

/** Runs a query in a new index. */
async function askAnew(query: string, tuning: { readonly segmentSize: number } = TUNING) {
  const answer = await ask(createLogIndex(names(), tuning), await take(), query)
  if (typeof answer === 'string') throw new Error(answer)
  return answer
}

describe('lists are answered', () => {
  it('from memory for events that are in no segment, and by a scan if these are too many', async () => {
    await openLog()
    await expectLists(askAnew, WITHOUT_SCAN)
    await expectLists((query) => askAnew(query, { segmentSize: 50 }), ['scan'])
  })

  it('from segments', async () => {
    await openLog()
    await seal()
    const coverage = await coverageOf(createLogIndex(names(), TUNING), await take())
    expect([coverage.segments.length, coverage.recent.length]).toEqual([3, 0])
    await expectLists(askAnew, WITHOUT_SCAN)
  })

  it('from segments and a scan if too many newer events are in no segment', async () => {
    await openLog(100)
    await seal()
    await record(100, SIZE)
    const index = createLogIndex(names(), { segmentSize: 40 })
    await expectLists((query) => askAnew(query, { segmentSize: 40 }))
    expect((await coverageOf(index, await take())).recent).toEqual([])
  })
})

it('a snapshot is outdated once events that it needs were dropped', async () => {
  await openLog()
  const [old, older] = [await take(), await take()]
  const index = createLogIndex(names(), TUNING)
  await coverageOf(index, await take())
  // No event has been dropped yet.
  expect(await ask(index, old, 'filter[n_lt]=3')).toMatchObject({ found: [0, 1, 2] })
  await seal()
  await coverageOf(index, await take())
  expect(await index.refresh(older)).toBe('outdated')
  expect(await ask(index, older, 'filter[n_lt]=3')).toBe('outdated')
})

it('events that a snapshot does not see are not found in it', async () => {
  await openLog(50)
  const old = await take()
  await record(50, 60)
  const index = createLogIndex(names(), TUNING)
  expect(await ask(index, await take(), 'filter[n_gteq]=45&limit=20')).toMatchObject({
    found: Array.from({ length: 15 }, (_, i) => 45 + i),
  })
  expect(await ask(index, old, 'filter[n_gteq]=45&limit=20')).toMatchObject({
    found: [45, 46, 47, 48, 49],
  })
})

it('rows that were read ahead are used unless others have added events since', async () => {
  await openLog(10)
  const index = createLogIndex(names(), TUNING)
  await coverageOf(index, await take())
  await record(10, 20)
  const [first, second] = [await take(), await take()]
  const ahead = await second.ask(index.statement())
  await coverageOf(index, first)
  expect(await index.refresh(second, ahead)).toMatchObject({ recent: [{ size: 20 }] })
  expect(second.statements.length).toBe(2)
  await index.refresh(second, await second.ask(index.statement()))
  expect(second.statements.length).toBe(3)
})

/**
 * While `isHurried`, each reading of the time advances it by 10 ms, so that a refresh pauses as often as possible.
 */
function useHurriedTime(): { isHurried: boolean } {
  const now = performance.now.bind(performance)
  const time = { isHurried: false }
  let ahead = 0
  const spy = vi.spyOn(performance, 'now').mockImplementation(() => {
    if (time.isHurried) ahead += 10
    return now() + ahead
  })
  onTestFinished(() => spy.mockRestore())
  return time
}

it('rows that were read ahead while a refresh paused are not added again', async () => {
  await openLog(100)
  const index = createLogIndex(names(), TUNING)
  const [first, second] = [await take(), await take()]
  const time = useHurriedTime()
  time.isHurried = true
  // A refresh checks the time before it begins, and after each pause.
  const statements: string[] = []
  await index.refresh({ ...first, checkTime: () => void statements.push(index.statement()) })
  time.isHurried = false
  expect(statements.length).toBeGreaterThan(1)
  for (const statement of statements) {
    const { recent } = await coverageOf(index, second, await second.ask(statement))
    expect(new Set(recent.flatMap(timesOf)).size).toBe(100)
    expect(recent.flatMap(timesOf)).toHaveLength(100)
  }
})

it('lists side by side give each event once while events are added and sealed', async () => {
  const tuning = { segmentSize: 12, fanOut: 3 }
  const { database, schema } = schemas
  const { store, sealer } = createPostgresStore(
    // The hurried time must not end the lists.
    { pool: database().pool, schema: schema(), queryTimeoutMs: 2 ** 31 - 1 },
    { tuning, leaseMs: 60_000 },
    { firstProbe: 0 },
  )
  audit = new AuditLog({ store, types: {} })
  const time = useHurriedTime()
  for (let n = 0; n < 60; n += 6) {
    await record(n, n + 6)
    const newest = Array.from({ length: 7 }, (_, i) => n - 1 + i).filter((i) => i >= 0)
    const list = async (turns: number): Promise<void> => {
      for (let i = 0; i < turns; i++) await nextTurn()
      const { events, truncated } = await audit.list('filter[n_gteq]=0&limit=7')
      const found = events.map(({ attributes }) => attributes['n'])
      expect([found, truncated]).toEqual([newest, n > 0])
    }
    const sealing = sealer.settled()
    time.isHurried = true
    await Promise.all(Array.from({ length: 8 }, (_, i) => list(i)))
    time.isHurried = false
    await sealing
  }
})

it('a damaged segment is set aside, and its events are found, while the times of another segment are read', async () => {
  await openLog()
  await seal()
  const index = createLogIndex(names(), TUNING)
  const { segments } = await coverageOf(index, await take())
  const [first, second] = segments.map(({ id }) => new DamagedSegment(id, 'for the test'))
  index.setAside(first!)
  const moment = await take()
  const coverage = await coverageOf(index, {
    ...moment,
    ask(text, ...values) {
      if (text.includes('created_at > $1 AND created_at <= $2')) index.setAside(second!)
      return moment.ask(text, ...values)
    },
  })
  expect([coverage.segments.length, coverage.recent.length]).toEqual([2, 1])
})

it.each([
  ['by time', 'filter[n_lt]=3', [0, 1, 2]],
  ['in another order', 'filter[n_lt]=3&filter[sorts][]=n desc', [2, 1, 0]],
])('a list %s goes on in its snapshot if a segment is found damaged', async (_, query, found) => {
  await openLog()
  await seal()
  await pool().query(`UPDATE ${names().chunks} SET checksum = checksum # 1`)
  const damaged: number[] = []
  const index = createLogIndex(names(), TUNING, (segment) => void damaged.push(segment))
  const moment = await take()
  expect(await ask(index, moment, query)).toMatchObject({ found })
  expect(damaged.length).toBeGreaterThan(0)
})

it('late events are found once, even if they commit after later ones', async () => {
  await openLog(20)
  const { late, events } = names()
  const times = (await audit.list('filter[sorts]=created_at&limit=20')).events.map(
    ({ created_at }) => parseTimestamp(created_at)!,
  )
  const [first, second] = [await pool().connect(), await pool().connect()]
  const put = (client: typeof first, time: number): Promise<unknown> =>
    client.query(
      `WITH put AS (INSERT INTO ${late} (created_at) VALUES ($1))
       INSERT INTO ${events} SELECT $1, suffix, type, username, source, system, attributes
       FROM ${events} ORDER BY created_at LIMIT 1`,
      [time],
    )
  const index = createLogIndex(names(), TUNING)
  await coverageOf(index, await take())
  const lateTimes = async (): Promise<number[]> => {
    const { recent } = await coverageOf(index, await take())
    return recent.flatMap(timesOf).filter((time) => !times.includes(time))
  }
  try {
    await first.query('BEGIN')
    await put(first, times[0]! - 2)
    await put(second, times[0]! - 1)
    expect(await lateTimes()).toEqual([times[0]! - 1])
    await first.query('COMMIT')
    expect(await lateTimes()).toEqual([times[0]! - 2, times[0]! - 1])
    expect(await lateTimes()).toEqual([times[0]! - 2, times[0]! - 1])
  } finally {
    first.release()
    second.release()
  }
})

it('events are found in a restored copy, although its transactions have lower ids and its versions repeat', async () => {
  await openLog(20)
  const index = createLogIndex(names(), TUNING)
  await coverageOf(index, await take())
  const copy = await postgresDatabase()
  onTestFinished(() => copy.remove())
  const restored = new AuditLog({
    store: postgresStore({ connectionString: copy.url, schema: schemas.schema() }),
    types: {},
  })
  onTestFinished(() => restored.close())
  await restored.recordCustom('own', { n: 100 })
  await restored.importEvents([
    {
      id: randomUUID(),
      created_at: '2020-01-01T00:00:00.000001Z',
      ...{ type: 'own', username: null, system: false, source: null, attributes: { n: 99 } },
    },
  ])
  await copy.pool.query(`UPDATE ${names().late} SET transaction = '3'`)
  const moment = await takeMoment(copy.url)
  onTestFinished(() => moment.end())
  expect(await ask(index, moment, 'filter[n_gteq]=0')).toMatchObject({ found: [99, 100] })
  expect(await ask(index, await take(), 'filter[n_lt]=3')).toMatchObject({ found: [0, 1, 2] })
})

it('too many late events are scanned until they are sealed', async () => {
  await openLog(20)
  const oldest = await audit.list('filter[sorts]=created_at&limit=1')
  const time = parseTimestamp(oldest.events[0]!.created_at)!
  await pool().query(
    `INSERT INTO ${names().late} (created_at) SELECT generate_series($1::bigint + 1, $1 + 2000)`,
    [time],
  )
  const index = createLogIndex(names(), { segmentSize: 300 })
  expect((await coverageOf(index, await take())).to).toBe(-1)
  expect(await ask(index, await take(), 'filter[n_lt]=2')).toMatchObject({
    found: [0, 1],
    ways: ['scan'],
  })
  await pool().query(`DELETE FROM ${names().late}`)
  expect((await coverageOf(index, await take())).to).toBeGreaterThan(time)
})

it('a refresh that waits for a slow refresh continues where it ended', async () => {
  await openLog(2500)
  const index = createLogIndex(names(), { segmentSize: 10_000 })
  const [a, b] = [await take(), await take()]
  const [one, other] = await Promise.all([coverageOf(index, a), coverageOf(index, b)])
  const sizes = [one, other].map(({ recent }) => recent.reduce((sum, { size }) => sum + size, 0))
  expect(sizes).toEqual([2500, 2500])
  // The first reads slices, the second nothing more.
  expect(b.statements.length).toBe(1)
  expect(a.statements.length).toBeGreaterThan(2)
})

it('a store finds all events while other processes seal and merge', async () => {
  const tuning = { segmentSize: 8, fanOut: 3 }
  const { database, schema } = schemas
  const { store } = createPostgresStore(
    { connectionString: database().url, schema: schema() },
    { tuning },
    { firstProbe: 0 },
  )
  audit = new AuditLog({ store, types: {} })
  await record(0, 1)
  let isDone = false
  const sealing = (async () => {
    while (!isDone) await seal(tuning)
  })()
  try {
    for (let n = 1; n < 48; n += 3) {
      await record(n, n + 3)
      const [page, sorted] = await Promise.all([
        audit.list('filter[n_gteq]=0&limit=1000'),
        audit.list('filter[sorts]=n desc&limit=1000'),
      ])
      const all = Array.from({ length: n + 3 }, (_, i) => i)
      const found = page.events.map(({ attributes }) => Number(attributes['n']))
      expect(found.toSorted((a, b) => a - b)).toEqual(all)
      expect(sorted.events.map(({ attributes }) => attributes['n'])).toEqual(all.toReversed())
    }
  } finally {
    isDone = true
    await sealing
  }
})

it('replicas read the index too', async () => {
  const { database, schema } = schemas
  const readPool = new pg.Pool({ connectionString: database().url })
  readPool.on('error', () => {})
  onTestFinished(() => readPool.end())
  const { store } = createPostgresStore(
    { connectionString: database().url, schema: schema(), readPool },
    { tuning: TUNING },
    { firstProbe: 0 },
  )
  audit = new AuditLog({ store, types: {} })
  await record(0, SIZE)
  const find = async () => (await audit.list('filter[n_lt]=3')).events.length
  expect(await find()).toBe(3)
  await seal()
  expect(await find()).toBe(3)
})

// More segments than a query searches at first. Each has old imported events and new events.
describe('overlapping segments', () => {
  const ROUNDS = 12
  const EACH = 40
  const SPARSE = 11

  const attributes = (n: number) => ({ n, text: n % SPARSE === 0 ? `a needle ${n}` : `hay ${n}` })

  async function openOverlapping(): Promise<readonly AuditEvent[]> {
    await openLog(0)
    for (let round = 0; round < ROUNDS; round++) {
      await audit.importEvents(
        Array.from({ length: EACH }, (_, i) => ({
          id: randomUUID(),
          created_at: new Date(Date.UTC(2020, 0, 1 + i, round)).toISOString().replace('Z', '000Z'),
          ...{ type: 'own', username: null, system: false, source: null },
          attributes: attributes(i),
        })),
      )
      await Promise.all(
        Array.from({ length: EACH }, (_, i) =>
          audit.recordCustom('own', attributes(round * EACH + i)),
        ),
      )
      await seal({ segmentSize: 2 * EACH, fanOut: 2 * ROUNDS })
    }
    await audit.close()
    audit = new AuditLog({ store: schemas.openStore(), types: {} })
    const all: AuditEvent[] = []
    for await (const page of audit.pages('limit=1000')) all.unshift(...page)
    expect(all.length).toBe(2 * ROUNDS * EACH)
    return all
  }

  it('give each event within the bounds once', async () => {
    const all = await openOverlapping()
    const near = all[all.length - Math.round(8.5 * EACH)]!.created_at
    const queries = ['10', '3', '100'].flatMap((limit) =>
      ['text_cont]=needle', 'text_start]=a', 'text_not_eq]=hay'].flatMap((member) => [
        `limit=${limit}&filter[${member}&filter[created_at_lt]=${near}`,
        `limit=${limit}&filter[${member}&filter[created_at_gt]=${near}&filter[sorts]=created_at`,
      ]),
    )
    for (const query of queries) {
      const { where, limit } = parseQuery(query)
      const passes = compileFilter(where)
      const matching = all.filter((event) => passes(event)).map(({ id }) => id)
      const isRising = query.includes('sorts')
      const { events, truncated } = await audit.list(query)
      const found = events.map(({ id }) => id)
      expect({ query, found, truncated }).toEqual({
        query,
        found: isRising ? matching.slice(0, limit) : matching.slice(-limit),
        truncated: matching.length > limit,
      })
      const paged: string[] = []
      for await (const page of audit.pages(query)) paged.push(...page.map(({ id }) => id))
      expect(paged.length).toBe(matching.length)
      expect(new Set(paged)).toEqual(new Set(matching))
    }
  })
})
