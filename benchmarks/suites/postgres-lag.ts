import { setTimeout as delay } from 'node:timers/promises'
import { percent, table, whole, withSpread } from '../harness/format.js'
import { roundTitle } from '../harness/rounds.js'
import type { Outcome, WorkerPool } from '../targets/worker-pool.js'

/* How far the index falls behind while `record` is called without a pause. */

const PROCESSES = [1, 4]
const IN_FLIGHT = 1000
/** Long enough for each process to add more events than may be unindexed. */
const SECONDS = 20
const SAMPLE_MS = 250

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

export async function lagTable(pool: WorkerPool, rounds: number): Promise<string[]> {
  const trials = new Map(PROCESSES.map((processes) => [processes, [] as Trial[]]))
  for (let round = 1; round <= rounds; round++)
    for (const [processes, done] of trials) {
      const trial = await runTrial(pool, processes)
      done.push(trial)
      console.error(`${roundTitle(round, rounds)}: ${processes} fell ${trial.behind} events behind`)
    }
  await pool.endWorkers()
  return [
    `The index under full load: ${whole(IN_FLIGHT)} calls in flight in each process for ${SECONDS} s. Beyond 65,536 events that are not indexed,`,
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
