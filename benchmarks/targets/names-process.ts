import fs from 'node:fs'
import path from 'node:path'
import { median } from 'simple-statistics'
import { AuditLog, type JsonObject } from 'daybook'
import pg from 'pg'
import { watchPostgresIndex, watchSqliteIndex } from '../harness/index-watch.js'
import { type DurableSetup, openStore } from '../harness/open-store.js'
import { readSetup, serveJobs } from '../harness/workers.js'

/* A process that fills a log, or queries it. */

export type Job =
  /** Records events and waits for the index. */
  | { readonly fill: number; readonly isDistinct: boolean }
  /** Queries a log of that many events. */
  | { readonly query: number; readonly isDistinct: boolean }

export interface Filled {
  readonly seconds: number
  readonly diskBytes: number
}

/** Medians in milliseconds. */
export interface Queried {
  readonly common: number
  readonly own: number
  readonly missing: number
  readonly sorted: number
  readonly rssBytes: number
}

const BATCH = 1000
const QUERIES = 50

const setup = readSetup() as DurableSetup
const audit = new AuditLog({ store: openStore(setup), types: {} })

const nameOf = (i: number): string => `key-${((i * 2_654_435_761) % 2 ** 32).toString(16)}-${i}`

/** Each event has a name of its own if `isDistinct`. */
const attributesOf = (i: number, isDistinct: boolean): JsonObject => ({
  order: i,
  [isDistinct ? nameOf(i) : 'key']: `value-${i}`,
})

async function fill(events: number, isDistinct: boolean): Promise<Filled> {
  const start = performance.now()
  for (let from = 0; from < events; from += BATCH)
    await Promise.all(
      Array.from({ length: Math.min(BATCH, events - from) }, (_, i) =>
        audit.recordCustom('filled', attributesOf(from + i, isDistinct)),
      ),
    )
  const watch =
    setup.store === 'sqlite' ? watchSqliteIndex(setup.filename) : watchPostgresIndex(setup.url)
  await watch.caughtUp()
  await watch.close()
  return { seconds: (performance.now() - start) / 1000, diskBytes: await diskBytes() }
}

async function diskBytes(): Promise<number> {
  if (setup.store === 'sqlite') {
    const folder = path.dirname(setup.filename)
    const sizes = fs.readdirSync(folder).map((file) => fs.statSync(path.join(folder, file)).size)
    return sizes.reduce((sum, size) => sum + size, 0)
  }
  const client = new pg.Client({ connectionString: setup.url })
  await client.connect()
  const { rows } = await client.query('SELECT pg_database_size(current_database())::float8 AS size')
  await client.end()
  return (rows[0] as { readonly size: number }).size
}

/** Each query asks for another event, which it must find unless it asks for a name that none has. */
async function timed(events: number, found: number, queryOf: (i: number) => string) {
  const times: number[] = []
  for (let i = 0; i < QUERIES; i++) {
    const query = queryOf(Math.floor(((i + 0.5) * events) / QUERIES))
    const start = performance.now()
    const page = await audit.list(query)
    times.push(performance.now() - start)
    if (page.events.length !== found) throw new Error(`${query} has found ${page.events.length}`)
  }
  return median(times)
}

async function query(events: number, isDistinct: boolean): Promise<Queried> {
  const other = (i: number): string => (isDistinct ? nameOf(i) : 'key')
  return {
    common: await timed(events, 1, (i) => `filter[order_eq]=${i}`),
    own: await timed(events, 1, (i) => `filter[${other(i)}_eq]=value-${i}`),
    missing: await timed(events, 0, (i) => `filter[none-${i}_eq]=1`),
    sorted: await timed(events, 10, () => 'filter[sorts]=order+desc'),
    rssBytes: process.memoryUsage().rss,
  }
}

serveJobs(
  (job: Job) => ('fill' in job ? fill(job.fill, job.isDistinct) : query(job.query, job.isDistinct)),
  () => audit.close(),
)
