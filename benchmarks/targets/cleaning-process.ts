import fs from 'node:fs'
import { max, quantile } from 'simple-statistics'
import { type AuditEvent, AuditLog } from 'daybook'
import { memoryStore } from 'daybook/memory'
import { manualClock } from 'daybook/testing'
import pg from 'pg'
import { callAtRate } from '../harness/load.js'
import { type StoreSetup, openStore } from '../harness/open-store.js'
import {
  cycle,
  type SampleEvent,
  sampleEvents,
  sampleLinks,
  sampleTypes,
} from '../harness/sample-events.js'
import { readSetup, serveJobs } from '../harness/workers.js'

/* A process that fills one store, then cleans it up and records at the same time. */

export interface Setup {
  readonly place: StoreSetup
  /** Half of them are removed. */
  readonly events: number
  readonly rounds: number
  /** Recording time without cleaning, in each round. */
  readonly seconds: number
}

/** Milliseconds from the moment when a call was due to its result. */
export interface Latencies {
  readonly p50: number
  readonly p99: number
  readonly max: number
}

export interface Round {
  readonly without: Latencies
  readonly cleaning: Latencies
  readonly removed: number
  /** Duration of the cleaning run. */
  readonly seconds: number
}

export interface Answer {
  readonly rounds: readonly Round[]
  /** Size of the store's files. */
  readonly bytesBefore: number
  readonly bytesAfter: number
}

const PER_SECOND = 500
const HOUR = 3_600_000_000
const DAY = 24 * HOUR
/** Events of these last days stay. */
const KEPT_DAYS = 30
const IMPORT_BATCH = 2000

const { place, events, rounds, seconds } = readSetup() as Setup
const take = cycle(sampleEvents(5000))
const store = openStore(place)

/** The age in days of the events that a round removes. Each round has two days, with events in the first. */
const ageOf = (round: number): number => KEPT_DAYS + 2 * (rounds - round)
const ruleOf = (round: number): string => `round ${round}`

const audit = new AuditLog({
  store,
  types: sampleTypes,
  links: sampleLinks,
  cleaning: {
    rules: Array.from({ length: rounds }, (_, round) => ({
      name: ruleOf(round),
      target: 'events',
      maxAge: { hours: (ageOf(round) - 1.5) * 24 },
    })),
  },
})

const now = (): number => Date.now() * 1000

/** Imports `count` events, evenly spread over the time. */
async function fill(from: number, to: number, count: number): Promise<void> {
  const clock = manualClock(new Date(from / 1000).toISOString())
  const maker = new AuditLog({
    store: memoryStore({ clock, maxEvents: IMPORT_BATCH }),
    types: sampleTypes,
    links: sampleLinks,
  })
  const pause = (to - from) / count
  for (let made = 0; made < count; made += IMPORT_BATCH) {
    const batch: AuditEvent[] = []
    for (const { type, data, username } of take(Math.min(IMPORT_BATCH, count - made))) {
      clock.advance(Math.floor(pause))
      const event = await maker.record(type, data, { username })
      if (event) batch.push(event)
    }
    await audit.importEvents(batch)
  }
  await maker.close()
}

async function fillAll(): Promise<void> {
  const time = now()
  for (let round = 0; round < rounds; round++) {
    const from = time - ageOf(round) * DAY
    await fill(from, from + DAY, events / 2 / rounds)
  }
  await fill(time - (KEPT_DAYS - 1) * DAY, time - HOUR, events / 2)
}

async function sizeOfStore(): Promise<number> {
  if (place.store === 'sqlite')
    return ['', '-wal']
      .map((end) => place.filename + end)
      .filter((file) => fs.existsSync(file))
      .reduce((sum, file) => sum + fs.statSync(file).size, 0)
  const client = new pg.Client({ connectionString: place.url })
  await client.connect()
  const { rows } = await client.query<{ size: string }>(
    'SELECT pg_database_size(current_database()) AS size',
  )
  await client.end()
  return Number(rows[0]!.size)
}

const countBefore = async (from: number): Promise<number> => (await store.excess({ from })).count

let recorded = 0

async function recordUntil(isOver: () => boolean): Promise<Latencies> {
  const latencies: number[] = []
  recorded += await callAtRate(PER_SECOND, isOver, async (due) => {
    const [{ type, data, username }] = take(1) as [SampleEvent]
    await audit.record(type, data, { username })
    latencies.push(performance.now() - due)
  })
  return { p50: quantile(latencies, 0.5), p99: quantile(latencies, 0.99), max: max(latencies) }
}

function recordFor(ms: number): Promise<Latencies> {
  const end = performance.now() + ms
  return recordUntil(() => performance.now() >= end)
}

async function runRound(round: number): Promise<Round> {
  const without = await recordFor(seconds * 1000)
  const start = performance.now()
  let end: number | undefined
  const run = audit.cleaning.run({ rules: [ruleOf(round)] }).finally(() => {
    end = performance.now()
  })
  const cleaning = await recordUntil(() => end !== undefined)
  const [result] = await run
  if (!result || result.error !== undefined || result.removed_count !== events / 2 / rounds)
    throw new Error(`${ruleOf(round)}: ${JSON.stringify(result)}`)
  return { without, cleaning, removed: result.removed_count, seconds: (end! - start) / 1000 }
}

/** Checks that the cleaning removed all expired events and no others. */
async function check(): Promise<void> {
  const expired = await countBefore(now() - (KEPT_DAYS - 0.5) * DAY)
  const all = await countBefore(now() + DAY)
  // Each cleaning run records an event.
  const expected = events / 2 + recorded + rounds
  if (expired !== 0 || all !== expected)
    throw new Error(`${all} events remain, ${expired} of them expired; ${expected} should remain`)
}

async function run(): Promise<Answer> {
  const bytesBefore = await sizeOfStore()
  await recordFor(1000)
  const found: Round[] = []
  for (let round = 0; round < rounds; round++) found.push(await runRound(round))
  await check()
  const bytesAfter = await sizeOfStore()
  await audit.close()
  return { rounds: found, bytesBefore, bytesAfter }
}

await fillAll()
serveJobs(run)
