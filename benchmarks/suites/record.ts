import { median } from 'simple-statistics'
import {
  microseconds,
  milliseconds,
  perSecond,
  type Print,
  ratios,
  table,
  times,
  whole,
  withSpread,
} from '../harness/format.js'
import { measuredOn, sqliteVersion } from '../harness/machine.js'
import type { TrialResult } from '../harness/meter.js'
import type { TimedOptions } from '../harness/options.js'
import type { Section } from '../harness/results.js'
import { roundTitle } from '../harness/rounds.js'
import { runTrial } from '../targets/sqlite-trial.js'

/*
 * `record` on SQLite, compared with better-sqlite3 that inserts the same rows. Each trial has its own
 * process and file. Trials alternate, so that each ratio is taken within one round.
 */

const IN_FLIGHT = [1, 64, 1000]

/** The results of one round for one number of calls in flight. */
interface Round {
  readonly record: TrialResult
  /** A transaction per row. */
  readonly single: TrialResult
  /** Batches of the mean size of ours; the JSON text is made before. */
  readonly batched: TrialResult
  /** The same with `JSON.stringify` of each row. */
  readonly stringified: TrialResult
}

async function runRound(inFlight: number, seconds: number): Promise<Round> {
  const single = await runTrial({ kind: 'plain', batch: 1, json: 'before' }, seconds)
  const record = await runTrial({ kind: 'record', inFlight }, seconds)
  const batch = Math.max(1, Math.round(record.meanBatch))
  const batched = await runTrial({ kind: 'plain', batch, json: 'before' }, seconds)
  const stringified = await runTrial({ kind: 'plain', batch, json: 'inside' }, seconds)
  return { record, single, batched, stringified }
}

type Measured = ReadonlyMap<number, readonly Round[]>

async function runAll(rounds: number, seconds: number): Promise<Measured> {
  const measured = new Map(IN_FLIGHT.map((inFlight) => [inFlight, [] as Round[]]))
  for (let round = 1; round <= rounds; round++)
    for (const [inFlight, results] of measured) {
      const result = await runRound(inFlight, seconds)
      results.push(result)
      const rates = Object.entries<TrialResult>({ ...result }).map(
        ([name, { eventsPerSecond }]) => `${name} ${perSecond(eventsPerSecond)}`,
      )
      console.error(`${roundTitle(round, rounds)}, ${inFlight} in flight: ${rates.join(', ')}`)
    }
  return measured
}

const ratesOf = (rounds: readonly Round[], name: keyof Round): number[] =>
  rounds.map((round) => round[name].eventsPerSecond)

const REFERENCES = ['single', 'batched', 'stringified'] as const

const rateTable = (measured: Measured): string[] =>
  table(
    [
      ...['calls in flight', '`record()` events/s', 'p50', 'p99', 'events per commit'],
      ...['plain, a transaction per row', 'plain, batches like ours'],
      'plain, batches, with `JSON.stringify`',
    ],
    [...measured].map(([inFlight, rounds]) => {
      const middle = (of: (record: TrialResult) => number, print: Print): string =>
        print(median(rounds.map(({ record }) => of(record))))
      return [
        whole(inFlight),
        withSpread(ratesOf(rounds, 'record'), whole),
        middle(({ p50 }) => p50, milliseconds),
        middle(({ p99 }) => p99, milliseconds),
        middle(({ meanBatch }) => meanBatch, whole),
        ...REFERENCES.map((name) => withSpread(ratesOf(rounds, name), whole)),
      ]
    }),
    0,
  )

const ratioTable = (measured: Measured): string[] =>
  table(
    [
      'calls in flight',
      '`record()` to a transaction per row',
      'to batches like ours',
      'to batches with `JSON.stringify`',
      'processor time per event, `record()` / batches like ours',
    ],
    [...measured].map(([inFlight, rounds]) => {
      const cpu = (name: keyof Round): string =>
        microseconds(median(rounds.map((round) => round[name].cpu)))
      return [
        whole(inFlight),
        ...REFERENCES.map((name) =>
          withSpread(ratios(ratesOf(rounds, 'record'), ratesOf(rounds, name)), times),
        ),
        `${cpu('record')} / ${cpu('batched')}`,
      ]
    }),
    0,
  )

export async function measure({ rounds, seconds }: TimedOptions): Promise<Section[]> {
  const measured = await runAll(rounds, seconds)
  const text = [
    `${measuredOn(sqliteVersion())} SQLite with WAL and \`synchronous=FULL\`, events of about 640 bytes.`,
    `Medians [min–max] of ${rounds} rounds of ${seconds} s; ratios are taken within each round.`,
    '',
    ...rateTable(measured),
    '',
    ...ratioTable(measured),
  ].join('\n')
  return [{ name: 'record', text }]
}
