import Database from 'better-sqlite3'
import { AuditLog, type AuditEvent, type EventPage, parseQuery } from 'daybook'
import { memoryStore } from 'daybook/memory'
import { sqliteStore } from 'daybook/sqlite'
import { manualClock } from 'daybook/testing'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { narrowAttribute } from '../../adapters/sqlite/narrow.js'
import { compileFilter } from '../../src/filter/evaluate.js'
import { narrowFilter } from '../../src/filter/narrow.js'
import { tempDir } from '../support/temp.js'
import { events, filter, filterOf, PREDICATES, query } from './arbitraries.js'

interface World {
  readonly memory: AuditLog
  readonly sqlite: AuditLog
  readonly filename: string
}

/** The same events in both stores, for as long as `use` takes. */
async function withStores(
  events: readonly AuditEvent[],
  use: (world: World) => Promise<void>,
): Promise<void> {
  const temp = tempDir()
  const clock = manualClock('2026-06-01T00:00:00Z')
  const filename = temp.file('audit.db')
  const memory: AuditLog = new AuditLog({ store: memoryStore({ clock }), types: {} })
  const sqlite: AuditLog = new AuditLog({ store: sqliteStore({ filename, clock }), types: {} })
  try {
    await memory.importEvents(events)
    await sqlite.importEvents(events)
    await use({ memory, sqlite, filename })
  } finally {
    await memory.close()
    await sqlite.close()
    temp.remove()
  }
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
          withStores(events, async ({ memory, sqlite }) => {
            for (const query of queries) {
              const page = await sqlite.list(query)
              expect(ids(page), JSON.stringify(query)).toEqual(ids(await memory.list(query)))
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

  it('give back the events they were given', async () => {
    await fc.assert(
      fc.asyncProperty(events, (events) =>
        withStores(events, async ({ memory, sqlite }) => {
          expect((await memory.list({ limit: 1000 })).events).toEqual(events)
          expect((await sqlite.list({ limit: 1000 })).events).toEqual(events)
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
  const narrowed = narrowFilter(where, narrowAttribute)
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
          withStores(events, async ({ filename }) => {
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
        withStores(events, async ({ filename }) => {
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
