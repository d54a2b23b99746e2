import { setImmediate as nextTurn } from 'node:timers/promises'
import Database from 'better-sqlite3'
import { AuditLog } from 'daybook'
import { sqliteStore } from 'daybook/sqlite'
import { callAtRate, type LoopDelay, watchEventLoop } from '../harness/load.js'
import {
  cycle,
  recordAll,
  sampleEvents,
  sampleLinks,
  sampleTypes,
} from '../harness/sample-events.js'
import { servePreparedJobs } from '../harness/workers.js'

/* One of the processes that write to the same SQLite file at the same time. */

export interface Job {
  readonly filename: string
  /** Plain: better-sqlite3 alone, with its busy handler. */
  readonly writer: 'record' | 'plain'
  /** Measured time; a warm-up of one second comes first. */
  readonly seconds: number
  readonly load:
    /** A constant rate, whether earlier calls have been answered or not. */
    | { readonly perSecond: number }
    /** Concurrent callers of `record`; for the plain writer, the rows in a transaction. */
    | { readonly inFlight: number }
}

export interface Answer {
  /** Acknowledged events, measured or not. */
  readonly stored: number
  /** Events acknowledged in the measured time. */
  readonly measured: number
  /** Milliseconds from the moment when a call was due to its result. */
  readonly latencies: Float64Array
  readonly loopDelay: LoopDelay
}

interface Writer {
  /** Writes `count` events; resolves when they are durable. */
  write(count: number): Promise<unknown>
  close(): Promise<unknown>
}

const WARM_UP_MS = 1000
const BUSY_TIMEOUT_MS = 60_000
const take = cycle(sampleEvents(5000))

function openRecord(filename: string): Writer {
  const audit = new AuditLog({
    store: sqliteStore({ filename }),
    types: sampleTypes,
    links: sampleLinks,
  })
  return {
    write: (count) => recordAll(audit, take(count)),
    close: () => audit.close(),
  }
}

/** Inserts the same rows as the store into the store's table. */
function openPlain(filename: string): Writer {
  const database = new Database(filename, { timeout: BUSY_TIMEOUT_MS })
  database.pragma('synchronous = FULL')
  const insert = database.prepare(
    `INSERT INTO daybook_events (created_at, suffix, type, username, source, system, attributes, checksum)
     VALUES (max(?, coalesce((SELECT max(created_at) FROM daybook_events), 0) + 1),
       lower(hex(randomblob(8))), ?, ?, NULL, 1, jsonb(?), 0)`,
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
  const begin = performance.now() + WARM_UP_MS
  const end = begin + seconds * 1000
  const isOver = (): boolean => performance.now() >= end
  const latencies: number[] = []
  let stored = 0
  let measured = 0
  const call = async (due: number, count: number): Promise<void> => {
    await writer.write(count)
    const now = performance.now()
    stored += count
    if (now >= begin && now < end) measured += count
    // Includes calls that were due in the warm-up: they may have waited for seconds.
    if (now >= begin) latencies.push(now - due)
  }
  const loopDelay = watchEventLoop(WARM_UP_MS)
  if ('inFlight' in load) {
    const [callers, count] = job.writer === 'record' ? [load.inFlight, 1] : [1, load.inFlight]
    const callInLoop = async (): Promise<void> => {
      while (!isOver()) {
        await call(performance.now(), count)
        await nextTurn()
      }
    }
    await Promise.all(Array.from({ length: callers }, callInLoop))
  } else {
    await callAtRate(load.perSecond, isOver, (due) => call(due, 1))
  }
  const delays = loopDelay()
  await writer.close()
  return { stored, measured, latencies: Float64Array.from(latencies), loopDelay: delays }
}

servePreparedJobs(async (job: Job): Promise<() => Promise<Answer>> => {
  const writer = job.writer === 'record' ? openRecord(job.filename) : openPlain(job.filename)
  return () => run(writer, job)
})
