import { execFileSync } from 'node:child_process'
import fs from 'node:fs'
import path from 'node:path'
import Database from 'better-sqlite3'
import { sqliteStore } from 'daybook/sqlite'
import { max, median, quantile } from 'simple-statistics'
import { milliseconds, perSecond, short, whole } from '../harness/format.js'
import type { TimedOptions } from '../harness/options.js'
import { runRounds } from '../harness/rounds.js'
import { defineSuite, noSetUp, type Row, type Table } from '../harness/suite.js'
import { withTempFolder } from '../harness/temp.js'
import { runTogether, Worker } from '../harness/workers.js'
import type { Answer, Job } from '../targets/sqlite-writer-process.js'

/*
 * Four processes that record into one SQLite file, compared with better-sqlite3 alone, whose busy handler blocks the event
 * loop while it waits. Each trial has new processes and a new file. At its end all acknowledged events must be stored.
 */

const PROCESSES = 4
/** Its syncs take as many milliseconds longer as a file says. */
const SLOW_SYNC = path.join(import.meta.dirname, '../../test/campaigns/failing-sync.c')
const FLUSHES_MS = [1, 3]

interface Case {
  readonly title: string
  readonly load: Job['load']
  readonly env?: NodeJS.ProcessEnv
}

const SIDES = ['record', 'plain'] as const
type Side = (typeof SIDES)[number]

/** Times are in milliseconds. */
interface Outcome {
  readonly eventsPerSecond: number
  readonly p50: number
  readonly p99: number
  readonly max: number
  /** The longest event loop delay of a process. */
  readonly loopMax: number
  /** Fewest events of a process divided by the most events of a process. */
  readonly fairness: number
}

function outcomeOf(answers: readonly Answer[], seconds: number): Outcome {
  const all = answers.flatMap(({ latencies }) => [...latencies])
  const measured = answers.map((answer) => answer.measured)
  return {
    eventsPerSecond: measured.reduce((a, b) => a + b) / seconds,
    p50: quantile(all, 0.5),
    p99: quantile(all, 0.99),
    max: max(all),
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

const runTrial = ({ load, env }: Case, writer: Side, seconds: number): Promise<Outcome> =>
  withTempFolder(async (folder) => {
    const filename = path.join(folder, 'trial.db')
    await sqliteStore({ filename }).close()
    const started = Array.from({ length: PROCESSES }, () =>
      Worker.start<Job | 'start', Answer>('sqlite-writer-process.ts', null, [], env),
    )
    const workers = await Promise.all(started)
    const answers = await runTogether(workers, () => ({ writer, load, filename, seconds }))
    for (const worker of workers) await worker.end()
    const stored = answers.reduce((sum, answer) => sum + answer.stored, 0)
    const rows = countRows(filename)
    if (rows !== stored) throw new Error(`${stored} events were acknowledged, ${rows} rows exist`)
    return outcomeOf(answers, seconds)
  })

function noteOf(outcomes: readonly Outcome[]): string {
  const middle = (figure: keyof Outcome): number => median(outcomes.map((one) => one[figure]))
  return `a call p50 ${milliseconds(middle('p50'))}, p99 ${milliseconds(middle('p99'))}, max ${milliseconds(middle('max'))}; event loop delay at most ${milliseconds(middle('loopMax'))}; fewest to most events of a process ${short(middle('fairness'))}`
}

async function measureCases(
  cases: readonly Case[],
  { rounds, seconds }: TimedOptions,
): Promise<Row[]> {
  const measured = await runRounds({
    cases,
    sides: SIDES,
    rounds,
    measure: (one, side) => runTrial(one, side, seconds),
    titleOf: ({ title }) => title,
    print: ({ eventsPerSecond, p99 }) => `${perSecond(eventsPerSecond)}, p99 ${milliseconds(p99)}`,
  })
  const ratesOf = (outcomes: readonly Outcome[]): number[] =>
    outcomes.map(({ eventsPerSecond }) => eventsPerSecond)
  return [...measured].flatMap(([{ title }, { record, plain }]): Row[] => [
    {
      name: title,
      ours: ratesOf(record),
      theirs: ratesOf(plain),
      print: perSecond,
      note: noteOf(record),
    },
    {
      name: `${title}: p99 of a call`,
      ours: record.map(({ p99 }) => p99),
      theirs: plain.map(({ p99 }) => p99),
      print: milliseconds,
      note: `better-sqlite3: ${noteOf(plain)}`,
    },
  ])
}

const FAST: readonly Case[] = [
  { title: '200 events/s each', load: { perSecond: 200 } },
  { title: '1 in flight each', load: { inFlight: 1 } },
  { title: '64 in flight each; 64 rows in a transaction', load: { inFlight: 64 } },
]

const TEXT =
  'Calls at a rate are measured from the moment they were due, whether earlier calls have been answered or not.'

const fast = async (_: undefined, options: TimedOptions): Promise<Table[]> => [
  {
    title: `${whole(PROCESSES)} processes, compared with better-sqlite3`,
    text: TEXT,
    rows: await measureCases(FAST, options),
  },
]

/** Needs a C compiler. */
const slow = (_: undefined, options: TimedOptions): Promise<Table[]> =>
  withTempFolder(async (folder) => {
    const library = path.join(folder, 'slow-sync.so')
    execFileSync('cc', ['-shared', '-fPIC', '-o', library, SLOW_SYNC, '-ldl'])
    const cases = FLUSHES_MS.map((ms): Case => {
      const file = path.join(folder, `${ms}ms`)
      fs.writeFileSync(file, String(ms))
      return {
        title: `1 in flight each, ${ms} ms`,
        load: { inFlight: 1 },
        env: { LD_PRELOAD: library, DAYBOOK_SLOW_SYNC: file },
      }
    })
    return [
      {
        title: `${whole(PROCESSES)} processes on a disk whose syncs take longer, compared with better-sqlite3`,
        rows: await measureCases(cases, options),
      },
    ]
  })

export const suite = defineSuite<undefined>({ setUp: noSetUp, parts: { fast, slow } })
