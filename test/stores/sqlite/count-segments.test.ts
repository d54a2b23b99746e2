import {
  AuditLog,
  type AuditEvent,
  type CountOptions,
  type EventCounts,
  formatTimestamp,
  parseTimestamp,
} from 'daybook'
import { memoryStore } from 'daybook/memory'
import { manualClock } from 'daybook/testing'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { createConnection } from '../../../adapters/sqlite/connection/connection.js'
import { openDatabase, type SqliteDatabase } from '../../../adapters/sqlite/connection/database.js'
import { createLogIndex, type LogIndex } from '../../../adapters/sqlite/index/log-index.js'
import { countEvents } from '../../../adapters/sqlite/read/count.js'
import { countSegments } from '../../../adapters/sqlite/read/count-segments.js'
import { wholeCells } from '../../../src/store-kit/counting/covered-cells.js'
import { createTables, type Tables } from '../../../adapters/sqlite/schema/tables.js'
import { createSqliteStore } from '../../../adapters/sqlite/sqlite-store.js'
import { countsQuery } from '../../../src/counting/count-options.js'
import type { Slice } from '../../../src/store-kit/counting/slices.js'
import { createTally } from '../../../src/store-kit/counting/tally.js'
import { tempDir } from '../../support/temp.js'

const SIZE = 1000
const FIRST = parseTimestamp('2026-01-01')!
const MINUTE = 60_000_000
const TUNING = { segmentSize: 128, fanOut: 4 }
const TYPES = ['error:a:b', 'Error:c:d', 'warn:a:b', 'api:a:b', 'own', 'x'.repeat(255)]
const USERS = [null, 'ann', 'Ann', 'bob', 'ü', '']

/** Events `n` minutes after the first, or `shift` microseconds later. */
const eventAt = (n: number, shift = 0): AuditEvent => ({
  id: `00000000-0000-4000-8000-${String(n * 10 + shift).padStart(12, '0')}`,
  created_at: formatTimestamp(FIRST + n * MINUTE + shift),
  type: TYPES[(n * 7 + (n >> 5)) % TYPES.length]!,
  username: USERS[(n * 11) % USERS.length]!,
  system: n % 3 === 0,
  source: null,
  attributes: {
    n,
    kind: ['a', 'b', true, 4, null, ''][(n * 5) % 6]!,
    list: [n % 4, [n % 3], { code: n % 7 }],
    text: n === 850 ? 'x'.repeat(600) : `text ${n % 9}`,
  },
})
const eventsAt = (from: number, to: number, shift = 0): AuditEvent[] =>
  Array.from({ length: to - from }, (_, i) => eventAt(from + i, shift))

const temp = tempDir()
const filename = temp.file('audit.db')
const clock = manualClock('2026-01-05T00:00:00Z')
const memory = new AuditLog({ store: memoryStore({ clock }), types: {} })
const { store, sealer } = createSqliteStore({ filename, clock }, { tuning: TUNING })
const sqlite = new AuditLog({ store, types: { 'info:a:b': {} } })
const both = [memory, sqlite]
let database: SqliteDatabase
let tables: Tables
let index: LogIndex

/** Another connection to the file, as in another process. */
function openAgain(): void {
  database = openDatabase(filename, () => {})
  tables = createTables(createConnection(database))
  index = createLogIndex(tables, TUNING)
}

beforeAll(async () => {
  for (const audit of both) await audit.importEvents(eventsAt(0, SIZE))
  await sealer.settled()
  openAgain()
})
afterAll(async () => {
  database.close()
  for (const audit of both) await audit.close()
  temp.remove()
})

const between = (from: number, to: number): string =>
  `filter[created_at_gteq]=${formatTimestamp(FIRST + from * MINUTE)}&filter[created_at_lt]=${formatTimestamp(FIRST + to * MINUTE)}`

const QUERIES: readonly (readonly [filter: string, options: CountOptions])[] = [
  ['', {}],
  ['', { buckets: { count: 40 }, facets: ['level', 'type', 'username', 'system'], top: 1000 }],
  ['', { facets: ['system'] }],
  [between(300, 911), { buckets: { count: 200 }, facets: ['username'] }],
  [between(999, 5000), { facets: ['type'] }],
  [between(700, 701), { facets: ['type', 'username'] }],
  ['filter[type_start]=error:', { buckets: { count: 7 }, facets: ['level', 'type'] }],
  [`filter[username_eq]=ann&${between(100, 950)}`, { facets: ['username', 'level'] }],
  ['filter[username_null]=1&filter[system_true]=1', { buckets: { count: 9 } }],
  ['filter[type_not_eq]=own&filter[username_cont]=N', { facets: ['type', 'username', 'system'] }],
  ['filter[type_eq]=none', { buckets: { count: 5 }, facets: ['type'] }],
  ['', { facets: ['kind', 'n', 'none'], top: 1000 }],
  ['filter[kind_eq]=a', { buckets: { count: 40 }, facets: ['level', 'kind', 'list', 'username'] }],
  [
    `filter[list_code_gt]=3&filter[list_not_eq]=2&${between(100, 950)}`,
    { buckets: { count: 30 }, facets: ['type', 'list_code', 'system'] },
  ],
  [
    'filter[kind_or_username_eq]=ann&filter[type_start]=error:&filter[username_eq]=ann',
    { facets: ['level', 'username', 'kind'] },
  ],
  ['filter[kind_null]=1', { facets: ['kind', 'list'] }],
  ['filter[kind_present]=1', { buckets: { count: 3 }, facets: ['text'] }],
  ['filter[text_cont]=T+3', { facets: ['kind'] }],
  ['filter[source_null]=1&filter[kind_eq]=b', { facets: ['list'] }],
  ['filter[kind_eq]=b', { facets: ['list', 'source'], attributes: true }],
]

const untimed = (counts: EventCounts): EventCounts => ({ ...counts, took_ms: 0 })

const count = (
  filter: string,
  options: CountOptions,
  using: { readonly index: LogIndex; readonly minIndexed?: number } = { index },
): Promise<EventCounts> => {
  const query = countsQuery(filter, { within: 60_000, ...options })
  return countEvents({ tables, minIndexed: 1, ...using }, query, clock, {})
}

/** The ranges of time that the segments cannot count. */
async function uncovered(): Promise<readonly Slice[]> {
  const span = { first: FIRST, last: FIRST + SIZE * MINUTE, now: FIRST + SIZE * MINUTE }
  const tally = createTally(countsQuery('', { facets: ['type'] }), span)
  const cells = wholeCells(tally)
  const using = { tables, index: { index, minIndexed: 1 }, deadline: Infinity, options: {} }
  const counted = await countSegments({ ...using, tally, cells })
  return counted!.rest
}

/** Compares all counts with those of the memory store; returns how many chunks of the index were read. */
async function expectAgreement(): Promise<number> {
  const before = index.reads()
  for (const [filter, options] of QUERIES) {
    const expected = await memory.count(filter, { within: 60_000, ...options })
    const counts = await count(filter, options)
    expect(untimed(counts), JSON.stringify([filter, options])).toEqual(untimed(expected))
  }
  return index.reads() - before
}

describe('counts by segments are those of the memory store', () => {
  it('for segments of several levels, and events that are in none', async () => {
    expect(await expectAgreement()).toBeGreaterThan(20)
  })

  it('if the segments change meanwhile', async () => {
    let calls = 0
    const changing: LogIndex = {
      ...index,
      sealed: (isOver) =>
        (++calls % 4 === 0 && calls < 20 ? createLogIndex(tables, TUNING) : index).sealed(isOver),
    }
    const [filter, options] = QUERIES[1]!
    const countInSlices = async (): Promise<EventCounts> => {
      let now = 0
      // Each time slice takes one step, and every fourth finds other segments.
      using _now = vi.spyOn(performance, 'now').mockImplementation(() => (now += 10))
      return await count(filter, options, { index: changing })
    }
    const counts = await countInSlices()
    expect(calls).toBeGreaterThan(20)
    expect(untimed(counts)).toEqual(untimed(await memory.count(filter, options)))
  })

  it('with late events that are in no segment', async () => {
    for (const audit of both) await audit.importEvents(eventsAt(900, 940, 5))
    expect(await expectAgreement()).toBeGreaterThan(20)
  })

  it('with open live events, and after they were closed', async () => {
    const total = async (): Promise<number> => (await count('', {})).total
    const stored = await total()
    const live = await sqlite.recordLive('info:a:b', {})
    expect(await total()).toBe(stored + 1)
    await live.close()
    expect(await total()).toBe(stored + 1)
    await sqlite.store.remove([live.event!.id])
  })

  it('after events were removed, which segments count as before', async () => {
    sealer.checkSoon()
    await sealer.settled()
    const before = await uncovered()
    for (const audit of both)
      await audit.store.remove(
        [...eventsAt(0, 1), ...eventsAt(120, 135), ...eventsAt(600, 602)].map(({ id }) => id),
      )
    expect(await expectAgreement()).toBeGreaterThan(20)
    expect(await uncovered()).toEqual(before)
  })

  it('after events were removed, and others came in their place', async () => {
    for (const audit of both) {
      await audit.store.remove(eventsAt(400, 420).map(({ id }) => id))
      await audit.importEvents(eventsAt(405, 410).map((event) => ({ ...event, type: 'own' })))
    }
    await expectAgreement()
    for (const audit of both) await audit.importEvents(eventsAt(SIZE, SIZE + 600))
    await sealer.settled()
    expect(await expectAgreement()).toBeGreaterThan(0)
  })

  it('after all events before a time were removed', async () => {
    for (const audit of both) {
      await audit.store.removeBefore(FIRST + 333 * MINUTE)
      await audit.importEvents(eventsAt(10, 20))
    }
    await expectAgreement()
  })

  it('if segments are damaged', async () => {
    database.exec(`UPDATE daybook_chunks SET posts = x'00' WHERE id % 7 = 0`)
    database.close()
    openAgain()
    await expectAgreement()
  })
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
