import Database from 'better-sqlite3'
import { AuditLog, type AuditEvent, formatQuery, formatTimestamp, parseQuery } from 'daybook'
import { memoryStore } from 'daybook/memory'
import { sqliteStore } from 'daybook/sqlite'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { narrowAttribute } from '../../adapters/sqlite/narrow.js'
import { compileFilter } from '../../src/filter/evaluate.js'
import { narrowFilter } from '../../src/filter/narrow.js'
import { tempDir } from '../support/temp.js'
import { attributes, query } from './arbitraries.js'

const EVENTS = 400
const USERS = ['ann', 'Bob', null]
const TYPES = ['alpha', 'Alpha', 'beta', '7', 'Straße']

/** The same events, with the same ids and times, for both stores. */
function makeEvents(seed: number): AuditEvent[] {
  const samples = fc.sample(attributes, { numRuns: EVENTS, seed })
  return samples.map((sample, i) => ({
    id: `00000000-0000-4000-8000-${String(i).padStart(12, '0')}`,
    created_at: formatTimestamp(1_700_000_000_000_000 + i * 7),
    username: USERS[i % USERS.length]!,
    system: i % 3 > 0,
    type: TYPES[i % TYPES.length]!,
    source: null,
    attributes: sample,
  }))
}

describe('random queries over random events', () => {
  const temp = tempDir()
  const filename = temp.file('audit.db')
  const memory: AuditLog = new AuditLog({ store: memoryStore(), types: {} })
  let sqlite: AuditLog

  beforeAll(async () => {
    const events = makeEvents(20_261_121)
    sqlite = new AuditLog({ store: sqliteStore({ filename }), types: {} })
    await memory.importEvents(events)
    await sqlite.importEvents(events)
  })
  afterAll(async () => {
    await Promise.all([memory.close(), sqlite.close()])
    temp.remove()
  })

  it('have one answer on the memory and the SQLite store', async () => {
    let telling = 0
    let runs = 0
    await fc.assert(
      fc.asyncProperty(query, async (q) => {
        const expected = await memory.list(q)
        expect(await sqlite.list(q)).toEqual(expected)
        runs++
        const all = await memory.list({ ...q, limit: 1000 })
        if (all.events.length > 0 && all.events.length < EVENTS) telling++
      }),
      { numRuns: 1500 },
    )
    expect(telling / runs, 'queries that match something and not everything').toBeGreaterThan(1 / 3)
  })

  it('mean the same after they were printed and parsed', async () => {
    const { events } = await memory.list({ limit: 1000 })
    fc.assert(
      fc.property(query, (q) => {
        const parsed = parseQuery(formatQuery(q))
        expect({ ...parsed, where: undefined }).toEqual({ ...q, where: undefined })
        expect(events.filter(compileFilter(parsed.where))).toEqual(
          events.filter(compileFilter(q.where)),
        )
        expect(formatQuery(parseQuery(formatQuery(parsed)))).toBe(formatQuery(parsed))
      }),
      { numRuns: 500 },
    )
  })

  it('lose no match to the narrowing in SQL, which leaves little for the predicate to reject', async () => {
    const { events } = await memory.list({ limit: 1000 })
    const database = new Database(filename, { readonly: true })
    let passed = 0
    let rejected = 0
    let narrowedRuns = 0
    try {
      fc.assert(
        fc.property(query, ({ where }) => {
          const narrowed = narrowFilter(where, narrowAttribute)
          if (!narrowed) return
          narrowedRuns++
          const select = `SELECT created_at FROM daybook_events WHERE ${narrowed.text}`
          const rows = database
            .prepare<unknown[], number>(select)
            .pluck()
            .all(...narrowed.params)
          const through = new Set(rows.map(formatTimestamp))
          const matches = events.filter(compileFilter(where))
          const lost = matches.filter((event) => !through.has(event.created_at))
          expect(lost).toEqual([])
          passed += through.size
          rejected += through.size - matches.length
        }),
        { numRuns: 1500 },
      )
    } finally {
      database.close()
    }
    expect(narrowedRuns).toBeGreaterThan(500)
    expect(
      rejected / passed,
      'share of rows that SQL let through and the predicate rejected',
    ).toBeLessThan(1 / 3)
  })
})
