import fs from 'node:fs'
import path from 'node:path'
import pg from 'pg'
import { postgresStore } from 'daybook/postgres'
import { perSecond, whole } from '../harness/format.js'
import { watchPostgresIndex } from '../harness/index-watch.js'
import { Worker } from '../harness/workers.js'
import type { Answer, Job, Setup } from './large-process.js'

/*
 * Postgres logs of given sizes, each in a database of its own of one server whose files are kept. A log that is not
 * complete is continued by the next run.
 */

/** Days of the events of a log that has its first size. Each day has a partition. */
export const DAYS = 240

const DAY = 86_400_000_000
const CHUNK = 100_000

/** What is known of a log; kept in a file beside those of the server. */
interface Facts {
  /** `created_at` of the first event, in microseconds. */
  readonly start: number
  /** Seconds of each hundred thousand events, while the index was built beside. */
  readonly chunks: number[]
  jsonBytes: number
  /** The number of events that were imported. */
  imported?: number
  /** The number of events that the log had when all but the last were indexed. */
  readonly indexed?: number
}

export interface LargeLog extends Facts {
  readonly events: number
  /** The days of the events. */
  readonly days: number
  readonly url: string
}

/** The sizes of a log, ascending: it grows to each of them by days with as many events. */
export type Growth = readonly [number, ...number[]]

const daysOf = ([first]: Growth, events: number): number => Math.ceil((DAYS * events) / first)

/** Days since the first event. */
export const ageOf = ({ start }: LargeLog): number => Math.ceil((Date.now() * 1000 - start) / DAY)

/** The URL of a database of the server. */
export function databaseOf(url: string, name: string): string {
  const place = new URL(url)
  place.pathname = `/${name}`
  return place.href
}

/** Returns false if the server has the database already. */
export async function createDatabase(url: string, name: string): Promise<boolean> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  const found = await client.query('SELECT FROM pg_database WHERE datname = $1', [name])
  if (found.rowCount === 0) await client.query(`CREATE DATABASE ${name}`)
  await client.end()
  return found.rowCount === 0
}

async function countEvents(url: string): Promise<number> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    const {
      rows: [found],
    } = await client.query(`SELECT to_regclass('daybook.events') IS NULL AS is_new`)
    if ((found as { is_new: boolean }).is_new) return 0
    const { rows } = await client.query('SELECT count(*)::int AS count FROM daybook.events')
    return (rows[0] as { count: number }).count
  } finally {
    await client.end()
  }
}

/** `days` are those of the complete log. */
function readFacts(file: string, days: number): Facts {
  if (fs.existsSync(file)) return JSON.parse(fs.readFileSync(file, 'utf8')) as Facts
  const today = Math.floor((Date.now() * 1000) / DAY) * DAY
  return { start: today - days * DAY, chunks: [], jsonBytes: 0 }
}

/** Builds the index in this process while another one imports. */
async function withIndexBuilder(url: string, act: () => Promise<void>): Promise<void> {
  const store = postgresStore({ connectionString: url, partitions: 'day' })
  const list = (): Promise<unknown> => store.list({ where: undefined, sorts: [], limit: 1 })
  // Opens the store.
  await list()
  // After a list, the store checks whether its index is due.
  const timer = setInterval(() => void list(), 500)
  try {
    await act()
  } finally {
    clearInterval(timer)
    await store.close()
  }
}

/**
 * The log once it has grown to `events`, one of its sizes. `incomplete` if that takes longer than `seconds`: then it is to be
 * continued. `outgrown` if it has grown further: then it cannot be measured at that size any more.
 */
export async function openLargeLog(
  server: { readonly url: string; readonly folder: string },
  sizes: Growth,
  events: number,
  seconds: number,
): Promise<LargeLog | 'incomplete' | 'outgrown'> {
  const end = performance.now() + seconds * 1000
  const [first] = sizes
  const file = path.join(server.folder, `log-${first}.json`)
  const facts = readFacts(file, daysOf(sizes, sizes.at(-1)!))
  await createDatabase(server.url, `log_${first}`)
  const url = databaseOf(server.url, `log_${first}`)
  const log = { ...facts, events, days: daysOf(sizes, events), url }
  if ((facts.imported ?? 0) > events) return 'outgrown'
  let done = await countEvents(url)
  if (done >= events && (facts.indexed ?? 0) >= events) return log
  await withIndexBuilder(url, async () => {
    const setup: Setup = { url, start: facts.start, step: (DAYS * DAY) / first, from: done }
    const writer = await Worker.start<Job, Answer>('large-process.ts', setup)
    while (done < events && performance.now() < end) {
      const count = Math.min(CHUNK, events - done)
      const began = performance.now()
      facts.jsonBytes += await writer.ask(count)
      const took = (performance.now() - began) / 1000
      done += count
      facts.imported = done
      facts.chunks.push(took)
      fs.writeFileSync(file, JSON.stringify(facts))
      console.error(`${whole(done)} of ${whole(events)}: ${perSecond(count / took)}`)
    }
    await writer.end()
    const watch = watchPostgresIndex(url)
    try {
      await watch.caughtUp()
    } finally {
      // An open connection would hide the error once the server stops.
      await watch.close()
    }
    if (done >= events) fs.writeFileSync(file, JSON.stringify({ ...facts, indexed: done }))
  })
  return done >= events ? { ...log, jsonBytes: facts.jsonBytes } : 'incomplete'
}
