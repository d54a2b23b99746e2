import { setTimeout as delay } from 'node:timers/promises'
import { milliseconds, percent, table, whole, withSpread } from '../harness/format.js'
import { goalFor, type Row, rowOf } from '../harness/results.js'
import { roundTitle } from '../harness/rounds.js'
import type { Outcome, WorkerPool } from '../targets/worker-pool.js'

/* How far the index falls behind while `record` is called without a pause. */

const PROCESSES = [1, 4]
const IN_FLIGHT = 1000
/** Long enough for each process to add more events than may be unindexed. */
const SECONDS = 20
const SAMPLE_MS = 250
/** The default of the store's option `maxUnindexed`. */
const MAX_UNINDEXED = 65_536

const UNINDEXED = `SELECT count(*)::int AS count FROM daybook.events
  WHERE created_at > (SELECT sealed_to FROM daybook.index_state)`

interface Trial {
  readonly outcome: Outcome
  /** The maximum number of events that were in no segment. */
  readonly behind: number
  /** Share of the events that were indexed at the end. */
  readonly indexed: number
}

async function runTrial(pool: WorkerPool, processes: number): Promise<Trial> {
  const countUnindexed = async (): Promise<number> =>
    (await pool.client.query<{ count: number }>(UNINDEXED)).rows[0]!.count
  let behind = 0
  let last = 0
  let isOver = false
  const sample = async (): Promise<void> => {
    while (!isOver) {
      last = await countUnindexed()
      behind = Math.max(behind, last)
      await delay(SAMPLE_MS)
    }
  }
  const task = { writer: 'record', batch: 1, inFlight: IN_FLIGHT, seconds: SECONDS } as const
  const running = pool.run(processes, task).finally(() => (isOver = true))
  const [outcome] = await Promise.all([running, sample()])
  return { outcome, behind, indexed: 1 - last / outcome.stored }
}

async function runAll(pool: WorkerPool, rounds: number): Promise<ReadonlyMap<number, Trial[]>> {
  const trials = new Map(PROCESSES.map((processes) => [processes, [] as Trial[]]))
  for (let round = 1; round <= rounds; round++)
    for (const [processes, done] of trials) {
      const trial = await runTrial(pool, processes)
      done.push(trial)
      console.error(`${roundTitle(round, rounds)}: ${processes} fell ${trial.behind} events behind`)
    }
  await pool.endWorkers()
  return trials
}

/** `maxUnindexed`, the eighth that a process adds between two checks, and a batch. */
const maxBehind = (processes: number): number =>
  MAX_UNINDEXED + processes * (MAX_UNINDEXED / 8 + 2 * IN_FLIGHT)

/** The goals of the index under full load. */
export async function lagRows(pool: WorkerPool, rounds: number): Promise<Row[]> {
  const trials = await runAll(pool, rounds)
  return [...trials].map(([processes, done]) => {
    const behind = done.map((trial) => trial.behind)
    const goals = [goalFor('atMost', maxBehind(processes), behind, { print: whole })]
    return rowOf({
      group: `Recording, Postgres: events that are not indexed, ${whole(IN_FLIGHT)} calls in flight in each process for ${SECONDS} s`,
      name: processes === 1 ? 'one process' : `${processes} processes`,
      daybook: behind,
      print: whole,
      note: `slowest call in a hundred ${milliseconds(Math.max(...done.map(({ outcome }) => outcome.p99)))}`,
      goals,
    })
  })
}

export async function lagTable(pool: WorkerPool, rounds: number): Promise<string[]> {
  const trials = await runAll(pool, rounds)
  return [
    `The index under full load: ${whole(IN_FLIGHT)} calls in flight in each process for ${SECONDS} s. Beyond ${whole(MAX_UNINDEXED)} events that are not indexed,`,
    'recording waits for the index (`maxUnindexed`).',
    '',
    ...table(
      ['processes', '`record()` events/s', 'at most not indexed', 'indexed at the end'],
      [...trials].map(([processes, done]) => [
        String(processes),
        withSpread(
          done.map(({ outcome }) => outcome.eventsPerSecond),
          whole,
        ),
        withSpread(
          done.map(({ behind }) => behind),
          whole,
        ),
        withSpread(
          done.map(({ indexed }) => indexed),
          percent,
        ),
      ]),
      0,
    ),
  ]
}
