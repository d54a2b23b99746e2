import Database from 'better-sqlite3'
import {
  AuditLog,
  type AuditEvent,
  type EventPage,
  formatTimestamp,
  parseQuery,
  parseTimestamp,
  type QueryObject,
} from 'daybook'
import { memoryStore } from 'daybook/memory'
import { postgresStore } from 'daybook/postgres'
import { sqliteStore } from 'daybook/sqlite'
import { manualClock } from 'daybook/testing'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { narrowAttribute } from '../../adapters/sqlite/read/pushdown.js'
import { compileFilter } from '../../src/filter/evaluate.js'
import { pushDownFilter } from '../../src/store-kit/pushdown.js'
import { postgresDatabase, type TestDatabase } from '../support/database.js'
import { tempDir } from '../support/temp.js'
import { events, filter, filterOf, PREDICATES, query } from './arbitraries.js'

interface World {
  readonly memory: AuditLog
  /** The others, which have to agree with it. */
  readonly others: readonly AuditLog[]
}

let database: TestDatabase
let schemas = 0

beforeAll(async () => {
  database = await postgresDatabase()
})
afterAll(() => database.remove())

/** The same events in all stores, for as long as `use` takes. */
async function withStores(
  events: readonly AuditEvent[],
  use: (world: World) => Promise<void>,
): Promise<void> {
  const temp = tempDir()
  const clock = manualClock('2026-06-01T00:00:00Z')
  const schema = `agree_${schemas++}`
  const logs = [
    memoryStore({ clock }),
    sqliteStore({ filename: temp.file('audit.db'), clock }),
    postgresStore({ pool: database.pool, schema, clock, partitions: 'none' }),
  ].map((store): AuditLog => new AuditLog({ store, types: {} }))
  const [memory, ...others] = logs
  try {
    await Promise.all(logs.map((audit) => audit.importEvents(events)))
    await use({ memory: memory!, others })
  } finally {
    await Promise.all(logs.map((audit) => audit.close()))
    temp.remove()
  }
}

/** The events in the file of an SQLite store, for as long as `use` takes. */
async function withFile(
  events: readonly AuditEvent[],
  use: (filename: string) => void,
): Promise<void> {
  const temp = tempDir()
  const filename = temp.file('audit.db')
  const store = sqliteStore({ filename, clock: manualClock('2026-06-01T00:00:00Z') })
  const audit: AuditLog = new AuditLog({ store, types: {} })
  try {
    await audit.importEvents(events)
    use(filename)
  } finally {
    await audit.close()
    temp.remove()
  }
}

/** Asks all stores all queries at once, compares the answers, and gives those of the memory store. */
async function agreedPages(
  { memory, others }: World,
  queries: readonly QueryObject[],
): Promise<readonly EventPage[]> {
  const listAll = (audit: AuditLog): Promise<EventPage[]> =>
    Promise.all(queries.map((query) => audit.list(query)))
  const [expected, ...found] = await Promise.all([memory, ...others].map(listAll))
  for (const [i, query] of queries.entries())
    for (const pages of found)
      expect(ids(pages[i]!), JSON.stringify(query)).toEqual(ids(expected![i]!))
  return expected!
}

const ids = ({ events, truncated }: EventPage): unknown => ({
  ids: events.map((event) => event.id),
  truncated,
})

describe('the stores', () => {
  it('give the same events in the same order to any query', async () => {
    let asked = 0
    let telling = 0
    await fc.assert(
      fc.asyncProperty(
        events,
        fc.array(query, { minLength: 60, maxLength: 60, size: 'max' }),
        (events, queries) =>
          withStores(events, async (world) => {
            for (const page of await agreedPages(world, queries)) {
              asked++
              if (page.events.length > 0 && page.events.length < events.length) telling++
            }
          }),
      ),
      { numRuns: 20, endOnFailure: true },
    )
    // A test whose queries find nothing, or everything, tells nothing.
    expect(telling / asked, `${telling} of ${asked} results tell something`).toBeGreaterThan(1 / 3)
  })

  it('find what lies behind thousands of newer events', async () => {
    const newer = Array.from({ length: 2100 }, (_, i): AuditEvent => ({
      id: `10000000-0000-4000-8000-${String(i).padStart(12, '0')}`,
      created_at: formatTimestamp(parseTimestamp('2026-05-31')! + i),
      username: 'filler',
      system: false,
      type: 'filler',
      source: null,
      attributes: {},
    }))
    let found = 0
    await fc.assert(
      fc.asyncProperty(
        events,
        fc.array(query, { minLength: 60, maxLength: 60, size: 'max' }),
        (events, queries) =>
          withStores([...events, ...newer], async (world) => {
            for (const page of await agreedPages(world, queries))
              if (page.events.some((event) => event.type !== 'filler')) found++
          }),
      ),
      { numRuns: 4, endOnFailure: true },
    )
    expect(found).toBeGreaterThan(20)
  })

  it('give back the events they were given', async () => {
    await fc.assert(
      fc.asyncProperty(events, (events) =>
        withStores(events, async ({ memory, others }) => {
          for (const audit of [memory, ...others])
            expect((await audit.list({ limit: 1000 })).events).toEqual(events)
        }),
      ),
      { numRuns: 10 },
    )
  })
})

interface Narrowing {
  /** Events that SQL lets through. */
  through: number
  /** Those of them that the predicate rejects. */
  rejected: number
  /** Matches that SQL lost: there must be none. */
  readonly lost: string[]
}

/** What SQL alone lets through, against what the predicate accepts. */
function measure(
  narrowing: Narrowing,
  database: Database.Database,
  events: readonly AuditEvent[],
  filter: Readonly<Record<string, unknown>>,
): void {
  const { where } = parseQuery({ filter })
  const narrowed = pushDownFilter(where, narrowAttribute)
  if (!narrowed) return
  const found = database
    .prepare<unknown[], number>(
      `SELECT row_number() OVER (ORDER BY created_at) - 1, created_at IN (
         SELECT created_at FROM daybook_events WHERE ${narrowed.text}
       ) FROM daybook_events ORDER BY created_at`,
    )
    .raw()
    .all(...narrowed.params) as unknown as [index: number, isThrough: 0 | 1][]
  const accepts = compileFilter(where)
  for (const [index, isThrough] of found) {
    const isMatch = accepts(events[index]!)
    if (isThrough === 1) narrowing.through++
    if (isThrough === 1 && !isMatch) narrowing.rejected++
    if (isThrough === 0 && isMatch)
      narrowing.lost.push(`${JSON.stringify(filter)} loses ${JSON.stringify(events[index])}`)
  }
}

describe('SQL that narrows a filter', () => {
  it('loses no match, and leaves the predicate less than a fifth of its rows to reject', async () => {
    const narrowing: Narrowing = { through: 0, rejected: 0, lost: [] }
    await fc.assert(
      fc.asyncProperty(
        events,
        fc.array(filter, { minLength: 60, maxLength: 60, size: 'max' }),
        (events, filters) =>
          withFile(events, (filename) => {
            using database = openReadonly(filename)
            for (const filter of filters) measure(narrowing, database.handle, events, filter)
            expect(narrowing.lost).toEqual([])
          }),
      ),
      { numRuns: 20, endOnFailure: true },
    )
    const share = narrowing.rejected / narrowing.through
    expect(
      share,
      `of ${narrowing.through} rows that SQL let through the predicate rejected ${narrowing.rejected}`,
    ).toBeLessThan(1 / 5)
  })

  it('loses no match with any predicate', async () => {
    const narrowing: Narrowing = { through: 0, rejected: 0, lost: [] }
    const onePerPredicate = fc.tuple(...PREDICATES.map(filterOf))
    await fc.assert(
      fc.asyncProperty(events, onePerPredicate, (events, filters) =>
        withFile(events, (filename) => {
          using database = openReadonly(filename)
          for (const filter of filters) measure(narrowing, database.handle, events, filter)
          expect(narrowing.lost).toEqual([])
        }),
      ),
      { numRuns: 15, endOnFailure: true },
    )
    expect(narrowing.through).toBeGreaterThan(0)
  })
})

function openReadonly(filename: string): Disposable & { readonly handle: Database.Database } {
  const handle = new Database(filename, { readonly: true })
  return { handle, [Symbol.dispose]: () => void handle.close() }
}
