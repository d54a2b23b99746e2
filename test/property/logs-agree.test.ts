import { type AuditEvent, AuditLog, AuditLogs, type HistoryEntry, type QueryObject } from 'daybook'
import { memoryLogs, memoryStore } from 'daybook/memory'
import { postgresLogs } from 'daybook/postgres'
import { sqliteLogs } from 'daybook/sqlite'
import { manualClock } from 'daybook/testing'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { postgresDatabase, type TestDatabase } from '../support/database.js'
import { randomRuns, SOAK_SECONDS } from '../support/soak.js'
import { tempDir } from '../support/temp.js'
import { events, query } from './arbitraries.js'

const KEYS = ['a', 'b', 'B', '\u{1F600}', '\uFFFD']
const clock = manualClock('2026-06-01T00:00:00Z')
const UNLIMITED = 2 ** 31 - 1
const COUNTED = { facets: ['n', 'type'], buckets: { count: 20 }, top: 1000, within: 60_000 }

const GROUPED = { by: ['type', 'n'], numbers: ['n'], buckets: { count: 20 }, within: 60_000 }

/** The ids and the states of a history. */
async function entriesOf(history: AsyncIterable<HistoryEntry>): Promise<readonly unknown[]> {
  const entries: unknown[] = []
  for await (const { event, state } of history) entries.push([event.id, state])
  return entries
}

const POSTGRES_EVERY = 2
let runs = 0
let database: TestDatabase
beforeAll(async () => {
  database = await postgresDatabase()
})
afterAll(() => database.remove())

/** Imports each event into one of the logs, and all of them into one log. */
async function withLogs(
  all: readonly AuditEvent[],
  keys: readonly number[],
  use: (logs: AuditLogs, single: AuditLog) => Promise<void>,
): Promise<void> {
  const temp = tempDir()
  const options = { clock, queryTimeoutMs: UNLIMITED }
  const single: AuditLog = new AuditLog({ store: memoryStore(options), types: {} })
  const stores = [memoryLogs(options), sqliteLogs({ directory: temp.dir, ...options })]
  // Each log is a schema, which takes a while to create.
  if (runs++ % POSTGRES_EVERY === 0)
    stores.push(postgresLogs({ pool: database.pool, schemaPrefix: `run${runs}_`, ...options }))
  const each = stores.map((of): AuditLogs => new AuditLogs({ stores: of, types: {}, maxOpen: 2 }))
  try {
    await single.importEvents(all)
    for (const logs of each) {
      for (const [k, key] of KEYS.entries())
        await logs.log(key).importEvents(all.filter((_, i) => keys[i] === k))
      await use(logs, single)
    }
  } finally {
    await Promise.all([single.close(), ...each.map((logs) => logs.close())])
    temp.remove()
  }
}

const QUERIES = SOAK_SECONDS > 0 ? 40 : 10
const keysOfEvents = fc.array(fc.nat({ max: KEYS.length - 1 }), { minLength: 40, maxLength: 40 })
const idsOf = (found: readonly { readonly event: AuditEvent }[]) =>
  found.map(({ event }) => event.id)

describe('several logs give the same answers as one log with all their events', () => {
  it('for lists and counts', async () => {
    await fc.assert(
      fc.asyncProperty(
        events,
        keysOfEvents,
        fc.array(query, { minLength: QUERIES, maxLength: QUERIES, size: 'max' }),
        (all, keys, queries) =>
          withLogs(all, keys, async (logs, single) => {
            for (const one of queries) {
              const expected = await single.list(one)
              const found = await logs.list(one)
              expect(idsOf(found.events), JSON.stringify(one)).toEqual(
                expected.events.map(({ id }) => id),
              )
              expect(found.truncated).toBe(expected.truncated)
              const { took_ms: _took, ...counts } = await logs.count(one, COUNTED)
              const { took_ms: _single, ...expectedCounts } = await single.count(one, COUNTED)
              expect(counts).toEqual(expectedCounts)
              const { took_ms: _read, ...groups } = await logs.groups(one, GROUPED)
              const { took_ms: _group, ...expectedGroups } = await single.groups(one, GROUPED)
              expect(groups).toEqual(expectedGroups)
            }
            const entries = await entriesOf(logs.history({ system: true }))
            expect(entries).toEqual(await entriesOf(single.history({ system: true })))
          }),
      ),
      { numRuns: randomRuns(1, 20), endOnFailure: true },
    )
  })
})

/** Records the events that a reader of pages finds, while `step` adds events between the pages. */
async function readPages(
  logs: AuditLogs,
  wanted: QueryObject,
  step: () => Promise<void>,
): Promise<readonly string[]> {
  const found: string[] = []
  for (let cursor: string | undefined; ;) {
    const page = await logs.list(wanted, { cursor })
    found.push(...idsOf(wanted.filter ? page.events : page.events.toReversed()))
    if (!page.truncated) return found
    cursor = page.cursor
    await step()
  }
}

it('paging misses and repeats no event while events are added, even if the clocks of the logs differ', async () => {
  let withAdded = 0
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.nat({ max: 3 }), { minLength: 10, maxLength: 30 }),
      fc.array(fc.nat({ max: 3 }), { minLength: 10, maxLength: 10 }),
      fc.integer({ min: 1, max: 7 }),
      fc.array(fc.integer({ min: -30, max: 30 }), { minLength: 4, maxLength: 4 }),
      async (first, added, limit, offsets) => {
        const clocks = offsets.map((offset) => {
          const clock = manualClock('2026-01-01T00:00:00Z')
          clock.advance(3_600_000_000 + offset * 1_000_000)
          return clock
        })
        const stores = clocks.map((clock) => memoryLogs({ clock }))
        const logs: AuditLogs = new AuditLogs({
          types: { note: {} },
          stores: {
            open: (key) => stores[Number(key)]!.open(key),
            keys: async () => ['0', '1', '2', '3'],
            has: async () => true,
            close: async () => {},
          },
        })
        const record = async (key: number): Promise<string> => {
          const event = await logs.log(String(key)).record('note')
          clocks[key]!.advance(500_000)
          return event!.id
        }
        const before: string[] = []
        for (const key of first) before.push(await record(key))
        const meanwhile: string[] = []
        const rest = [...added]
        const step = async (): Promise<void> => {
          const key = rest.pop()
          if (key !== undefined) meanwhile.push(await record(key))
        }
        const oldestFirst = { filter: { s: 'created_at asc' }, limit }
        const forward = await readPages(logs, oldestFirst, step)
        expect(new Set(forward).size).toBe(forward.length)
        expect(forward.toSorted()).toEqual([...before, ...meanwhile].toSorted())
        withAdded += meanwhile.length
        const known = [...forward]
        rest.push(...added)
        const back = await readPages(logs, { limit }, step)
        expect(new Set(back).size).toBe(back.length)
        const seen = new Set(back)
        expect(known.filter((id) => !seen.has(id))).toEqual([])
        await logs.close()
      },
    ),
    { numRuns: 12, endOnFailure: true },
  )
  expect(withAdded).toBeGreaterThan(10)
})
