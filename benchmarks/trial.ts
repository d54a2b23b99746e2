import Database from 'better-sqlite3'
import { AuditLog } from 'daybook'
import { sqliteStore } from 'daybook/sqlite'
import { sampleEvents, sampleTypes } from './events.js'
import { createMeter, metered, type TrialResult } from './meter.js'

/*
 * One trial in a process and a file of its own: `trial.ts <JSON of a Trial>` prints its TrialResult.
 * A profile of one: node --import tsx --cpu-prof benchmarks/trial.ts '{"kind":"record",…}'
 */

export type Trial = {
  readonly filename: string
  /** Length of the measured stretch; before it runs a third of that to warm up. */
  readonly seconds: number
} & (
  | { readonly kind: 'record'; readonly inFlight: number }
  /** Rows put in by better-sqlite3 alone, `batch` of them in one transaction. */
  | { readonly kind: 'plain'; readonly batch: number; readonly json: 'before' | 'inside' }
)

/** Made before the clock runs, and used over and over. */
const EVENTS = sampleEvents(5000)

/** So many callers, each of which makes its next call when the last is answered. */
async function measureRecord(
  filename: string,
  seconds: number,
  inFlight: number,
): Promise<TrialResult> {
  const store = sqliteStore({ filename })
  const meter = createMeter(seconds)
  const audit = new AuditLog({ store: metered(store, meter.committed), types: sampleTypes })
  let next = 0
  const call = async (): Promise<void> => {
    while (!meter.isOver()) {
      const { type, data, username } = EVENTS[next++ % EVENTS.length]!
      const start = performance.now()
      await audit.record(type, data, { username })
      meter.finished(start, 1)
    }
  }
  await Promise.all(Array.from({ length: inFlight }, call))
  await audit.close()
  return meter.result()
}

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

async function measurePlain(
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

const trial = JSON.parse(process.argv[2] ?? '') as Trial
const { filename, seconds } = trial
const result =
  trial.kind === 'record'
    ? await measureRecord(filename, seconds, trial.inFlight)
    : await measurePlain(filename, seconds, trial.batch, trial.json === 'inside')
console.log(JSON.stringify(result))
