import { monitorEventLoopDelay } from 'node:perf_hooks'
import { setImmediate as nextTurn, setTimeout as delay } from 'node:timers/promises'
import Database from 'better-sqlite3'
import { AuditLog } from 'daybook'
import { sqliteStore } from 'daybook/sqlite'
import { sampleEvents, sampleTypes } from '../harness/sample-events.js'
import { serve } from '../harness/workers.js'

/* One of the processes that write into one SQLite file: to each Job it gives an Answer. */

export interface Job {
  readonly filename: string
  /** Plain: better-sqlite3 alone, with its busy handler. */
  readonly writer: 'record' | 'plain'
  /** Length of the measured stretch; before it a second to warm up. */
  readonly seconds: number
  readonly load:
    /** So many events in each second, whether earlier ones are answered or not. */
    | { readonly perSecond: number }
    /** So many at any time; of the plain writer as many in one transaction. */
    | { readonly inFlight: number }
}

export interface Answer {
  /** All events that were acknowledged. */
  readonly stored: number
  /** Events that were acknowledged in the measured stretch. */
  readonly served: number
  /** Milliseconds from when a call was due to its answer. */
  readonly latencies: Float64Array
  /** Milliseconds in which the event loop had no turn. */
  readonly blockedP99: number
  readonly blockedMax: number
}

interface Writer {
  /** Resolves when the events are durable. */
  write(count: number): Promise<unknown>
  close(): Promise<unknown>
}

const EVENTS = sampleEvents(5000)
const WARM_UP_MS = 1000
const BUSY_TIMEOUT_MS = 60_000
let next = 0
const take = (count: number): typeof EVENTS =>
  Array.from({ length: count }, () => EVENTS[next++ % EVENTS.length]!)

function openRecord(filename: string): Writer {
  const audit = new AuditLog({ store: sqliteStore({ filename }), types: sampleTypes })
  return {
    write: (count) =>
      Promise.all(
        take(count).map(({ type, data, username }) => audit.record(type, data, { username })),
      ),
    close: () => audit.close(),
  }
}

/** Puts what the store puts, into its table. */
function openPlain(filename: string): Writer {
  const database = new Database(filename, { timeout: BUSY_TIMEOUT_MS })
  database.pragma('synchronous = FULL')
  const insert = database.prepare(
    `INSERT INTO daybook_events (created_at, tail, type, username, source, system, attributes)
     VALUES (max(?, coalesce((SELECT max(created_at) FROM daybook_events), 0) + 1),
       lower(hex(randomblob(8))), ?, ?, NULL, 1, jsonb(?))`,
  )
  const write = database.transaction((count: number) => {
    for (const { type, data, username } of take(count))
      insert.run(Date.now() * 1000, type, username, JSON.stringify(data))
  })
  return {
    write: async (count) => write.immediate(count),
    close: async () => database.close(),
  }
}

async function run(writer: Writer, job: Job): Promise<Answer> {
  const { seconds, load } = job
  const isOurs = job.writer === 'record'
  const begin = performance.now() + WARM_UP_MS
  const end = begin + seconds * 1000
  const latencies: number[] = []
  let stored = 0
  let served = 0
  const call = async (due: number, count: number): Promise<void> => {
    await writer.write(count)
    const now = performance.now()
    stored += count
    if (now >= begin && now < end) served += count
    // One that was due before counts too: it may have waited all the time.
    if (now >= begin) latencies.push(now - due)
  }
  // A millisecond is what it takes when nothing blocks.
  const loop = monitorEventLoopDelay({ resolution: 1 })
  const watch = setTimeout(() => loop.enable(), WARM_UP_MS)

  if ('inFlight' in load) {
    const [callers, count] = isOurs ? [load.inFlight, 1] : [1, load.inFlight]
    const callAgain = async (): Promise<void> => {
      while (performance.now() < end) {
        await call(performance.now(), count)
        await nextTurn()
      }
    }
    await Promise.all(Array.from({ length: callers }, callAgain))
  } else {
    const calls: Promise<void>[] = []
    const interval = 1000 / load.perSecond
    for (let slot = begin - WARM_UP_MS; slot < end; slot += interval) {
      // Anywhere within its slot, so that processes neither keep in step nor out of each other's way.
      const due = slot + Math.random() * interval
      await nextTurn()
      while (performance.now() < due) await delay(Math.ceil(due - performance.now()))
      calls.push(call(due, 1))
    }
    await Promise.all(calls)
  }

  clearTimeout(watch)
  loop.disable()
  await writer.close()
  return {
    stored,
    served,
    latencies: Float64Array.from(latencies),
    blockedP99: loop.percentile(99) / 1e6,
    blockedMax: loop.max / 1e6,
  }
}

serve(async (job: Job): Promise<() => Promise<Answer>> => {
  const writer = job.writer === 'record' ? openRecord(job.filename) : openPlain(job.filename)
  return () => run(writer, job)
})
