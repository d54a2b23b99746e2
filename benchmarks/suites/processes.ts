/*
 * Four processes that record into one SQLite file, beside better-sqlite3 alone with its busy handler:
 *
 *   npm run build
 *   npx tsx --tsconfig benchmarks/tsconfig.json benchmarks/processes.ts \
 *     [--rounds 3] [--seconds 20] [--write]
 *
 * That tsconfig has `daybook` lead to the built package, as users get it. Trials take turns, each with
 * processes and a new file of its own in the system's folder for temporary files (TMPDIR), which
 * should be on a disk; each ends with a look whether all acknowledged events are there. Trials at full
 * speed take a quarter of the seconds. `--write` puts the result into results.md.
 */
import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import Database from 'better-sqlite3'
import { sqliteStore } from 'daybook/sqlite'
import { readOptions } from '../harness/options.js'
import { quantile } from '../harness/meter.js'
import {
  measuredCode,
  milliseconds,
  type Print,
  processor,
  row,
  short,
  sqliteVersion,
  whole,
  withSpread,
  writeSection,
} from '../harness/format.js'
import type { Answer, Job } from '../targets/processes-process.js'
import { together, Worker } from '../harness/workers.js'

const PROCESSES = 4
const PER_SECOND = 200
const IN_FLIGHT = 64

interface Case {
  readonly name: string
  readonly job: Pick<Job, 'writer' | 'load'>
  /** Share of the seconds. */
  readonly share: number
}

const CASES: readonly Case[] = [
  {
    name: `\`record()\`, ${PER_SECOND} events/s each`,
    job: { writer: 'record', load: { perSecond: PER_SECOND } },
    share: 1,
  },
  {
    name: 'plain, the same',
    job: { writer: 'plain', load: { perSecond: PER_SECOND } },
    share: 1,
  },
  {
    name: `\`record()\`, ${IN_FLIGHT} calls in flight each`,
    job: { writer: 'record', load: { inFlight: IN_FLIGHT } },
    share: 0.25,
  },
  {
    name: `plain, ${IN_FLIGHT} events a transaction`,
    job: { writer: 'plain', load: { inFlight: IN_FLIGHT } },
    share: 0.25,
  },
]

/** Milliseconds, but for the first and the last. */
interface Outcome {
  readonly eventsPerSecond: number
  readonly p50: number
  readonly p99: number
  readonly max: number
  /** Of the process whose p99 is greatest. */
  readonly worstP99: number
  readonly blockedP99: number
  readonly blockedMax: number
  /** Events of the process that was served least, to those of the one served most. */
  readonly fairness: number
}

function outcomeOf(answers: readonly Answer[], seconds: number): Outcome {
  const sorted = answers.map(({ latencies }) => latencies.toSorted())
  const all = Float64Array.from(answers.flatMap(({ latencies }) => [...latencies])).toSorted()
  const served = answers.map((answer) => answer.served)
  return {
    eventsPerSecond: served.reduce((a, b) => a + b) / seconds,
    p50: quantile(all, 0.5),
    p99: quantile(all, 0.99),
    max: quantile(all, 1),
    worstP99: Math.max(...sorted.map((one) => quantile(one, 0.99))),
    blockedP99: Math.max(...answers.map(({ blockedP99 }) => blockedP99)),
    blockedMax: Math.max(...answers.map(({ blockedMax }) => blockedMax)),
    fairness: Math.min(...served) / Math.max(...served),
  }
}

function countRows(filename: string): number {
  const database = new Database(filename)
  const count = database.prepare('SELECT count(*) FROM daybook_events').pluck().get() as number
  database.close()
  return count
}

async function runTrial(job: Case['job'], seconds: number): Promise<Outcome> {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'daybook-benchmark-'))
  try {
    const filename = path.join(folder, 'trial.db')
    await sqliteStore({ filename }).close()
    const mates = await Promise.all(
      Array.from({ length: PROCESSES }, () =>
        Worker.start<Job | 'go', Answer>('processes-process.ts', null),
      ),
    )
    const answers = await together(mates, () => ({ ...job, filename, seconds }))
    for (const mate of mates) await mate.end()
    const stored = answers.reduce((sum, answer) => sum + answer.stored, 0)
    const rows = countRows(filename)
    if (rows !== stored) throw new Error(`${stored} events were acknowledged, ${rows} are there`)
    return outcomeOf(answers, seconds)
  } finally {
    fs.rmSync(folder, { recursive: true, force: true })
  }
}

async function measure(rounds: number, seconds: number): Promise<Map<Case, Outcome[]>> {
  const found = new Map(CASES.map((one) => [one, [] as Outcome[]]))
  for (let round = 1; round <= rounds; round++)
    for (const one of CASES) {
      const outcome = await runTrial(one.job, seconds * one.share)
      found.get(one)!.push(outcome)
      const { eventsPerSecond, p99, fairness } = outcome
      console.error(
        `round ${round} of ${rounds}, ${one.name}: ${whole(eventsPerSecond)}, p99 ${milliseconds(p99)}, ${short(fairness)}`,
      )
    }
  return found
}

async function report(rounds: number, seconds: number): Promise<string> {
  const code = measuredCode()
  const found = await measure(rounds, seconds)
  const date = new Date().toISOString().slice(0, 10)
  const lines = [...found].map(([{ name }, outcomes]) => {
    const cell = (figure: keyof Outcome, print: Print): string =>
      withSpread(
        outcomes.map((outcome) => outcome[figure]),
        print,
      )
    return row(
      name,
      cell('eventsPerSecond', whole),
      cell('p50', milliseconds),
      cell('p99', milliseconds),
      cell('worstP99', milliseconds),
      cell('max', milliseconds),
      cell('fairness', short),
      cell('blockedP99', milliseconds),
      cell('blockedMax', milliseconds),
    )
  })
  return [
    `Measured ${date} on ${processor()}, ${sqliteVersion()}: ${code}, ${PROCESSES} processes on one file, WAL and`,
    '`synchronous=FULL`, events of about 640 bytes. A call counts from the moment it was due, in time with the',
    'load whether earlier ones were answered or not. Plain is better-sqlite3 alone, whose busy handler waits',
    'without giving the event loop a turn. Median [least–greatest] of',
    `${rounds} rounds of ${short(seconds)} s, at full speed of ${short(seconds / 4)} s.`,
    '',
    row(
      `${PROCESSES} processes`,
      'events/s of all',
      'p50 of a call',
      'p99',
      'p99 in the slowest process',
      'longest',
      'served least to served most',
      'event loop held up, p99',
      'longest',
    ),
    row(':--', '--:', '--:', '--:', '--:', '--:', '--:', '--:', '--:'),
    ...lines,
  ].join('\n')
}

const { rounds, seconds, write } = readOptions({ rounds: 3, seconds: 20 })
const text = await report(rounds, seconds)
console.log(text)
if (write) writeSection('processes', text)
