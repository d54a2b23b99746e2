/*
 * How fast `record` is on SQLite, beside the same rows put in by better-sqlite3 alone:
 *
 *   npm run build
 *   npx tsx --tsconfig benchmarks/tsconfig.json benchmarks/record.ts [--rounds 5] [--seconds 2] [--write]
 *
 * That tsconfig has `daybook` lead to the built package, as users get it. Every trial runs in a process
 * and a new file of its own, side by side with what it is compared to, so that each ratio is taken
 * within one round. Files go to the system's folder for temporary files (TMPDIR): it should be on a
 * disk, as on a file system in memory a commit costs nothing. `--write` puts the result into results.md.
 */
import { readOptions } from '../harness/options.js'
import type { TrialResult } from '../harness/meter.js'
import {
  measuredCode,
  median,
  microseconds,
  milliseconds,
  type Print,
  processor,
  row,
  sqliteVersion,
  times,
  whole,
  withSpread,
  writeSection,
} from '../harness/format.js'
import { runTrial } from '../targets/sqlite-trial.js'

const IN_FLIGHT = [1, 64, 1000]

/** What one round found for one number of calls in flight. */
interface Comparison {
  readonly ours: TrialResult
  /** One transaction for each row. */
  readonly single: TrialResult
  /** Batches of our mean size, their JSON text made before the clock ran. */
  readonly batched: TrialResult
  /** The same with `JSON.stringify` of each row inside. */
  readonly stringified: TrialResult
}

async function compare(inFlight: number, seconds: number): Promise<Comparison> {
  const single = await runTrial({ kind: 'plain', batch: 1, json: 'before' }, seconds)
  const ours = await runTrial({ kind: 'record', inFlight }, seconds)
  const batch = Math.max(1, Math.round(ours.meanBatch))
  const batched = await runTrial({ kind: 'plain', batch, json: 'before' }, seconds)
  const stringified = await runTrial({ kind: 'plain', batch, json: 'inside' }, seconds)
  return { ours, single, batched, stringified }
}

async function measure(rounds: number, seconds: number): Promise<Map<number, Comparison[]>> {
  const found = new Map(IN_FLIGHT.map((inFlight) => [inFlight, [] as Comparison[]]))
  for (let round = 1; round <= rounds; round++) {
    for (const inFlight of IN_FLIGHT) {
      const comparison = await compare(inFlight, seconds)
      found.get(inFlight)!.push(comparison)
      const rates = Object.entries(comparison as unknown as Record<string, TrialResult>).map(
        ([name, { eventsPerSecond }]) => `${name} ${whole(eventsPerSecond)}`,
      )
      console.error(`round ${round} of ${rounds}, ${inFlight} in flight: ${rates.join(', ')}`)
    }
  }
  return found
}

function ratesTable(found: ReadonlyMap<number, readonly Comparison[]>): string[] {
  const lines = [...found].map(([inFlight, rounds]) => {
    const rate = (of: (round: Comparison) => TrialResult): string =>
      withSpread(
        rounds.map((round) => of(round).eventsPerSecond),
        whole,
      )
    const middle = (of: (ours: TrialResult) => number, print: Print): string =>
      print(median(rounds.map((round) => of(round.ours))))
    return row(
      whole(inFlight),
      rate((round) => round.ours),
      middle((ours) => ours.p50, milliseconds),
      middle((ours) => ours.p99, milliseconds),
      middle((ours) => ours.meanBatch, whole),
      rate((round) => round.single),
      rate((round) => round.batched),
      rate((round) => round.stringified),
    )
  })
  return [
    row(
      'calls in flight',
      '`record()` events/s',
      'p50',
      'p99',
      'events a commit',
      'plain, a transaction per row',
      'plain, batches like ours',
      'plain, batches, `JSON.stringify` inside',
    ),
    row('--:', '--:', '--:', '--:', '--:', '--:', '--:', '--:'),
    ...lines,
  ]
}

function ratiosTable(found: ReadonlyMap<number, readonly Comparison[]>): string[] {
  const lines = [...found].map(([inFlight, rounds]) => {
    const ratio = (to: (round: Comparison) => TrialResult): string =>
      withSpread(
        rounds.map((round) => round.ours.eventsPerSecond / to(round).eventsPerSecond),
        times,
      )
    const cpu = (of: (round: Comparison) => TrialResult): string =>
      microseconds(median(rounds.map((round) => of(round).cpu)))
    return row(
      whole(inFlight),
      ratio((round) => round.single),
      ratio((round) => round.batched),
      ratio((round) => round.stringified),
      `${cpu((round) => round.ours)} / ${cpu((round) => round.batched)}`,
    )
  })
  return [
    row(
      'calls in flight',
      '`record()` to a transaction per row',
      'to batches like ours',
      'to batches, `JSON.stringify` inside',
      'processor time of an event, `record()` / batches like ours',
    ),
    row('--:', '--:', '--:', '--:', '--:'),
    ...lines,
  ]
}

async function report(rounds: number, seconds: number): Promise<string> {
  const code = measuredCode()
  const found = await measure(rounds, seconds)
  const date = new Date().toISOString().slice(0, 10)
  return [
    `Measured ${date} on ${processor()}, ${sqliteVersion()}: ${code}, SQLite with WAL and \`synchronous=FULL\`, events of`,
    `about 640 bytes. Median [least–greatest] of ${rounds} rounds of ${seconds} s; ratios are taken within each round.`,
    '',
    ...ratesTable(found),
    '',
    ...ratiosTable(found),
  ].join('\n')
}

const { rounds, seconds, write } = readOptions({ rounds: 5, seconds: 2 })
const text = await report(rounds, seconds)
console.log(text)
if (write) writeSection('record', text)
