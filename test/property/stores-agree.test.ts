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
import { pushDownAttribute } from '../../adapters/sqlite/read/pushdown-event.js'
import { pushDownFilter } from '../../src/store-kit/pushdown.js'
import { postgresDatabase, type TestDatabase } from '../support/database.js'
import { type LogSchemas, openLogSchemas } from '../support/log-schemas.js'
import { randomRuns } from '../support/soak.js'
import { tempDir } from '../support/temp.js'
import { events, filter, filterOf, PREDICATES, query } from './arbitraries.js'
import {
  addSelection,
  type Filter,
  noTotals,
  type PushdownTotals,
  rejectedShare,
} from './pushdown-totals.js'

interface World {
  readonly memory: AuditLog
  /** The stores that must return the same pages. */
  readonly others: readonly AuditLog[]
}

let database: TestDatabase
let schemas: LogSchemas

beforeAll(async () => {
  database = await postgresDatabase()
  schemas = await openLogSchemas(database.url, 'agree_')
})
afterAll(async () => {
  await schemas.close()
  await database.remove()
})

// Sixty queries at once wait for the same connections.
const UNLIMITED = 2 ** 31 - 1

/** Imports the events into all stores and calls `use`. */
async function withStores(
  events: readonly AuditEvent[],
  use: (world: World) => Promise<void>,
): Promise<void> {
  const temp = tempDir()
  const options = { clock: manualClock('2026-06-01T00:00:00Z'), queryTimeoutMs: UNLIMITED }
  const { schema, store } = await schemas.open((schema) =>
    postgresStore({ pool: database.pool, schema, ...options, partitions: 'none' }),
  )
  const logs = [
    memoryStore(options),
    sqliteStore({ filename: temp.file('audit.db'), ...options }),
    store,
  ].map((store): AuditLog => new AuditLog({ store, types: {} }))
  const [memory, ...others] = logs
  try {
    await Promise.all(logs.map((audit) => audit.importEvents(events)))
    await use({ memory: memory!, others })
  } finally {
    await Promise.all(logs.map((audit) => audit.close()))
    await schemas.giveBack(schema)
    temp.remove()
  }
}

/** Imports the events into an SQLite store and calls `use` with its file. */
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

/** Runs all queries on all stores, compares the pages, and returns the pages of the memory store. */
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

describe('the stores return the same events in the same order for any query', () => {
  it.each([1, 2])('(part %i)', () =>
    fc.assert(
      fc.asyncProperty(
        events,
        fc.array(query, { minLength: 60, maxLength: 60, size: 'max' }),
        (events, queries) =>
          withStores(events, async (world) => void (await agreedPages(world, queries))),
      ),
      { numRuns: randomRuns(2, 16), endOnFailure: true },
    ),
  )
})

describe('the stores', () => {
  it('find events that are older than thousands of other events', async () => {
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
      { numRuns: randomRuns(2, 12), endOnFailure: true },
    )
    expect(found).toBeGreaterThan(10)
  })

  it('return the imported events unchanged', async () => {
    await fc.assert(
      fc.asyncProperty(events, (events) =>
        withStores(events, async ({ memory, others }) => {
          for (const audit of [memory, ...others])
            expect((await audit.list({ limit: 1000 }, { personal: 'stored' })).events).toEqual(
              events,
            )
        }),
      ),
      { numRuns: 5 },
    )
  })
})

/** Compares the events that the SQL selects with the events that the filter accepts. */
function measure(
  totals: PushdownTotals,
  database: Database.Database,
  events: readonly AuditEvent[],
  filter: Filter,
): void {
  const { where } = parseQuery({ filter })
  const pushdown = pushDownFilter(where, pushDownAttribute)
  if (!pushdown) return
  const found = database
    .prepare<unknown[], number>(
      `SELECT row_number() OVER (ORDER BY created_at) - 1, created_at IN (
         SELECT created_at FROM daybook_events WHERE ${pushdown.text}
       ) FROM daybook_events ORDER BY created_at`,
    )
    .raw()
    .all(...pushdown.params) as unknown as [index: number, isSelected: 0 | 1][]
  addSelection(totals, filter, events, (i) => found[i]![1] === 1)
}

describe('the SQL pushdown of a filter', () => {
  it('selects every match, and of the selected events the filter rejects less than a fifth', async () => {
    const totals = noTotals()
    await fc.assert(
      fc.asyncProperty(
        events,
        fc.array(filter, { minLength: 60, maxLength: 60, size: 'max' }),
        (events, filters) =>
          withFile(events, (filename) => {
            using database = openReadonly(filename)
            for (const filter of filters) measure(totals, database.handle, events, filter)
            expect(totals.lost).toEqual([])
          }),
      ),
      { numRuns: randomRuns(10, 80), endOnFailure: true },
    )
    expect(rejectedShare(totals), JSON.stringify(totals)).toBeLessThan(1 / 5)
  })

  it('selects every match of every predicate', async () => {
    const totals = noTotals()
    const onePerPredicate = fc.tuple(...PREDICATES.map(filterOf))
    await fc.assert(
      fc.asyncProperty(events, onePerPredicate, (events, filters) =>
        withFile(events, (filename) => {
          using database = openReadonly(filename)
          for (const filter of filters) measure(totals, database.handle, events, filter)
          expect(totals.lost).toEqual([])
        }),
      ),
      { numRuns: randomRuns(8, 60), endOnFailure: true },
    )
    expect(totals.selected).toBeGreaterThan(0)
  })
})

function openReadonly(filename: string): Disposable & { readonly handle: Database.Database } {
  const handle = new Database(filename, { readonly: true })
  return { handle, [Symbol.dispose]: () => void handle.close() }
}
