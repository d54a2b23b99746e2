import fs from 'node:fs'
import path from 'node:path'
import { perSecond, whole } from '../harness/format.js'
import { sealRest } from '../harness/index-watch.js'
import { type Size, SIZES } from '../harness/options.js'
import type { Sample } from '../harness/query-cases.js'
import { Worker } from '../harness/workers.js'
import type { Chunk, Job, Setup } from './log-process.js'

/*
 * A SQLite log of a given size, and the same events in a table of raw rows. Two processes fill them in
 * turn, chunk by chunk, so that their rates compare.
 */

/** Changes when the files change; kept logs of another version are built again. */
const VERSION = 6
const MAX_CHUNK = 100_000
const SAMPLES = 500

/** Seconds that a chunk took. */
export interface ChunkTimes {
  readonly events: number
  readonly record: number
  /** Until the index had caught up, after that. */
  readonly index: number
  readonly raw: number
}

interface Facts {
  readonly version: number
  readonly events: number
  /** The date on which the log was built. */
  readonly built: string
  readonly chunks: readonly ChunkTimes[]
  /** Size of the attributes as JSON text. */
  readonly jsonBytes: number
  readonly samples: readonly Sample[]
}

export interface SqliteLog extends Facts {
  /** File of the store. */
  readonly daybook: string
  /** File of the raw rows. */
  readonly raw: string
}

const filesIn = (folder: string): { daybook: string; raw: string; facts: string } => ({
  daybook: path.join(folder, 'daybook.db'),
  raw: path.join(folder, 'raw.db'),
  facts: path.join(folder, 'facts.json'),
})

function keptFacts(file: string): Facts | undefined {
  if (!fs.existsSync(file)) return undefined
  const facts = JSON.parse(fs.readFileSync(file, 'utf8')) as Facts
  return facts.version === VERSION ? facts : undefined
}

export type LogWriter = Worker<Job, Chunk>

/** Starts a process that fills a log. */
export const startWriter = (setup: Setup): Promise<LogWriter> =>
  Worker.start('log-process.ts', setup)

export async function closeWriter(writer: LogWriter): Promise<void> {
  await writer.ask('close')
  await writer.end()
}

/** About 500 samples of a log. */
export const sampleIntervalOf = (events: number): number =>
  Math.max(1, Math.floor(events / SAMPLES))

async function fill(events: number, ours: LogWriter, raw: LogWriter): Promise<Facts> {
  const chunks: ChunkTimes[] = []
  const samples: Sample[] = []
  let jsonBytes = 0
  const sampleInterval = sampleIntervalOf(events)
  for (let done = 0; done < events;) {
    const count = Math.min(MAX_CHUNK, events - done)
    const one = await ours.ask({ events: count, sampleInterval })
    const other = await raw.ask({ events: count, sampleInterval, times: one.times })
    chunks.push({
      events: count,
      record: one.seconds,
      index: one.indexSeconds,
      raw: other.seconds,
    })
    samples.push(...one.samples)
    jsonBytes += one.jsonBytes
    done += count
    const rates = [count / (one.seconds + one.indexSeconds), count / other.seconds].map(perSecond)
    console.error(`${whole(done)} of ${whole(events)}: ${rates[0]}, raw ${rates[1]}`)
  }
  const built = new Date().toISOString().slice(0, 10)
  return { version: VERSION, events, built, chunks, jsonBytes, samples }
}

async function build(size: Size, folder: string): Promise<Facts> {
  const { daybook, raw, facts: file } = filesIn(folder)
  fs.rmSync(folder, { recursive: true, force: true })
  fs.mkdirSync(folder, { recursive: true })
  const store = { store: 'sqlite', filename: daybook } as const
  const ours = await startWriter({ kind: 'record', store })
  const plain = await startWriter({ kind: 'raw', filename: raw })
  const facts = await fill(SIZES[size], ours, plain)
  await closeWriter(ours)
  await closeWriter(plain)
  await sealRest(daybook)
  // Written last: a folder without facts is not complete.
  fs.writeFileSync(file, JSON.stringify(facts))
  return facts
}

/** The log of this size in the folder, which is built if it is not there. */
export async function openLog(size: Size, folder: string): Promise<SqliteLog> {
  const own = path.join(folder, `log-${size}`)
  const { daybook, raw, facts } = filesIn(own)
  return { ...(keptFacts(facts) ?? (await build(size, own))), daybook, raw }
}
