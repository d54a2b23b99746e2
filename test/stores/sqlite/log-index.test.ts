import { AuditLog, parseQuery } from 'daybook'
import { afterAll, beforeAll, it } from 'vitest'
import { createConnection } from '../../../adapters/sqlite/connection/connection.js'
import { openDatabase, type SqliteDatabase } from '../../../adapters/sqlite/connection/database.js'
import { DEFAULT_TUNING } from '../../../adapters/sqlite/index/index-state.js'
import { listEvents } from '../../../adapters/sqlite/read/list.js'
import { createLogIndex, type LogIndex } from '../../../adapters/sqlite/index/log-index.js'
import { createSqliteStore } from '../../../adapters/sqlite/sqlite-store.js'
import { createTables, type Tables } from '../../../adapters/sqlite/schema/log-tables.js'
import { createTrace } from '../../../src/store/trace.js'
import { tempDir } from '../../support/temp.js'
import { type Answer, expectLists, SIZE, WITHOUT_SCAN } from '../shared/listed-numbers.js'

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

/** Runs a query. Returns the found events, and the methods that were used. */
async function ask(index: LogIndex, query: string, firstProbe = 0): Promise<Answer> {
  const trace = createTrace({ detailed: false })
  const indexed = { tables, index, firstProbe }
  const { events, truncated } = await listEvents(indexed, parseQuery(query), { trace })
  const ways = trace.steps.filter(({ checked }) => checked > 0).map(({ method }) => method)
  return { found: events.map(({ attributes }) => attributes['n']), truncated, ways }
}

const openIndex = (): LogIndex => createLogIndex(tables, DEFAULT_TUNING)

it('lists are answered from memory for events that are in no segment', () =>
  expectLists((query) => ask(openIndex(), query), WITHOUT_SCAN))

it.each([1, 2, 7, 64])('lists are answered by the index after a probe of %i events', (probe) =>
  expectLists((query) => ask(openIndex(), query, probe), WITHOUT_SCAN),
)

it('lists are answered by a scan if too many events are in no segment', async () => {
  const tuning = { segmentSize: 50, fanOut: 16 }
  await expectLists((query) => ask(createLogIndex(tables, tuning), query), ['scan'])
})

it('lists are answered by a scan if too many late events were added in the meantime', () =>
  expectLists(
    (query) => {
      const index = openIndex()
      let refreshes = 0
      const flooded: LogIndex = {
        ...index,
        refresh: (isOver) =>
          ++refreshes > 1 ? { segments: [], recent: [], to: -1 } : index.refresh(isOver),
      }
      return ask(flooded, query)
    },
    ['scan'],
  ))
