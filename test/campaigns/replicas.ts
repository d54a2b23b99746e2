import path from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { AuditLog, parseTimestamp } from 'daybook'
import { postgresStore } from 'daybook/postgres'
import fc from 'fast-check'
import pg from 'pg'
import { compileSources } from '../support/global-compiled.js'
import { ask, untilRow } from '../support/own-server.js'
import { type OwnServer, startOwnPostgres } from '../support/postgres.js'
import type { Campaign } from './run.js'
import { startProcess, until } from './shared/process.js'
import { runRounds } from './shared/rounds.js'

/*
 * One process records events without a pause, and this process reads from two replicas of the server. Most reads have
 * the token of an event that was just acknowledged, and must return this event. Other reads have no token. They show
 * the age of the answers of replicas. In each round a replica stops replaying for a while.
 */

const TRIES_PER_ROUND = 1000
const READERS = 4
const WRITERS = 2
const WITHOUT_TOKEN_EVERY = 10
/** Time limit for a query that hangs. It is long, because a busy machine is slow. */
const QUERY_TIMEOUT_MS = 60_000

interface Round {
  /** The replica that stops replaying; 2 for none. */
  readonly paused: number
  readonly pauseMs: number
}

const roundOf: fc.Arbitrary<Round> = fc.record({
  paused: fc.integer({ min: 0, max: 2 }),
  pauseMs: fc.integer({ min: 10, max: 1500 }),
})

/** Upper bounds in milliseconds. */
const BUCKETS = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, Infinity]

function histogram(values: readonly number[]): Record<string, number> {
  const counts = BUCKETS.map((bound, i) => {
    const least = BUCKETS[i - 1] ?? -Infinity
    return [`< ${bound} ms`, values.filter((value) => value >= least && value < bound).length]
  })
  return Object.fromEntries(counts) as Record<string, number>
}

function percentile(sorted: readonly number[], share: number): number | undefined {
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))]
}

/** The newest event that the writing process has acknowledged. */
interface Written {
  newest(): { readonly id: string; readonly created_at: string }
  count(): number
  stop(): Promise<void>
}

async function startWriter(url: string): Promise<Written> {
  const compiled = await compileSources()
  const file = path.join(compiled.folder, 'test/campaigns/replicas/writer.js')
  let newest: ReturnType<Written['newest']> | undefined
  let count = 0
  const writer = startProcess('writer', [file, url, String(WRITERS)], (line) => {
    const [id = '', created_at = ''] = line.split(' ')
    if (newest === undefined || created_at > newest.created_at) newest = { id, created_at }
    count += 1
  })
  await until('the writer has recorded', QUERY_TIMEOUT_MS, () => newest !== undefined)
  return {
    newest: () => newest!,
    count: () => count,
    async stop() {
      await writer.finish()
      await compiled.remove()
    },
  }
}

/** A pool that counts its uses. */
function countedPool(server: OwnServer): { readonly pool: pg.Pool; readonly uses: () => number } {
  const pool = new pg.Pool({ connectionString: server.url })
  pool.on('error', () => {})
  let uses = 0
  pool.on('acquire', () => (uses += 1))
  return { pool, uses: () => uses }
}

interface Figures {
  readonly tries: number
  readonly violations: number
  readonly staleness: number[]
}

interface Reading {
  readonly audit: AuditLog
  readonly written: Written
  readonly failed: (what: string) => void
}

/** Reads with the token of the newest event, by its id or in a list in turn. True if the event is there. */
async function hasNewest({ audit, written }: Reading, n: number): Promise<boolean> {
  const { id, created_at } = written.newest()
  const options = { consistencyToken: created_at }
  if (n % 2 === 0) return (await audit.get(id, options)) !== undefined
  const { events } = await audit.list({ limit: 1 }, options)
  return events.length === 1 && events[0]!.created_at >= created_at
}

/** Age of the newest event of an answer, compared with the newest acknowledged event, in milliseconds. */
async function readStaleness({ audit, written }: Reading): Promise<number> {
  const known = parseTimestamp(written.newest().created_at)!
  const { events } = await audit.list({ limit: 1 })
  return Math.max(0, (known - (parseTimestamp(events[0]?.created_at ?? '') ?? 0)) / 1000)
}

async function runRound(reading: Reading, total: Figures): Promise<Figures> {
  let { tries, violations } = total
  const end = tries + TRIES_PER_ROUND
  const read = async (): Promise<void> => {
    while (tries < end) {
      const n = (tries += 1)
      if (!(await hasNewest(reading, n))) {
        violations += 1
        reading.failed(`try ${n}: the event of its token is missing`)
      }
      if (n % WITHOUT_TOKEN_EVERY === 0) total.staleness.push(await readStaleness(reading))
    }
  }
  await Promise.all(Array.from({ length: READERS }, read))
  return { ...total, tries, violations }
}

export const campaign: Campaign = {
  rounds: 100,
  async run(run) {
    const primary = await startOwnPostgres()
    const standbys = [await primary.replicate(), await primary.replicate()]
    const onPrimary = countedPool(primary)
    const pools = standbys.map(countedPool)
    const audit = new AuditLog({
      store: postgresStore({
        pool: onPrimary.pool,
        replicas: pools.map(({ pool }) => pool),
        queryTimeoutMs: QUERY_TIMEOUT_MS,
      }),
      types: {},
    })
    const written = await startWriter(primary.url)
    let figures: Figures = { tries: 0, violations: 0, staleness: [] }
    let done = 0
    try {
      for (const standby of standbys)
        await untilRow(standby, `SELECT WHERE to_regclass('daybook.events') IS NOT NULL`)
      await audit.list()
      done = await runRounds(run, roundOf, {}, async ({ paused, pauseMs }) => {
        const standby = standbys[paused]
        const pausing = standby && ask(standby, 'SELECT pg_wal_replay_pause()')
        const resuming = pausing?.then(() => delay(pauseMs))
        figures = await runRound({ audit, written, failed: run.failed }, figures)
        await resuming
        if (standby) await ask(standby, 'SELECT pg_wal_replay_resume()')
      })
    } finally {
      await written.stop()
      await audit.close()
      for (const { pool } of [...pools, onPrimary]) await pool.end()
      for (const server of [...standbys, primary]) await server.stop()
    }
    const sorted = figures.staleness.toSorted((a, b) => a - b)
    return {
      nextRound: run.from + done,
      recorded: written.count(),
      readsWithToken: figures.tries,
      violations: figures.violations,
      usesOfReplicas: pools.map(({ uses }) => uses()),
      usesOfPrimary: onPrimary.uses(),
      stalenessOfReadsWithoutToken: {
        reads: sorted.length,
        median: percentile(sorted, 0.5),
        p99: percentile(sorted, 0.99),
        max: sorted.at(-1),
        ...histogram(sorted),
      },
    }
  },
}
