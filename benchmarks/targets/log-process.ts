import { AuditLog } from 'daybook'
import { manualClock } from 'daybook/testing'
import { createSampler, type SampleEvent, sampleTypes } from '../harness/sample-events.js'
import { type IndexWatch, watchPostgresIndex, watchSqliteIndex } from '../harness/index-watch.js'
import { openStore, type StoreSetup } from '../harness/open-store.js'
import { insertsOf, openRaw, type RawEvent } from './raw-sqlite.js'

/*
 * Puts a log together in stretches, in a process of its own: `log-trial.ts <JSON of a Setup>`. What is
 * measured begins when the events of a stretch are made, and the index has nothing to do meanwhile.
 */

export type Setup =
  /** Through `record`, into a store. */
  | { readonly kind: 'record'; readonly store: StoreSetup }
  /** Rows of JSON text in batches of 100. */
  | { readonly kind: 'raw'; readonly filename: string }

export type Job =
  | {
      readonly events: number
      /** Every so many-th event becomes a sample. */
      readonly sampled: number
      /** When they are recorded, for the raw rows. */
      readonly times?: Float64Array
    }
  | 'end'

/** An event that queries may ask for. */
export interface Sample {
  /** Microseconds. */
  readonly createdAt: number
  readonly data: SampleEvent['data']
}

export interface Stretch {
  /** Until all events are durable. */
  readonly seconds: number
  /** From then until the index has caught up. */
  readonly waited: number
  readonly times: Float64Array
  readonly samples: readonly Sample[]
  /** Of the attributes as JSON text. */
  readonly jsonBytes: number
}

export const IN_FLIGHT = 1000
const RAW_BATCH = 100
const MOST_PAUSE = 2000

const setup = JSON.parse(process.argv[2] ?? '') as Setup
const next = createSampler()
const clock = manualClock()

interface Writer {
  /** Gives what is to be measured: it resolves to the times of the events, in microseconds. */
  prepare(
    events: readonly SampleEvent[],
    times: Float64Array | undefined,
  ): () => Promise<Float64Array>
  caughtUp(): Promise<void>
  close(): Promise<void>
}

function watchOf(place: StoreSetup): IndexWatch | undefined {
  if (place.store === 'sqlite') return watchSqliteIndex(place.filename)
  return place.store === 'postgres' ? watchPostgresIndex(place.url) : undefined
}

function openRecord(place: StoreSetup): Writer {
  const audit = new AuditLog({ store: openStore(place, clock), types: sampleTypes, strict: true })
  const watch = watchOf(place)
  return {
    prepare: (events) => async () => {
      const recorded: string[] = []
      let at = 0
      const call = async (): Promise<void> => {
        while (at < events.length) {
          const mine = at++
          const { type, data, username } = events[mine]!
          clock.advance(1 + ((mine * 7919) % MOST_PAUSE))
          recorded[mine] = (await audit.record(type, data, { username }))!.created_at
        }
      }
      await Promise.all(Array.from({ length: IN_FLIGHT }, call))
      return Float64Array.from(recorded, toMicroseconds)
    },
    caughtUp: async () => watch?.caughtUp(),
    async close() {
      await watch?.close()
      await audit.close()
    },
  }
}

/** Of a time as events carry it. */
const toMicroseconds = (time: string): number =>
  Date.parse(`${time.slice(0, 23)}Z`) * 1000 + Number(time.slice(23, 26))

function openPlain(filename: string): Writer {
  const database = openRaw(filename)
  return {
    prepare(events, times) {
      const rows = events.map((event, i): RawEvent => ({ createdAt: times![i]!, event }))
      const insert = insertsOf(database, rows, RAW_BATCH)
      return async () => {
        insert()
        return times!
      }
    },
    caughtUp: async () => {},
    close: async () => void database.close(),
  }
}

const writer = setup.kind === 'record' ? openRecord(setup.store) : openPlain(setup.filename)

async function write(job: Exclude<Job, 'end'>): Promise<Stretch> {
  const events = Array.from({ length: job.events }, next)
  const run = writer.prepare(events, job.times)
  const start = performance.now()
  const times = await run()
  const durable = performance.now()
  await writer.caughtUp()
  const indexed = performance.now()
  const isOurs = setup.kind === 'record'
  return {
    seconds: (durable - start) / 1000,
    waited: (indexed - durable) / 1000,
    times: isOurs ? times : new Float64Array(),
    samples: events.flatMap(({ data }, i) =>
      isOurs && i % job.sampled === 0 ? [{ createdAt: times[i]!, data }] : [],
    ),
    jsonBytes: events.reduce((sum, { data }) => sum + Buffer.byteLength(JSON.stringify(data)), 0),
  }
}

async function answer(job: Job): Promise<Stretch | 'ended'> {
  if (job !== 'end') return write(job)
  await writer.close()
  return 'ended'
}

process.on('message', (job: Job) => void answer(job).then((found) => process.send!(found)))
process.send!('ready')
