import Database from 'better-sqlite3'
import { AuditLog, type EventStore } from 'daybook'
import { sqliteStore } from 'daybook/sqlite'
import { sampleEvents, sampleTypes } from './events.js'

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

export interface TrialResult {
  readonly eventsPerSecond: number
  /** Milliseconds from the call to its answer. */
  readonly p50: number
  readonly p99: number
  /** Events that shared a commit, on average. */
  readonly meanBatch: number
  /** Microseconds of processor time for one event: unlike the rate, no matter of the disk. */
  readonly cpu: number
}

/** Made before the clock runs, and used over and over. */
const EVENTS = sampleEvents(5000)

interface Meter {
  isOver(): boolean
  /** Takes note of a finished call of `events` events that began at `start`. */
  finished(start: number, events: number): void
  committed(events: number): void
  result(): TrialResult
}

function createMeter(seconds: number): Meter {
  const begin = performance.now() + (seconds * 1000) / 3
  const end = begin + seconds * 1000
  const latencies: number[] = []
  let events = 0
  let commits = 0
  let committed = 0
  let cpuAtBegin: NodeJS.CpuUsage | undefined
  let cpu = { user: 0, system: 0 }
  const isMeasured = (now: number): boolean => now >= begin && now < end
  const quantile = (sorted: Float64Array, share: number): number =>
    sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN
  return {
    isOver: () => performance.now() >= end,
    finished(start, count) {
      const now = performance.now()
      if (!isMeasured(now)) return
      latencies.push(now - start)
      events += count
    },
    committed(count) {
      if (!isMeasured(performance.now())) return
      cpu = process.cpuUsage(cpuAtBegin)
      // Of the first commit only the end is seen.
      if (!cpuAtBegin) {
        cpuAtBegin = cpu
        return
      }
      commits++
      committed += count
    },
    result() {
      const sorted = Float64Array.from(latencies).toSorted()
      return {
        eventsPerSecond: events / seconds,
        p50: quantile(sorted, 0.5),
        p99: quantile(sorted, 0.99),
        meanBatch: committed / commits,
        cpu: (cpu.user + cpu.system) / committed,
      }
    },
  }
}

/** The same store, but the meter hears of its commits. */
function metered(store: EventStore, meter: Meter): EventStore {
  return {
    name: store.name,
    maxBatch: store.maxBatch,
    async append(drafts, options) {
      const events = await store.append(drafts, options)
      meter.committed(drafts.length)
      return events
    },
    importEvents: (events, options) => store.importEvents(events, options),
    get: (id, options) => store.get(id, options),
    list: (query, options) => store.list(query, options),
    close: () => store.close(),
  }
}

/** So many callers, each of which makes its next call when the last is answered. */
async function measureRecord(
  filename: string,
  seconds: number,
  inFlight: number,
): Promise<TrialResult> {
  const store = sqliteStore({ filename })
  const meter = createMeter(seconds)
  const audit = new AuditLog({ store: metered(store, meter), types: sampleTypes })
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
