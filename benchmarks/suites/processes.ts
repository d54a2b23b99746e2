import path from 'node:path'
import { max, quantile } from 'simple-statistics'
import Database from 'better-sqlite3'
import { sqliteStore } from 'daybook/sqlite'
import { milliseconds, type Print, short, table, whole, withSpread } from '../harness/format.js'
import { measuredOn, sqliteVersion } from '../harness/machine.js'
import type { TimedOptions } from '../harness/options.js'
import type { Section } from '../harness/results.js'
import { runRounds } from '../harness/rounds.js'
import { withTempFolder } from '../harness/temp.js'
import { runTogether, Worker } from '../harness/workers.js'
import type { Answer, Job } from '../targets/sqlite-writer-process.js'

/*
 * Four processes that record into one SQLite file, compared with better-sqlite3 alone and its busy handler.
 * Trials alternate, each with new processes and a new file. At the end of each trial all
 * acknowledged events must be stored.
 */

const PROCESSES = 4
const PER_SECOND = 200
const IN_FLIGHT = 64
/** Trials at full speed take this share of the seconds. */
const FULL_SPEED_SHARE = 0.25

interface Case {
  readonly title: string
  readonly job: Pick<Job, 'writer' | 'load'>
}

const CASES: readonly Case[] = [
  {
    title: `\`record()\`, ${PER_SECOND} events/s each`,
    job: { writer: 'record', load: { perSecond: PER_SECOND } },
  },
  { title: 'plain, the same', job: { writer: 'plain', load: { perSecond: PER_SECOND } } },
  {
    title: `\`record()\`, ${IN_FLIGHT} calls in flight each`,
    job: { writer: 'record', load: { inFlight: IN_FLIGHT } },
  },
  {
    title: `plain, ${IN_FLIGHT} events per transaction`,
    job: { writer: 'plain', load: { inFlight: IN_FLIGHT } },
  },
]

const secondsOf = ({ job }: Case, seconds: number): number =>
  'inFlight' in job.load ? seconds * FULL_SPEED_SHARE : seconds

/** Times are in milliseconds. */
interface Outcome {
  readonly eventsPerSecond: number
  readonly p50: number
  readonly p99: number
  readonly max: number
  /** p99 of the process where it is greatest. */
  readonly worstP99: number
  readonly loopP99: number
  readonly loopMax: number
  /** Fewest events of a process divided by the most events of a process. */
  readonly fairness: number
}

function outcomeOf(answers: readonly Answer[], seconds: number): Outcome {
  const latencies = answers.map((answer) => [...answer.latencies])
  const all = latencies.flat()
  const measured = answers.map((answer) => answer.measured)
  return {
    eventsPerSecond: measured.reduce((a, b) => a + b) / seconds,
    p50: quantile(all, 0.5),
    p99: quantile(all, 0.99),
    max: max(all),
    worstP99: Math.max(...latencies.map((one) => quantile(one, 0.99))),
    loopP99: Math.max(...answers.map(({ loopDelay }) => loopDelay.p99)),
    loopMax: Math.max(...answers.map(({ loopDelay }) => loopDelay.max)),
    fairness: Math.min(...measured) / Math.max(...measured),
  }
}

function countRows(filename: string): number {
  const database = new Database(filename)
  const count = database.prepare('SELECT count(*) FROM daybook_events').pluck().get() as number
  database.close()
  return count
}

const runTrial = (job: Case['job'], seconds: number): Promise<Outcome> =>
  withTempFolder(async (folder) => {
    const filename = path.join(folder, 'trial.db')
    await sqliteStore({ filename }).close()
    const started = Array.from({ length: PROCESSES }, () =>
      Worker.start<Job | 'start', Answer>('sqlite-writer-process.ts', null),
    )
    const workers = await Promise.all(started)
    const answers = await runTogether(workers, () => ({ ...job, filename, seconds }))
    for (const worker of workers) await worker.end()
    const stored = answers.reduce((sum, answer) => sum + answer.stored, 0)
    const rows = countRows(filename)
    if (rows !== stored) throw new Error(`${stored} events were acknowledged, ${rows} rows exist`)
    return outcomeOf(answers, seconds)
  })

const COLUMNS: readonly (readonly [title: string, figure: keyof Outcome, print: Print])[] = [
  ['events/s of all', 'eventsPerSecond', whole],
  ['p50 of a call', 'p50', milliseconds],
  ['p99', 'p99', milliseconds],
  ['p99 in the slowest process', 'worstP99', milliseconds],
  ['max', 'max', milliseconds],
  ['fewest to most events of a process', 'fairness', short],
  ['event loop delay, p99', 'loopP99', milliseconds],
  ['event loop delay, max', 'loopMax', milliseconds],
]

export async function measure({ rounds, seconds }: TimedOptions): Promise<Section[]> {
  const measured = await runRounds({
    cases: CASES,
    sides: ['all'],
    rounds,
    measure: (one) => runTrial(one.job, secondsOf(one, seconds)),
    describe: ({ title }, { all: { eventsPerSecond, p99, fairness } }) =>
      `${title}: ${whole(eventsPerSecond)}, p99 ${milliseconds(p99)}, ${short(fairness)}`,
  })
  const rows = [...measured].map(([{ title }, { all }]) => [
    title,
    ...COLUMNS.map(([, figure, print]) =>
      withSpread(
        all.map((outcome) => outcome[figure]),
        print,
      ),
    ),
  ])
  const text = [
    `${measuredOn(sqliteVersion())} ${PROCESSES} processes use one file with WAL and \`synchronous=FULL\`; events have about`,
    '640 bytes. A call is measured from the moment it was due, whether earlier calls have been answered or not. Plain is',
    'better-sqlite3 alone, whose busy handler blocks the event loop while it waits. Medians [min–max] of',
    `${rounds} rounds of ${short(seconds)} s, at full speed of ${short(seconds * FULL_SPEED_SHARE)} s.`,
    '',
    ...table([`${PROCESSES} processes`, ...COLUMNS.map(([title]) => title)], rows),
  ].join('\n')
  return [{ name: 'processes', text }]
}
