import { setTimeout as delay } from 'node:timers/promises'
import { median } from 'simple-statistics'
import type pg from 'pg'
import {
  milliseconds,
  percent,
  perSecond,
  ratios,
  table,
  times,
  whole,
  withSpread,
} from '../harness/format.js'
import { type Answers, runRounds } from '../harness/rounds.js'
import type { Outcome, WorkerPool } from '../targets/worker-pool.js'

/*
 * The cost of ordering: the store's SQL function, called with prepared batches, with and without the lock
 * that makes `created_at` rise in the order in which events become visible.
 */

const PROCESSES = [1, 4, 8]
const BATCH = 100
const FOLLOWED_PROCESSES = 4
const WRITERS = ['ordered', 'unordered'] as const

type WriterName = (typeof WRITERS)[number]

/**
 * Two edits of the function: it does not take the lock, and it ignores the high-water mark, so that it keeps
 * the times it is given. No two processes give the same time, so no row is refused.
 */
const EDITS = [
  [/^ *LOCK TABLE .*order_lock.*;\n/m, ''],
  ['::bigint, last_value,', '::bigint, 0 * last_value,'],
] as const

async function removeLock(client: pg.Client): Promise<void> {
  const { rows } = await client.query<{ text: string }>(
    `SELECT pg_get_functiondef(oid) AS text FROM pg_proc
     WHERE proname = 'append' AND pronamespace = 'unordered'::regnamespace`,
  )
  const text = EDITS.reduce((before, [what, replacement]) => {
    const after = before.replace(what, replacement)
    if (after === before) throw new Error(`the function append has no ${String(what)}`)
    return after
  }, rows[0]!.text)
  await client.query(text)
}

const runAll = (
  pool: WorkerPool,
  rounds: number,
  seconds: number,
): Promise<ReadonlyMap<number, Answers<WriterName, Outcome>>> =>
  runRounds({
    cases: PROCESSES,
    sides: WRITERS,
    rounds,
    measure: (processes, writer) =>
      pool.run(processes, { writer, batch: BATCH, inFlight: 1, seconds }),
    describe(processes, outcomes) {
      const rates = WRITERS.map((name) => `${name} ${perSecond(outcomes[name].eventsPerSecond)}`)
      return `${processes} processes: ${rates.join(', ')}`
    },
  })

/** The share of events that a client misses if it polls for events after the last one it has seen. */
async function measureMissed(
  pool: WorkerPool,
  writer: WriterName,
  seconds: number,
): Promise<number> {
  await pool.client.query(`TRUNCATE ${writer}.events`)
  let last = 0
  let seen = 0
  let isOver = false
  const poll = async (): Promise<boolean> => {
    const { rows } = await pool.client.query<{ created_at: number }>(
      `SELECT created_at::float8 FROM ${writer}.events
       WHERE created_at > $1 ORDER BY created_at LIMIT 1000`,
      [last],
    )
    last = rows.at(-1)?.created_at ?? last
    seen += rows.length
    return rows.length > 0
  }
  const follow = async (): Promise<void> => {
    for (let isLast = false; !isLast;) {
      const wasOver = isOver
      const hasNew = await poll()
      isLast = wasOver && !hasNew
      if (!hasNew) await delay(1)
    }
  }
  const run = pool
    .run(FOLLOWED_PROCESSES, { writer, batch: BATCH, inFlight: 1, seconds })
    .finally(() => (isOver = true))
  const [{ stored }] = await Promise.all([run, follow()])
  return (stored - seen) / stored
}

function cells(processes: number, { ordered, unordered }: Answers<WriterName, Outcome>): string[] {
  const [withLock, without] = [ordered, unordered].map((outcomes) =>
    outcomes.map(({ eventsPerSecond }) => eventsPerSecond),
  )
  const latency = (outcomes: readonly Outcome[]): string =>
    (['p50', 'p99'] as const)
      .map((figure) => milliseconds(median(outcomes.map((outcome) => outcome[figure]))))
      .join(' / ')
  return [
    whole(processes),
    withSpread(withLock!, whole),
    withSpread(without!, whole),
    withSpread(ratios(withLock!, without!), times),
    latency(ordered),
    latency(unordered),
  ]
}

export async function orderTable(
  pool: WorkerPool,
  rounds: number,
  seconds: number,
): Promise<string[]> {
  await removeLock(pool.client)
  const measured = await runAll(pool, rounds, seconds)
  const missedWithLock = await measureMissed(pool, 'ordered', seconds)
  if (missedWithLock > 0)
    throw new Error(`with the lock, ${percent(missedWithLock)} of the events were missed`)
  const missedWithout = await measureMissed(pool, 'unordered', seconds)
  await pool.endWorkers()
  return [
    `The cost of ordering: the SQL function by which the store appends, called with prepared batches of ${BATCH}`,
    'events, with and without the lock that makes `created_at` rise in the order in which events become visible.',
    `A client polls for events after the last one it has seen (\`created_at_gt\`) while ${FOLLOWED_PROCESSES} processes write. It misses`,
    `no events with the lock, and ${percent(missedWithout)} of them without.`,
    '',
    ...table(
      [
        ...['processes', 'events/s', 'without the lock', 'ratio'],
        ...['a batch, p50 / p99', 'without the lock, p50 / p99'],
      ],
      [...measured].map(([processes, outcomes]) => cells(processes, outcomes)),
      0,
    ),
  ]
}
