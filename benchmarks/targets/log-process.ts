import { AuditLog } from 'daybook'
import { manualClock } from 'daybook/testing'
import { type IndexWatch, watchPostgresIndex, watchSqliteIndex } from '../harness/index-watch.js'
import { openStore, type StoreSetup } from '../harness/open-store.js'
import type { Sample } from '../harness/query-cases.js'
import {
  createSampler,
  type SampleEvent,
  sampleLinks,
  sampleTypes,
} from '../harness/sample-events.js'
import { readSetup, serveJobs } from '../harness/workers.js'
import { openRaw, prepareInserts } from './raw-sqlite.js'

/*
 * A process that fills a log chunk by chunk. The time of a chunk begins when its events have been
 * generated, and the index has caught up with the chunk before.
 */

export type Setup =
  /** Calls `record` of a store. */
  | { readonly kind: 'record'; readonly store: StoreSetup }
  /** Inserts rows in batches of 100, and makes their JSON text. */
  | { readonly kind: 'raw'; readonly filename: string }

export type Job =
  | {
      readonly events: number
      /** Every n-th event becomes a sample. */
      readonly sampleInterval: number
      /** The `created_at` of the raw rows, in microseconds. */
      readonly times?: Float64Array
    }
  | 'close'

export interface Chunk {
  /** Until all events are durable. */
  readonly seconds: number
  /** From then until the index has caught up. */
  readonly indexSeconds: number
  readonly times: Float64Array
  readonly samples: readonly Sample[]
  /** Size of the attributes as JSON text. */
  readonly jsonBytes: number
}

const IN_FLIGHT = 1000
const RAW_BATCH = 100
const MAX_PAUSE = 2000

const setup = readSetup() as Setup
const clock = manualClock()

interface Writer {
  /** The returned function is measured; it resolves to the times of the events, in microseconds. */
  prepare(
    events: readonly SampleEvent[],
    times: Float64Array | undefined,
  ): () => Promise<Float64Array>
  caughtUp(): Promise<void>
  close(): Promise<void>
}

function watchIndex(place: StoreSetup): IndexWatch | undefined {
  if (place.store === 'sqlite') return watchSqliteIndex(place.filename, place.compression)
  return place.store === 'postgres' ? watchPostgresIndex(place.url) : undefined
}

/** Microseconds since 1970 of a `created_at`. */
const toMicroseconds = (time: string): number =>
  Date.parse(`${time.slice(0, 23)}Z`) * 1000 + Number(time.slice(23, 26))

function openRecordWriter(place: StoreSetup): Writer {
  const audit = new AuditLog({
    store: openStore(place, clock),
    types: sampleTypes,
    links: sampleLinks,
    strict: true,
  })
  const watch = watchIndex(place)
  return {
    prepare: (events) => async () => {
      const recorded: string[] = []
      let at = 0
      const recordInLoop = async (): Promise<void> => {
        while (at < events.length) {
          const mine = at++
          const { type, data, username } = events[mine]!
          clock.advance(1 + ((mine * 7919) % MAX_PAUSE))
          recorded[mine] = (await audit.record(type, data, { username }))!.created_at
        }
      }
      await Promise.all(Array.from({ length: IN_FLIGHT }, recordInLoop))
      return Float64Array.from(recorded, toMicroseconds)
    },
    caughtUp: async () => watch?.caughtUp(),
    async close() {
      await watch?.close()
      await audit.close()
    },
  }
}

function openRawWriter(filename: string): Writer {
  const database = openRaw(filename)
  return {
    prepare(events, times) {
      const insert = prepareInserts(database, events, (row) => times![row]!, 'inside')
      return async () => {
        for (let from = 0; from < events.length; from += RAW_BATCH)
          insert(from, Math.min(from + RAW_BATCH, events.length))
        return times!
      }
    },
    caughtUp: async () => {},
    close: async () => void database.close(),
  }
}

const isRecord = setup.kind === 'record'
const writer = isRecord ? openRecordWriter(setup.store) : openRawWriter(setup.filename)
const next = createSampler()

async function fill(job: Exclude<Job, 'close'>): Promise<Chunk> {
  const events = Array.from({ length: job.events }, next)
  const write = writer.prepare(events, job.times)
  const start = performance.now()
  const times = await write()
  const durable = performance.now()
  await writer.caughtUp()
  const indexed = performance.now()
  return {
    seconds: (durable - start) / 1000,
    indexSeconds: (indexed - durable) / 1000,
    times: isRecord ? times : new Float64Array(),
    samples: events.flatMap(({ data }, i) =>
      isRecord && i % job.sampleInterval === 0 ? [{ createdAt: times[i]!, data }] : [],
    ),
    jsonBytes: events.reduce((sum, { data }) => sum + Buffer.byteLength(JSON.stringify(data)), 0),
  }
}

serveJobs(async (job: Job) => {
  if (job !== 'close') return fill(job)
  await writer.close()
  return 'closed'
})
