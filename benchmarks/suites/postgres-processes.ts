import { median } from 'simple-statistics'
import { milliseconds, ratios, table, times, whole, withSpread } from '../harness/format.js'
import { type Answers, runRounds } from '../harness/rounds.js'
import type { WriterName } from '../targets/postgres-task.js'
import type { Outcome, WorkerPool } from '../targets/worker-pool.js'

/*
 * Many writers on one server, with one call in flight each, whose disk takes a while to flush: `commit_delay` makes the
 * flush of a commit wait for that long (https://www.postgresql.org/docs/current/runtime-config-wal.html). Each
 * writer has a log and a pool of its own, as a process has. They share two processes, because more of them than
 * the machine has cores would measure how Node starts; in one case each has its own.
 */

const FLUSHES_MS = [1, 3]
const SIDES = ['record', 'insert', 'emmett', 'pg-boss'] as const
type Side = (typeof SIDES)[number]

interface Case {
  readonly flushMs: number
  readonly writers: number
  readonly processes: number
}

const CASES: readonly Case[] = FLUSHES_MS.flatMap((flushMs) => [
  ...[1, 2, 4, 8, 16, 32].map((writers) => ({
    flushMs,
    writers,
    processes: Math.min(writers, 2),
  })),
  { flushMs, writers: 16, processes: 16 },
])

/** The peers open several connections for each writer. */
const MAX_PEERS = 16

async function setFlush({ client }: WorkerPool, flushMs: number): Promise<void> {
  await client.query(`ALTER SYSTEM SET commit_delay = ${flushMs * 1000}`)
  await client.query('ALTER SYSTEM SET commit_siblings = 0')
  await client.query('SELECT pg_reload_conf()')
}

/** None where there are too many writers for a peer. */
type Rounds = readonly (Outcome | undefined)[]

const rates = (rounds: Rounds): number[] =>
  rounds.flatMap((outcome) => outcome?.eventsPerSecond ?? [])

const p50 = (rounds: Rounds): number => median(rounds.flatMap((outcome) => outcome?.p50 ?? []))

function cells(
  { writers, processes }: Case,
  answers: Answers<Side, Outcome | undefined>,
): string[] {
  const rate = (side: Side): string =>
    rates(answers[side]).length === 0 ? '–' : withSpread(rates(answers[side]), whole)
  return [
    processes > 2 ? `${writers}, a process each` : whole(writers),
    ...SIDES.map(rate),
    withSpread(ratios(rates(answers.record), rates(answers.insert)), times),
    [answers.record, answers.insert].map((side) => milliseconds(p50(side))).join(' / '),
  ]
}

/** A chart of the latency of a call in Mermaid. */
function latencyChart(
  flushMs: number,
  found: readonly (readonly [Case, Answers<Side, Outcome | undefined>])[],
): string[] {
  const drawn = found.filter(([{ processes }]) => processes <= 2)
  const line = (side: Side): string =>
    `  line [${drawn.map(([, answers]) => p50(answers[side]).toFixed(2)).join(', ')}]`
  return [
    '```mermaid',
    'xychart-beta',
    `  title "A call, p50, flush ${flushMs} ms: record (first line) and INSERT"`,
    `  x-axis "writers" [${drawn.map(([{ writers }]) => writers).join(', ')}]`,
    '  y-axis "ms"',
    line('record'),
    line('insert'),
    '```',
  ]
}

export async function processesTables(
  pool: WorkerPool,
  rounds: number,
  seconds: number,
): Promise<string[]> {
  const measured = await runRounds<Case, Side, Outcome | undefined>({
    cases: CASES,
    sides: SIDES,
    rounds,
    prepare: ({ flushMs }) => setFlush(pool, flushMs),
    async measure({ writers, processes }, side) {
      const isSkipped = side !== 'record' && side !== 'insert' && writers > MAX_PEERS
      const job = { writer: side as WriterName, batch: 1, inFlight: writers / processes, seconds }
      const outcome = isSkipped
        ? undefined
        : await pool.run(processes, { ...job, hasOwnWriters: true })
      // The processes of a writer hold connections.
      await pool.endWorkers()
      return outcome
    },
    describe: ({ writers, flushMs }, { record, insert }) =>
      `${writers} writers, ${flushMs} ms: ${whole(record!.eventsPerSecond)} of ${whole(insert!.eventsPerSecond)}`,
  })
  const found = [...measured]
  const columns = ['writers', ...SIDES.map((side) => `${side}, events/s`)]
  return FLUSHES_MS.flatMap((flushMs) => {
    const rows = found.filter(([one]) => one.flushMs === flushMs)
    return [
      `Writers with one call in flight each, on a disk whose flush takes ${flushMs} ms longer:`,
      '',
      ...table(
        [...columns, 'record to insert', 'a call, p50: record / insert'],
        rows.map(([one, answers]) => cells(one, answers)),
      ),
      '',
      ...latencyChart(flushMs, rows),
      '',
    ]
  })
}
