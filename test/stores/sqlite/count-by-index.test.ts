import { AuditLog, type CountOptions, type EventCounts } from 'daybook'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { createConnection } from '../../../adapters/sqlite/connection/connection.js'
import { openDatabase, type SqliteDatabase } from '../../../adapters/sqlite/connection/database.js'
import { createLogIndex, type LogIndex } from '../../../adapters/sqlite/index/log-index.js'
import { countEvents, countPorts } from '../../../adapters/sqlite/read/count.js'
import { createTables, type Tables } from '../../../adapters/sqlite/schema/log-tables.js'
import { createSqliteStore } from '../../../adapters/sqlite/sqlite-store.js'
import { countsQuery } from '../../../src/counting/count-options.js'
import type { Slice } from '../../../src/store-kit/counting/slices.js'
import { createTally } from '../../../src/store-kit/counting/tally.js'
import { countByIndex } from '../../../src/store-kit/planning/count-by-index.js'
import { countWith } from '../../../src/store-kit/planning/count-planner.js'
import { tempDir } from '../../support/temp.js'
import {
  clock,
  countedLogs,
  eventsAt,
  expectOpenCounted,
  FIRST,
  INDEXED,
  MINUTE,
  QUERIES,
  SIZE,
  SMALL_TUNING,
  TUNING,
  untimed,
} from '../shared/counted-logs.js'

const temp = tempDir()
const filename = temp.file('audit.db')
const { store, sealer } = createSqliteStore({ filename, clock }, { tuning: TUNING })
const sqlite = new AuditLog({ store, types: { 'info:a:b': {} } })
let database: SqliteDatabase
let tables: Tables
let index: LogIndex

const count = (
  filter: string,
  options: CountOptions,
  using: { readonly index: LogIndex; readonly minIndexed?: number } = { index },
): Promise<EventCounts> => {
  const query = countsQuery(filter, { within: 60_000, ...options })
  return countEvents({ tables, firstProbe: 64, minIndexed: 1, ...using }, query, clock, {})
}

const logs = countedLogs(() => sqlite, count)
const { memory, inBoth, importInBoth, removeInBoth } = logs

/** Another connection to the file, as in another process. */
function openAgain(): void {
  database = openDatabase(filename, () => {})
  tables = createTables(createConnection(database))
  index = createLogIndex(tables, TUNING)
}

beforeAll(async () => {
  await importInBoth(eventsAt(0, SIZE))
  await sealer.settled()
  openAgain()
})
afterAll(async () => {
  database.close()
  for (const audit of [memory, sqlite]) await audit.close()
  temp.remove()
})

/** The ranges of time that the segments cannot count. */
async function uncovered(): Promise<readonly Slice[]> {
  const query = countsQuery('', { facets: ['type'] })
  const last = FIRST + SIZE * MINUTE
  const tally = createTally(query, { first: FIRST, last, now: last })
  const { openSealed } = countPorts({ tables, index, firstProbe: 64, minIndexed: 1 }, {})
  return (await countByIndex(query, tally, (bounds) => openSealed(bounds, Infinity)))!.rest
}

/** Compares all counts with those of the memory store. Returns the number of chunks of the index that were read. */
async function expectAgreement(queries?: typeof QUERIES): Promise<number> {
  const before = index.reads()
  await logs.expectAgreement(queries)
  return index.reads() - before
}

describe('counts by segments equal those of the memory store', () => {
  it('for segments of several levels, and events outside segments', async () => {
    expect(await expectAgreement(QUERIES)).toBeGreaterThan(20)
  })

  it('if the segments change meanwhile', async () => {
    let calls = 0
    const changing: LogIndex = {
      ...index,
      sealed: (isOver) =>
        (++calls % 4 === 0 && calls < 20 ? createLogIndex(tables, TUNING) : index).sealed(isOver),
    }
    const [filter, options] = INDEXED[1]!
    const countInSlices = async (): Promise<EventCounts> => {
      let now = 0
      // Each time slice takes one step. Every fourth step finds other segments.
      using _now = vi.spyOn(performance, 'now').mockImplementation(() => (now += 10))
      return await count(filter, options, { index: changing })
    }
    const counts = await countInSlices()
    expect(calls).toBeGreaterThan(20)
    expect(untimed(counts)).toEqual(untimed(await memory.count(filter, options)))
  })

  it('for the total, which is counted before the facets, even if the time ends during these', async () => {
    const options = { facets: ['n', 'kind', 'step', 'text'] }
    const whole = await memory.count('', options)
    let incomplete = 0
    for (let within = 10; within < 3000; within += 135) {
      let now = 0
      using _now = vi.spyOn(performance, 'now').mockImplementation(() => (now += 1))
      const { total, levels, exact, facets } = await count('', { ...options, within })
      if (!exact.total) continue
      expect({ total, levels }).toEqual({ total: whole.total, levels: whole.levels })
      if (Object.values(facets).some((facet) => !facet.exact)) incomplete++
    }
    expect(incomplete).toBeGreaterThan(0)
  })

  it.each([
    ['reads few events that the index finds', 'filter[source_null]=1&filter[rare_eq]=r1', true],
    ['scans if the index excludes no event', 'filter[source_null]=1', false],
  ])('%s, for a filter that it cannot count', async (_, filter, isCounted) => {
    const query = countsQuery(filter, { facets: ['kind'], within: 60_000 })
    const last = FIRST + SIZE * MINUTE
    const ports = countPorts({ tables, index, firstProbe: 64, minIndexed: 1 }, {})
    const addSlices = vi.fn(ports.addSlices)
    const span = { first: FIRST, last, now: last }
    const counts = await countWith({ ...ports, addSlices }, query, span, performance.now())
    expect(addSlices.mock.calls.length === 0).toBe(isCounted)
    const { facets, total, exact } = await memory.count(filter, { facets: ['kind'] })
    expect(counts).toMatchObject({ facets, total, exact })
  })

  it('with late events that are in no segment', async () => {
    await importInBoth(eventsAt(900, 940, 5))
    expect(await expectAgreement()).toBeGreaterThan(20)
  })

  it('with open live events, and after they were closed', () => logs.expectLiveCounted())

  it('after events were removed from segments', async () => {
    sealer.checkSoon()
    await sealer.settled()
    const before = await uncovered()
    await removeInBoth([...eventsAt(0, 1), ...eventsAt(120, 135), ...eventsAt(600, 602)])
    expect(await expectAgreement()).toBeGreaterThan(20)
    expect(await uncovered()).toEqual(before)
  })

  it('after events were removed, and others got their times', async () => {
    await removeInBoth(eventsAt(400, 420))
    await importInBoth(eventsAt(405, 410).map((event) => ({ ...event, type: 'own' })))
    await expectAgreement()
    await importInBoth(eventsAt(SIZE, SIZE + 600))
    await sealer.settled()
    expect(await expectAgreement(QUERIES)).toBeGreaterThan(0)
  })

  it('after all events before a time were removed', async () => {
    await inBoth((audit) => audit.store.removeBefore(FIRST + 333 * MINUTE))
    await importInBoth(eventsAt(10, 20))
    await expectAgreement()
  })

  it('if segments are damaged', async () => {
    database.exec(`UPDATE daybook_chunks SET posts = x'00' WHERE id % 7 = 0`)
    database.close()
    openAgain()
    await expectAgreement()
  })
})

it('an open live event counts once, and every segment is searched', async () => {
  const file = temp.file('opened.db')
  const made = createSqliteStore({ filename: file, clock }, { tuning: SMALL_TUNING })
  await using audit = new AuditLog({ store: made.store, types: { 'info:a:b': {} } })
  const handle = openDatabase(file, () => {})
  const others = createTables(createConnection(handle))
  const log = { tables: others, index: createLogIndex(others, SMALL_TUNING), firstProbe: 64 }
  const seal = async (): Promise<void> => {
    made.sealer.checkSoon()
    await made.sealer.settled()
  }
  await expectOpenCounted(audit, seal, (filter, given) =>
    countEvents(
      { ...log, minIndexed: 1 },
      countsQuery(filter, { within: 60_000, ...given }),
      clock,
      {},
    ),
  )
  handle.close()
})

describe('the index is not used', () => {
  it.each([
    ['for a sample', { within: 0 }, 1],
    ['for few events', {}, 1_000_000],
  ])('%s', async (_, options, minIndexed) => {
    const other = createLogIndex(tables, TUNING)
    await count('', options, { index: other, minIndexed })
    expect(other.reads()).toBe(0)
  })
})
