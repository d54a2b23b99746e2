import fs from 'node:fs'
import { setImmediate as nextTurn, setTimeout as delay } from 'node:timers/promises'
import { type AuditEvent, AuditLog, type EventStore } from 'daybook'
import { memoryStore } from 'daybook/memory'
import { postgresStore } from 'daybook/postgres'
import { sqliteStore } from 'daybook/sqlite'
import { manualClock } from 'daybook/testing'
import pg from 'pg'
import { sampleEvents, sampleTypes } from '../harness/sample-events.js'
import { quantile } from '../harness/meter.js'

/*
 * One store whose old events are cleaned up while the same process records: `cleaning-trial.ts <JSON of a
 * Setup>` fills it and says `ready`; to the message `run` it answers with its Rounds.
 */

export interface Setup {
  readonly place:
    | { readonly store: 'sqlite'; readonly filename: string }
    | { readonly store: 'postgres'; readonly url: string }
  /** Half of them are removed. */
  readonly events: number
  readonly rounds: number
  /** Length of each stretch without cleaning. */
  readonly seconds: number
}

/** Milliseconds from when a call was due to its answer. */
export interface Latencies {
  readonly p50: number
  readonly p99: number
  readonly max: number
}

export interface Round {
  readonly without: Latencies
  readonly cleaning: Latencies
  readonly removed: number
  /** How long the cleaning took. */
  readonly seconds: number
}

export interface Answer {
  readonly rounds: readonly Round[]
  /** Of the store's files. */
  readonly bytesBefore: number
  readonly bytesAfter: number
}

const PER_SECOND = 500
const HOUR = 3_600_000_000
const DAY = 24 * HOUR
/** Newer events stay. */
const KEPT_DAYS = 30
const IMPORTED_AT_ONCE = 2000

const { place, events, rounds, seconds } = JSON.parse(process.argv[2] ?? '') as Setup
const EVENTS = sampleEvents(5000)
let next = 0

const store: EventStore =
  place.store === 'sqlite'
    ? sqliteStore({ filename: place.filename })
    : postgresStore({ connectionString: place.url })

/** Each round removes what a rule of its own finds too old: two days, of which the events are in the first. */
const daysOf = (round: number): number => KEPT_DAYS + 2 * (rounds - round)
const nameOf = (round: number): string => `round ${round}`

const audit = new AuditLog({
  store,
  types: sampleTypes,
  cleaning: {
    rules: Array.from({ length: rounds }, (_, round) => ({
      name: nameOf(round),
      target: 'events',
      maxAge: { hours: (daysOf(round) - 1.5) * 24 },
    })),
  },
})

const microsNow = (): number => Date.now() * 1000

/** Fills a stretch of time with so many events, evenly. */
async function fill(from: number, to: number, count: number): Promise<void> {
  const clock = manualClock(new Date(from / 1000).toISOString())
  const maker = new AuditLog({
    store: memoryStore({ clock, maxEvents: IMPORTED_AT_ONCE }),
    types: sampleTypes,
  })
  const pause = (to - from) / count
  for (let made = 0; made < count; made += IMPORTED_AT_ONCE) {
    const batch = Math.min(IMPORTED_AT_ONCE, count - made)
    const stored: AuditEvent[] = []
    for (let i = 0; i < batch; i++) {
      clock.advance(Math.floor(pause))
      const { type, data, username } = EVENTS[next++ % EVENTS.length]!
      const event = await maker.record(type, data, { username })
      if (event) stored.push(event)
    }
    await audit.importEvents(stored)
  }
  await maker.close()
}

async function fillAll(): Promise<void> {
  const now = microsNow()
  for (let round = 0; round < rounds; round++) {
    const from = now - daysOf(round) * DAY
    await fill(from, from + DAY, events / 2 / rounds)
  }
  await fill(now - (KEPT_DAYS - 1) * DAY, now - HOUR, events / 2)
}

async function sizeOf(): Promise<number> {
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

/** Records in time with the load until it is over, whether earlier calls were answered or not. */
async function recordUntil(isOver: () => boolean): Promise<Latencies> {
  const latencies: number[] = []
  const calls: Promise<void>[] = []
  const call = async (due: number): Promise<void> => {
    const { type, data, username } = EVENTS[next++ % EVENTS.length]!
    await audit.record(type, data, { username })
    latencies.push(performance.now() - due)
  }
  const interval = 1000 / PER_SECOND
  for (let slot = performance.now(); !isOver(); slot += interval) {
    const due = slot + Math.random() * interval
    await nextTurn()
    while (performance.now() < due) await delay(Math.ceil(due - performance.now()))
    calls.push(call(due))
  }
  await Promise.all(calls)
  recorded += calls.length
  const sorted = Float64Array.from(latencies).toSorted()
  return { p50: quantile(sorted, 0.5), p99: quantile(sorted, 0.99), max: quantile(sorted, 1) }
}

function recordFor(ms: number): Promise<Latencies> {
  const end = performance.now() + ms
  return recordUntil(() => performance.now() >= end)
}

async function runRound(round: number): Promise<Round> {
  const without = await recordFor(seconds * 1000)
  const start = performance.now()
  let end: number | undefined
  const cleaning = audit.cleaning.run({ rules: [nameOf(round)] }).finally(() => {
    end = performance.now()
  })
  const during = await recordUntil(() => end !== undefined)
  const [result] = await cleaning
  if (!result || result.error !== undefined || result.removed_count !== events / 2 / rounds)
    throw new Error(`${nameOf(round)}: ${JSON.stringify(result)}`)
  const removed = result.removed_count
  return { without, cleaning: during, removed, seconds: (end! - start) / 1000 }
}

/** All that was due is gone, and nothing else. */
async function check(): Promise<void> {
  const old = await countBefore(microsNow() - (KEPT_DAYS - 0.5) * DAY)
  const all = await countBefore(microsNow() + DAY)
  // Each run tells of itself.
  const expected = events / 2 + recorded + rounds
  if (old !== 0 || all !== expected)
    throw new Error(`${all} events are there, ${old} of them due; it should be ${expected}`)
}

async function run(): Promise<Answer> {
  const bytesBefore = await sizeOf()
  await recordFor(1000)
  const found: Round[] = []
  for (let round = 0; round < rounds; round++) found.push(await runRound(round))
  await check()
  const bytesAfter = await sizeOf()
  await audit.close()
  return { rounds: found, bytesBefore, bytesAfter }
}

await fillAll()
process.on('message', () => void run().then((answer) => process.send!(answer)))
process.send!('ready')
