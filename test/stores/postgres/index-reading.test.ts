import { AuditLog, parseQuery } from 'daybook'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { createChunkCache } from '../../../adapters/postgres/index/chunk-cache.js'
import { createLogIndex, type LogIndex } from '../../../adapters/postgres/index/log-index.js'
import { createChunkLoader } from '../../../adapters/postgres/index/chunk-loader.js'
import { readSegment } from '../../../adapters/postgres/index/segment-reader.js'
import { openSession } from '../../../adapters/postgres/index/session.js'
import { createTaskRunner } from '../../../adapters/postgres/index/task-runner.js'
import { namesIn } from '../../../adapters/postgres/schema/names.js'
import { createPostgresStore } from '../../../adapters/postgres/postgres-store.js'
import { ALL_TIME } from '../../../src/filter/bounds.js'
import { indexFilter } from '../../../src/store-kit/index/index-filter.js'
import { type FetchedPart, Kind, type Order } from '../../../src/store-kit/index/part.js'
import { readOne, type Work } from '../../../src/store-kit/index/work.js'
import { postgresDatabase, type TestDatabase } from '../../support/database.js'
import { type Moment, takeMoment } from '../../support/postgres-moment.js'

const SEGMENTS = 5
const TUNING = { segmentSize: 2000, fanOut: 16 }
const SIZE = SEGMENTS * TUNING.segmentSize
const names = namesIn('index_reading')
let database: TestDatabase
let index: LogIndex
let moment: Moment

/** Half of the events have the flag. Each event has a unique long text. Tests only read the events. */
beforeAll(async () => {
  database = await postgresDatabase()
  const { store, sealer } = createPostgresStore(
    { connectionString: database.url, schema: names.schemaName },
    // The store seals while events are recorded, so it needs the same sizes.
    { tuning: TUNING },
  )
  const audit: AuditLog = new AuditLog({ store, types: {} })
  const recordOne = (n: number): Promise<unknown> =>
    audit.recordCustom('own', {
      n,
      flag: n % 2 === 0,
      text: `${String(n).padStart(6, '0')} ${'x'.repeat(100)}`,
    })
  for (let from = 0; from < SIZE; from += 1000)
    await Promise.all(Array.from({ length: 1000 }, (_, i) => recordOne(from + i)))
  await sealer.settled()
  await audit.close()
})
afterAll(() => database.remove())

beforeEach(async () => {
  index = createLogIndex(names, TUNING)
  moment = await takeMoment(database.url)
})
afterEach(() => moment.end())

const neverDamaged = (damaged: Error): never => {
  throw damaged
}

async function open(query: string) {
  const coverage = await index.refresh(moment)
  if (coverage === 'outdated') throw new Error('outdated')
  expect(coverage.segments.length).toBe(SEGMENTS)
  const session = openSession({
    names,
    snapshot: moment,
    coverage,
    bounds: ALL_TIME,
    filter: indexFilter(parseQuery(query).where),
    timesOf: () => [],
    onDamaged: neverDamaged,
  })
  return { coverage, session }
}

/** Runs `act` and counts its statements. */
async function counted<Result>(act: () => Promise<Result>) {
  const before = moment.statements.length
  const result = await act()
  return { result, statements: moment.statements.length - before }
}

describe('one statement fetches the missing data of several segments', () => {
  it('for a value: first its name, then its chunks, then its times, and later nothing', async () => {
    const { session } = await open('filter[n_eq]=4321')
    const cold = await counted(() => session.find(session.parts))
    expect(cold.statements).toBe(2)
    expect(cold.result.map(({ postings }) => postings.size)).toEqual([1])
    const times = await counted(() => session.timesOf(cold.result, 'desc', ALL_TIME, 10))
    expect([times.statements, times.result.length]).toEqual([1, 1])

    // Another query in the same process.
    const { session: again } = await open('filter[n_eq]=4321')
    const warm = await counted(async () => {
      const sets = await again.find(again.parts)
      return again.timesOf(sets, 'desc', ALL_TIME, 10)
    })
    expect(warm).toEqual({ statements: 0, result: times.result })
  })

  it('for several types of a value and several conditions', async () => {
    await counted(async () => (await open('filter[n_null]=1&filter[text_null]=1')).session)
    const { session } = await open('filter[n_eq]=77&filter[flag_eq]=false')
    const { statements, result } = await counted(() => session.find(session.parts))
    expect(statements).toBe(2)
    expect(result.length).toBe(1)
  })

  it('for times in several blocks', async () => {
    const { session } = await open('filter[n_in][]=3000&filter[n_in][]=3700&filter[n_in][]=9001')
    const sets = await session.find(session.parts)
    const { statements, result } = await counted(() => session.timesOf(sets, 'asc', ALL_TIME, 10))
    expect([statements, result.length]).toEqual([1, 3])
  })

  it('for a name that no event has, once while the index stays the same', async () => {
    const { session } = await open('filter[other_eq]=1')
    expect(await counted(() => session.find(session.parts))).toEqual({ statements: 1, result: [] })
    const { session: again } = await open('filter[other_eq]=1')
    expect(await counted(() => again.find(again.parts))).toEqual({ statements: 0, result: [] })
  })
})

function* valuesOf(part: FetchedPart, order: Order): Work<string[]> {
  const values: string[] = []
  for (const entry of part.values('text', Kind.text, order)) {
    if (entry) values.push(String(entry.value))
    else yield entry
  }
  return values
}

it('each fetch in one direction gets more chunks than the one before', async () => {
  const { session } = await open('filter[text_gteq]=0')
  const [first] = session.parts
  const { statements, result } = await counted(() =>
    session.tasks.one(() => valuesOf(first!, 'asc')),
  )
  expect(result.length).toBe(TUNING.segmentSize)
  // About seventy chunks: the name, the first one, then 4, 16, 64.
  expect(statements).toBe(5)
  const falling = await counted(() => session.tasks.one(() => valuesOf(first!, 'desc')))
  // The chunks are cached now, except those between two fetches.
  expect(falling.statements).toBeLessThan(statements)
  expect(falling.result).toEqual(falling.result.toSorted().toReversed())
})

it('a bulk read continues after each fetch, and its chunks are not kept', async () => {
  const { coverage } = await open('')
  const { segments } = coverage
  const cache = createChunkCache()
  const loader = createChunkLoader({ names, cache, ask: moment.ask })
  const tasks = createTaskRunner(loader, () => {}, neverDamaged)
  const part = readSegment(loader, segments[0]!)
  let looks = 0
  const { result } = await counted(() =>
    tasks.one(function* () {
      const found: unknown[] = []
      const mayPass = (lines: string): boolean => {
        looks += 1
        return lines.includes('000123')
      }
      for (const entry of part.search!('text', Kind.text, { part: '000123', mayPass })) {
        if (entry) found.push(entry.value)
        else yield entry
      }
      return found.length
    }),
  )
  expect(result).toBeGreaterThan(0)
  expect(looks).toBeLessThan(200)
})

it('a long list is fetched as a whole', async () => {
  const { session } = await open('filter[flag_eq]=true')
  const sets = await session.find(session.parts)
  const { statements, result } = await counted(() =>
    session.timesOf(sets, 'desc', ALL_TIME, Infinity),
  )
  expect(result.length).toBe(SIZE / 2)
  expect(statements).toBeLessThanOrEqual(2)
})

it('a task that takes too long is aborted', async () => {
  const { coverage } = await open('')
  const { segments } = coverage
  const cache = createChunkCache()
  const loader = createChunkLoader({ names, cache, ask: moment.ask })
  const late = new Error('late')
  const checkTime = (): void => {
    throw late
  }
  const tasks = createTaskRunner(loader, checkTime, neverDamaged)
  const part = readSegment(loader, segments[0]!)
  await expect(tasks.one(() => readOne(() => part.find('n', 1)))).rejects.toBe(late)
})
