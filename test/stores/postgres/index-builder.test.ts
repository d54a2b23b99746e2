import { INDEX_BOUNDS } from '../../../src/store-kit/index/index-bounds.js'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { namesIn } from '../../../adapters/postgres/schema/names.js'
import type {
  DriverContext,
  RunTransaction,
} from '../../../adapters/postgres/index/driver-context.js'
import { createDriver } from '../../../adapters/postgres/index/index-driver.js'
import { createPostgresStore } from '../../../adapters/postgres/postgres-store.js'
import type { Partitions } from '../../../adapters/postgres/schema/names.js'
import { mergeNext } from '../../support/merge-next.js'
import { sealNext } from '../../../src/store-kit/index-builder/sealing.js'
import type { StepRunner } from '../../../src/store-kit/index-builder/steps.js'
import { type IndexHarness, OLD, someAttributes, useIndex } from '../../support/index-fixture.js'
import { ordinalsOf } from '../../support/index-values.js'
import { timeOf } from '../../support/part-truth.js'
import { loadSegment, postgresTruth, storedSegments } from '../../support/postgres-index.js'
import { postgresDatabase, type TestDatabase } from '../../support/database.js'
import { type LogSchemas, openLogSchemas } from '../../support/log-schemas.js'
import { describeIndexBuilder } from '../shared/index-builder.js'

let database: TestDatabase
let schemas: LogSchemas
beforeAll(async () => {
  database = await postgresDatabase()
  schemas = await openLogSchemas(database.url, 'index_builder_')
})
afterAll(async () => {
  await schemas.close()
  await database.remove()
})

const PARTITIONED = 'partitioned'
/** The schema of the log that is open. */
let schema = ''

let partitions: Partitions = 'none'
afterEach(() => {
  partitions = 'none'
})

async function values(sql: string): Promise<unknown[]> {
  const { rows } = await database.pool.query<[unknown]>({
    text: sql.replaceAll('%', `${schema}.`),
    rowMode: 'array',
  })
  return rows.map(([value]) => value)
}
const count = async (from: string): Promise<number> =>
  Number((await values(`SELECT count(*) FROM %${from}`))[0])

const onConnection: RunTransaction = async (act) => {
  const client = await database.pool.connect()
  try {
    return await act(client)
  } finally {
    client.release()
  }
}

const contextOn = (steps: StepRunner, bounds = INDEX_BOUNDS): DriverContext => ({
  bounds,
  maxBehind: 8,
  names: namesIn(schema),
  steps,
  run: (act) => steps.run(() => onConnection(act)),
  start: (act) => steps.start(() => onConnection(act)),
})

const harness: IndexHarness = {
  async open() {
    schema = partitions === 'none' ? schemas.take() : PARTITIONED
    const options = { pool: database.pool, schema, partitions }
    // The store's own sealer checks once, and not again during any test.
    const { store, sealer } = createPostgresStore(options, { checkMs: 600_000 })
    await sealer.settled()
    await schemas.noteNew(schema)
    return store
  },
  async remove() {
    await (schema === PARTITIONED ? schemas.drop(schema) : schemas.giveBack(schema))
  },
  builder: (steps, tuning) => ({
    steps,
    tuning,
    driver: createDriver(contextOn(steps, tuning.bounds)),
  }),
  truth: () => postgresTruth(database.pool, schema),
  visibleSegments: () => storedSegments(database.pool, schema),
  load: (segment) => loadSegment(database.pool, schema, segment),
  version: async () => Number((await values('SELECT version FROM %index_state'))[0]),
  segmentRows: async () => (await count('segments')) + (await count('segment_chunks')),
  lateTimes: async () => (await values('SELECT created_at FROM %late_events')).map(Number),
  removedTimes: async () => (await values('SELECT created_at FROM %removed_events')).map(Number),
}
const index = useIndex(harness)

/** Inserts an event that the store would not write. */
const insertRaw = (time: number, attributes: string): Promise<unknown> =>
  database.pool.query(
    `INSERT INTO ${schema}.events VALUES ($1, '8000000000000000', 'raw', NULL, NULL, false, $2)`,
    [time, attributes],
  )

describeIndexBuilder(index)

describe('a log', () => {
  it('pauses become shorter as the backlog grows, and a long backlog has none', async () => {
    await index.record(someAttributes(67))
    const rests: number[] = []
    const { steps, tuning } = index.builder()
    const noted: StepRunner = { ...steps, setRestFactor: (factor) => void rests.push(factor) }
    const builder = harness.builder(noted, tuning)
    for (let left = 8; left > 0; left--) await sealNext(builder)
    expect(await sealNext(builder)).toBe(false)
    expect(rests).toEqual([0, 1, 2, 3, 4, 5, 6, 7])
  })

  it('full segments index the oldest events of several partitions', async () => {
    partitions = 'month'
    await index.reopen()
    await index.importAt([OLD, OLD + 40 * 86_400_000_000], 'months')
    await index.record(someAttributes(18))
    expect(await index.seal()).toBe(2)
    const events = await index.all()
    expect((await index.visibleSegments()).map(({ size, first }) => [size, first])).toEqual([
      [8, timeOf(events[0]!)],
      [8, timeOf(events[8]!)],
    ])
    await index.expectSegments()
    expect((await index.truth()).unsealed).toBe(4)
  })

  it('attributes that the store would not write are indexed, or listed as partial', async () => {
    const rows = [
      '{"text":"a\\u0000b"}',
      '{"name\\u0000with":{"below":5},"n":1}',
      '{"half":"a\\ud83d"}',
      '{"huge":1e400,"least":-1e400}',
      `{"list":[${Array.from({ length: 3000 }, (_, i) => i).join()}]}`,
      '{"text":"a\\u0000b"}',
      '{"\\u00e4":"\\u00e4"}',
      '{}',
    ]
    for (const [i, row] of rows.entries()) await insertRaw(OLD + i, row)
    expect(await index.seal()).toBe(1)
    const part = await index.load((await index.visibleSegments())[0]!)
    expect(ordinalsOf(part.find('text', 'a\0b'))).toEqual([0, 5])
    const names = ['text', 'name\0with', 'name\0with_below', 'n', 'half', 'list', 'nothing']
    expect(names.map((name) => ordinalsOf(part.partial(name)))).toEqual([
      [],
      [1],
      [1],
      [],
      [2],
      [],
      [],
    ])
    expect(ordinalsOf(part.find('n', 1))).toEqual([1])
    expect(ordinalsOf(part.find('huge', Infinity))).toEqual([3])
    expect(ordinalsOf(part.find('least', -Infinity))).toEqual([3])
    expect(ordinalsOf(part.find('ä', 'ä'))).toEqual([6])
    expect(ordinalsOf(part.find('type', 'raw'))).toEqual([0, 1, 2, 3, 4, 5, 6, 7])
  })

  it('names are numbered once, also by concurrent processes', async () => {
    await index.record(someAttributes(32))
    await Promise.all([index.seal(), index.seal(), index.seal()])
    expect(await count('attribute_names')).toBe(5)
    const names = await values('SELECT name FROM %attribute_names')
    expect(new Set(names).size).toBe(5)
    expect((await index.truth()).segments).toEqual([0, 0, 0, 0].map((level) => [level, 8]))
    await index.expectSegments()
  })

  it('imported events after all others are not late', async () => {
    await index.importAt([OLD, OLD + 2000], 'first')
    await index.importAt([OLD + 1000, OLD + 3000, OLD + 4000], 'partly')
    expect(await index.lateTimes()).toEqual([OLD + 1000])
  })

  it('an import that commits after later events were sealed is late', async () => {
    // The events are imported one by one, so that there is time between them.
    for (const one of someAttributes(4)) await index.record([one])
    const client = await database.pool.connect()
    try {
      const between = timeOf((await index.all())[1]!) + 1
      await client.query('BEGIN')
      await client.query(
        `INSERT INTO ${schema}.events VALUES ($1, '8000000000000000', 'old', NULL, NULL, false, '{}')`,
        [between],
      )
      await client.query(`INSERT INTO ${schema}.late_events (created_at) VALUES ($1)`, [between])
      await index.record(someAttributes(4, 10))
      expect(await index.seal()).toBe(1)
      await client.query('COMMIT')
      expect(await index.truth()).toMatchObject({ unsealed: 1, missing: [] })
      await index.record(someAttributes(7, 20))
      expect(await index.seal()).toBe(1)
      expect((await index.visibleSegments())[0]!.first).toBeLessThan(between)
      expect((await index.visibleSegments())[1]!.first).toBe(between)
    } finally {
      client.release()
    }
    await index.expectSegments()
  })

  it('a merge reads lists in several fetches', async () => {
    const large = { segmentSize: 600, fanOut: 3 }
    const attributes = Array.from({ length: 1800 }, (_, n) => ({
      n,
      text: `${'x'.repeat(n % 500)} ${n}`,
      third: n % 3,
      late: n > 900,
    }))
    for (let at = 0; at < attributes.length; at += 300)
      await Promise.all(
        attributes.slice(at, at + 300).map((one) => index.audit().recordCustom('large', one)),
      )
    expect(await index.repeat(sealNext, large)).toBe(3)
    expect(await index.repeat(mergeNext, large)).toBe(1)
    expect((await index.truth()).segments).toEqual([[1, 1800]])
    const part = await index.load((await index.visibleSegments())[0]!)
    const { rows } = await database.pool.query<{ n: number }>(
      `SELECT (attributes->>'n')::int AS n FROM ${schema}.events ORDER BY created_at`,
    )
    const ordinalOf = (passes: (n: number) => boolean): number[] =>
      rows.flatMap(({ n }, ordinal) => (passes(n) ? ordinal : []))
    expect(ordinalsOf(part.find('third', 1))).toEqual(ordinalOf((n) => n % 3 === 1))
    expect(ordinalsOf(part.find('late', true))).toEqual(ordinalOf((n) => n > 900))
    for (const n of [0, 7, 499, 1799]) {
      const text = `${'x'.repeat(n % 500)} ${n}`
      expect(ordinalsOf(part.find('text', text))).toEqual(ordinalOf((one) => one === n))
    }
    expect(ordinalsOf(part.valued('text'))).toEqual(rows.map((_, ordinal) => ordinal))
  })

  it('a segment that lost chunks in a crash is not published', async () => {
    await index.record(someAttributes(8))
    const work = index.slow(sealNext)
    expect(await work.advanceUntil(async () => (await count('segment_chunks')) > 0)).toBe(false)
    await database.pool.query(`DELETE FROM ${schema}.segment_chunks WHERE number = 2`)
    expect(await work.finish()).toBe(true)
    expect(await index.truth()).toMatchObject({ segments: [], hidden: 0, damage: [], unsealed: 8 })
  })
})
