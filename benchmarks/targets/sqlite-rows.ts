import Database from 'better-sqlite3'
import { AuditLog } from 'daybook'
import { sqliteStore } from 'daybook/sqlite'
import { createMeter, type TrialResult } from '../harness/meter.js'
import { recordAll, sampleEvents, sampleLinks, sampleTypes } from '../harness/sample-events.js'
import { type JsonTime, openRaw, prepareInserts } from './raw-sqlite.js'

/* Rows that better-sqlite3 inserts without Daybook. */

/** Generated before anything is measured; trials use them over and over. */
export const EVENTS = sampleEvents(5000)

interface Row {
  readonly suffix: unknown
  readonly type: string
  readonly username: string
  readonly source: string
  readonly system: number
}

/** Inserts batches until the measurement is over. */
function measureBatches(
  seconds: number,
  batch: number,
  insertBatch: (first: number) => void,
): TrialResult {
  const meter = createMeter(seconds)
  for (let first = 0; !meter.isOver; first += batch) {
    const start = performance.now()
    insertBatch(first)
    meter.finished(start, batch)
    meter.committed(batch)
  }
  return meter.result()
}

/** A file with the store's empty table, as durable as the store's. */
async function openStoreTable(filename: string): Promise<Database.Database> {
  await sqliteStore({ filename }).close()
  const database = new Database(filename)
  database.pragma('synchronous = FULL')
  return database
}

/** The rows that the store makes of the events. */
async function storedRows(filename: string): Promise<Row[]> {
  const audit = new AuditLog({
    store: sqliteStore({ filename }),
    types: sampleTypes,
    links: sampleLinks,
  })
  await recordAll(audit, EVENTS)
  await audit.close()
  const database = new Database(filename)
  const rows = database
    .prepare(
      'SELECT suffix AS suffix, type, username, source, system FROM daybook_events ORDER BY created_at',
    )
    .all() as Row[]
  database.close()
  return rows
}

export interface PlainTrial {
  readonly filename: string
  readonly seconds: number
  readonly batch: number
  readonly json: JsonTime
}

/** Inserts the store's own rows into the store's own table. */
export async function measurePlain(trial: PlainTrial): Promise<TrialResult> {
  const { filename, seconds, batch, json } = trial
  const rows = await storedRows(`${filename}-rows`)
  const texts = EVENTS.map((event) => JSON.stringify(event.data))
  const database = await openStoreTable(filename)
  const insert = database.prepare(
    `INSERT INTO daybook_events (created_at, suffix, type, username, source, system, attributes, checksum)
     VALUES (?, ?, ?, ?, ?, ?, jsonb(?), 0)`,
  )
  const begin = Date.now() * 1000
  const insertBatch = database.transaction((first: number) => {
    for (let i = first; i < first + batch; i++) {
      const at = i % rows.length
      const { suffix, type, username, source, system } = rows[at]!
      const text = json === 'inside' ? JSON.stringify(EVENTS[at]!.data) : texts[at]
      insert.run(begin + i, suffix, type, username, source, system, text)
    }
  })
  const result = measureBatches(seconds, batch, (first) => insertBatch.immediate(first))
  database.close()
  return result
}

/** Inserts rows of JSON text into a table without an index. */
export async function measureRaw(trial: PlainTrial): Promise<TrialResult> {
  const { filename, seconds, batch, json } = trial
  const database = openRaw(filename)
  const begin = Date.now() * 1000
  const insert = prepareInserts(database, EVENTS, (row) => begin + row, json)
  const result = measureBatches(seconds, batch, (first) => insert(first, first + batch))
  database.close()
  return result
}
