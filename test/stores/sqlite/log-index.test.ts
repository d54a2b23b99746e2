import { AuditLog, parseQuery } from 'daybook'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createConnection } from '../../../adapters/sqlite/connection/connection.js'
import { openDatabase, type SqliteDatabase } from '../../../adapters/sqlite/connection/database.js'
import { DEFAULT_TUNING } from '../../../adapters/sqlite/index/index-state.js'
import { listEvents } from '../../../adapters/sqlite/read/list.js'
import { createLogIndex, type LogIndex } from '../../../adapters/sqlite/index/log-index.js'
import { createSqliteStore } from '../../../adapters/sqlite/sqlite-store.js'
import { createTables, type Tables } from '../../../adapters/sqlite/schema/tables.js'
import { createTrace } from '../../../src/store/trace.js'
import { tempDir } from '../../support/temp.js'

const SIZE = 300
const temp = tempDir()
const filename = temp.file('audit.db')
let audit: AuditLog
let database: SqliteDatabase
let tables: Tables

beforeAll(async () => {
  const { store } = createSqliteStore({ filename })
  audit = new AuditLog({ store, types: {} })
  await Promise.all(Array.from({ length: SIZE }, (_, n) => audit.recordCustom('own', { n })))
  // Another connection to the file, as in another process.
  database = openDatabase(filename, () => {})
  tables = createTables(createConnection(database))
})
afterAll(async () => {
  database.close()
  await audit.close()
  temp.remove()
})

const QUERIES = [
  'filter[n_lt]=20&limit=7',
  'filter[n_lt]=20&filter[sorts]=created_at&limit=7',
  'filter[n_gteq]=290&filter[sorts]=n desc&limit=7',
  'filter[sorts]=n&limit=7',
]

/** Runs a query, and returns what it found and by which methods. */
async function ask(index: LogIndex, query: string, firstProbe = 0) {
  const trace = createTrace({ detailed: false })
  const indexed = { tables, index, firstProbe }
  const { events, truncated } = await listEvents(indexed, parseQuery(query), { trace })
  const ways = trace.steps.filter(({ checked }) => checked > 0).map(({ method }) => method)
  return { found: events.map(({ attributes }) => attributes['n']), truncated, ways }
}

const numbers = (from: number, step: 1 | -1): number[] =>
  Array.from({ length: 7 }, (_, i) => from + i * step)

const FOUND = [numbers(13, 1), numbers(0, 1), numbers(299, -1), numbers(0, 1)]

describe.each(QUERIES.map((query, i) => [query, FOUND[i]!] as const))('%s', (query, found) => {
  it('is answered from memory for events that are in no segment', async () => {
    const answer = await ask(createLogIndex(tables, DEFAULT_TUNING), query)
    expect(answer).toMatchObject({ found, truncated: true })
    expect(answer.ways).not.toContain('scan')
  })

  it.each([1, 2, 7, 64])('is answered by the index after a probe of %i events', async (probe) => {
    const answer = await ask(createLogIndex(tables, DEFAULT_TUNING), query, probe)
    expect(answer).toMatchObject({ found, truncated: true })
    expect(answer.ways).not.toContain('scan')
  })

  it('is answered by a scan if too many events are in no segment', async () => {
    const index = createLogIndex(tables, { segmentSize: 50, fanOut: 16 })
    expect(await ask(index, query)).toEqual({ found, truncated: true, ways: ['scan'] })
  })

  it('is answered by a scan if too many late events were added in the meantime', async () => {
    const index = createLogIndex(tables, DEFAULT_TUNING)
    let refreshes = 0
    const flooded: LogIndex = {
      ...index,
      refresh: (isOver) =>
        ++refreshes > 1 ? { segments: [], recent: [], to: -1 } : index.refresh(isOver),
    }
    expect(await ask(flooded, query)).toEqual({ found, truncated: true, ways: ['scan'] })
  })
})
