import Database from 'better-sqlite3'
import { AuditLog } from 'daybook'
import { sqliteStore } from 'daybook/sqlite'
import { sampleEvents, sampleTypes } from '../harness/sample-events.js'
import { createMeter, type TrialResult } from '../harness/meter.js'
import { openRaw } from './raw-sqlite.js'

/* Rows that better-sqlite3 puts in alone. */

/** Made before the clock runs, and used over and over. */
export const EVENTS = sampleEvents(5000)

interface Row {
  readonly tail: unknown
  readonly type: string
  readonly username: string
  readonly source: string
  readonly system: number
}

/** A file with the store's own empty table, as durable as the store's, for better-sqlite3 alone. */
async function openPlain(filename: string): Promise<Database.Database> {
  await sqliteStore({ filename }).close()
  const database = new Database(filename)
  database.pragma('synchronous = FULL')
  return database
}

/** What the store keeps of the events, as it keeps it. */
async function storedRows(filename: string): Promise<Row[]> {
  const audit = new AuditLog({ store: sqliteStore({ filename }), types: sampleTypes })
  await Promise.all(
    EVENTS.map(({ type, data, username }) => audit.record(type, data, { username })),
  )
  await audit.close()
  const database = new Database(filename)
  const rows = database
    .prepare('SELECT tail, type, username, source, system FROM daybook_events ORDER BY created_at')
    .all() as Row[]
  database.close()
  return rows
}

export async function measurePlain(
  filename: string,
  seconds: number,
  batch: number,
  isJsonInside: boolean,
): Promise<TrialResult> {
  const rows = await storedRows(`${filename}-rows`)
  const texts = EVENTS.map((event) => JSON.stringify(event.data))
  const database = await openPlain(filename)
  const insert = database.prepare(
    `INSERT INTO daybook_events (created_at, tail, type, username, source, system, attributes)
     VALUES (?, ?, ?, ?, ?, ?, jsonb(?))`,
  )
  let time = Date.now() * 1000
  let next = 0
  const insertBatch = database.transaction(() => {
    for (let i = 0; i < batch; i++) {
      const at = next++ % rows.length
      const { tail, type, username, source, system } = rows[at]!
      const text = isJsonInside ? JSON.stringify(EVENTS[at]!.data) : texts[at]
      insert.run(time++, tail, type, username, source, system, text)
    }
  })
  const meter = createMeter(seconds)
  while (!meter.isOver()) {
    const start = performance.now()
    insertBatch.immediate()
    meter.finished(start, batch)
    meter.committed(batch)
  }
  database.close()
  return meter.result()
}

export async function measureRaw(
  filename: string,
  seconds: number,
  batch: number,
): Promise<TrialResult> {
  const database = openRaw(filename)
  // The same rows at ever later times.
  const texts = EVENTS.map(({ type, username, data }) => [type, username, JSON.stringify(data)])
  const insert = database.prepare('INSERT INTO raw VALUES (?, ?, ?, ?)')
  let time = Date.now() * 1000
  const insertBatch = database.transaction(() => {
    for (let i = 0; i < batch; i++) insert.run(time, ...texts[time++ % texts.length]!)
  })
  const meter = createMeter(seconds)
  while (!meter.isOver()) {
    const start = performance.now()
    insertBatch.immediate()
    meter.finished(start, batch)
    meter.committed(batch)
  }
  database.close()
  return meter.result()
}
