import fs from 'node:fs'
import path from 'node:path'
import { perSecond, whole } from '../harness/format.js'
import { sealRest } from '../harness/index-watch.js'
import type { StoreSetup } from '../harness/open-store.js'
import type { Material, Sample } from '../harness/query-cases.js'
import { Worker } from '../harness/workers.js'
import type { Chunk, Job, Setup } from './log-process.js'

/*
 * Logs of sample events of a given size, and on SQLite the same events in a table of raw rows. Two processes fill these in
 * turn, chunk by chunk, so that their rates compare.
 */

/** Changes when the files change; kept logs of another version are built again. */
const VERSION = 7
const MAX_CHUNK = 100_000
const SAMPLES = 500

/** Seconds that a chunk took. */
export interface ChunkTimes {
  readonly events: number
  readonly record: number
  /** Until the index had caught up, after that. */
  readonly index: number
  /** Of the raw rows. */
  readonly raw: number
}

interface Filled extends Material {
  /** Size of the attributes as JSON text. */
  readonly jsonBytes: number
}

interface Facts extends Filled {
  readonly version: number
  /** The date on which the log was built. */
  readonly built: string
  readonly chunks: readonly ChunkTimes[]
}

export interface SqliteLog extends Facts {
  /** File of the store. */
  readonly daybook: string
  /** File of the raw rows. */
  readonly raw: string
}

type LogWriter = Worker<Job, Chunk>

const startWriter = (setup: Setup): Promise<LogWriter> => Worker.start('log-process.ts', setup)

async function closeWriter(writer: LogWriter): Promise<void> {
  await writer.ask('close')
  await writer.end()
}

/** About 500 samples of a log. */
export const sampleIntervalOf = (events: number): number =>
  Math.max(1, Math.floor(events / SAMPLES))

/** Fills a log chunk by chunk. `written` is called after each chunk. */
async function fillBy(
  writer: LogWriter,
  events: number,
  written: (chunk: Chunk, count: number) => Promise<string>,
): Promise<Filled> {
  const samples: Sample[] = []
  let jsonBytes = 0
  for (let done = 0; done < events;) {
    const count = Math.min(MAX_CHUNK, events - done)
    const chunk = await writer.ask({ events: count, sampleInterval: sampleIntervalOf(events) })
    samples.push(...chunk.samples)
    jsonBytes += chunk.jsonBytes
    done += count
    const rate = perSecond(count / (chunk.seconds + chunk.indexSeconds))
    console.error(`${whole(done)} of ${whole(events)}: ${rate}${await written(chunk, count)}`)
  }
  await closeWriter(writer)
  return { events, samples, jsonBytes }
}

/** Records events in a new store, and waits for the index. */
export const fillStore = async (store: StoreSetup, events: number): Promise<Filled> =>
  fillBy(await startWriter({ kind: 'record', store }), events, async () => '')

async function build(events: number, log: { daybook: string; raw: string }): Promise<Facts> {
  const plain = await startWriter({ kind: 'raw', filename: log.raw })
  const store = { store: 'sqlite', filename: log.daybook } as const
  const chunks: ChunkTimes[] = []
  const writer = await startWriter({ kind: 'record', store })
  const filled = await fillBy(writer, events, async ({ times, seconds, indexSeconds }, count) => {
    const { seconds: raw } = await plain.ask({ events: count, sampleInterval: events, times })
    chunks.push({ events: count, record: seconds, index: indexSeconds, raw })
    return `, raw ${perSecond(count / raw)}`
  })
  await closeWriter(plain)
  await sealRest(log.daybook)
  return { ...filled, version: VERSION, built: new Date().toISOString().slice(0, 10), chunks }
}

function keptFacts(file: string): Facts | undefined {
  if (!fs.existsSync(file)) return undefined
  const facts = JSON.parse(fs.readFileSync(file, 'utf8')) as Facts
  return facts.version === VERSION ? facts : undefined
}

/** The log of this size in the folder, which is built if it is not there. */
export async function openLog(events: number, folder: string): Promise<SqliteLog> {
  const own = path.join(folder, `log-${events}`)
  const log = { daybook: path.join(own, 'daybook.db'), raw: path.join(own, 'raw.db') }
  const file = path.join(own, 'facts.json')
  const kept = keptFacts(file)
  if (kept) return { ...kept, ...log }
  fs.rmSync(own, { recursive: true, force: true })
  fs.mkdirSync(own, { recursive: true })
  const facts = await build(events, log)
  // Written last: a folder without facts is not complete.
  fs.writeFileSync(file, JSON.stringify(facts))
  return { ...facts, ...log }
}
