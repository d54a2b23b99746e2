import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import type { Job, Sample, Setup, Stretch } from './log-process.js'
import { type Size, SIZES } from '../harness/options.js'
import { whole } from '../harness/format.js'
import { Worker } from '../harness/workers.js'

/*
 * A log of so many events in SQLite, and the same events in a file of raw rows beside it, for all that
 * ask questions. The two are filled in turns, stretch by stretch, so that their rates compare.
 */

/** Changes with what the files hold: kept ones of another version are made again. */
const VERSION = 1
const MOST_IN_STRETCH = 100_000
const SAMPLES = 500

/** Seconds that a stretch took. */
export interface Rates {
  readonly events: number
  readonly record: number
  /** What the index took longer than that. */
  readonly waited: number
  readonly raw: number
}

interface Facts {
  readonly version: number
  readonly events: number
  readonly made: string
  readonly stretches: readonly Rates[]
  /** Of the attributes as JSON text. */
  readonly jsonBytes: number
  readonly samples: readonly Sample[]
}

export interface Log extends Facts {
  readonly daybook: string
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

type Writer = Worker<Job, Stretch>

async function fill(events: number, ours: Writer, raw: Writer): Promise<Omit<Facts, 'version'>> {
  const stretches: Rates[] = []
  const samples: Sample[] = []
  let jsonBytes = 0
  const sampled = Math.max(1, Math.floor(events / SAMPLES))
  for (let done = 0; done < events;) {
    const count = Math.min(MOST_IN_STRETCH, events - done)
    const one = await ours.ask({ events: count, sampled })
    const other = await raw.ask({ events: count, sampled, times: one.times })
    stretches.push({ events: count, record: one.seconds, waited: one.waited, raw: other.seconds })
    samples.push(...one.samples)
    jsonBytes += one.jsonBytes
    done += count
    const rate = whole(count / (one.seconds + one.waited))
    console.error(
      `${whole(done)} of ${whole(events)}: ${rate}/s, raw ${whole(count / other.seconds)}/s`,
    )
  }
  await ours.ask('end')
  await raw.ask('end')
  return { events, made: new Date().toISOString().slice(0, 10), stretches, jsonBytes, samples }
}

async function make(size: Size, folder: string): Promise<Facts> {
  const { daybook, raw, facts: file } = filesIn(folder)
  fs.rmSync(folder, { recursive: true, force: true })
  fs.mkdirSync(folder, { recursive: true })
  const start = (setup: Setup): Promise<Writer> => Worker.start('log-process.ts', setup)
  const ours = await start({ kind: 'record', store: { store: 'sqlite', filename: daybook } })
  const plain = await start({ kind: 'raw', filename: raw })
  const facts = { version: VERSION, ...(await fill(SIZES[size], ours, plain)) }
  await ours.end()
  await plain.end()
  // Last of all: what has no facts is made again.
  fs.writeFileSync(file, JSON.stringify(facts))
  return facts
}

/** The kept log of this size, or a new one that stays in the folder. */
export async function logOf(size: Size, keep: string): Promise<Log> {
  const folder = path.join(keep, `log-${size}`)
  const { daybook, raw, facts } = filesIn(folder)
  return { ...(keptFacts(facts) ?? (await make(size, folder))), daybook, raw }
}

/** Lends a folder for logs, and removes it afterwards unless it is to be kept. */
export async function withLogs(
  keep: string | undefined,
  use: (folder: string) => Promise<void>,
): Promise<void> {
  const folder = keep ?? fs.mkdtempSync(path.join(os.tmpdir(), 'daybook-benchmark-'))
  try {
    await use(folder)
  } finally {
    if (keep === undefined) fs.rmSync(folder, { recursive: true, force: true })
  }
}
