import { milliseconds, perSecond, ratios, whole } from '../harness/format.js'
import type { TrialResult } from '../harness/meter.js'
import { isInstalled, peerVersion } from '../harness/peers.js'
import type { TimedOptions } from '../harness/options.js'
import { goalFor, type Row, rowOf } from '../harness/results.js'
import { type Answers, runRounds } from '../harness/rounds.js'
import type { SqlitePeer } from '../targets/sqlite-peers.js'
import { runTrial, type TrialKind } from '../targets/sqlite-trial.js'

/*
 * `record` on SQLite, compared with raw rows and with other libraries, and the event loop delay at a
 * constant rate. Each trial has its own process and file. All are equally durable: WAL and
 * `synchronous=FULL`. At the end of a trial, all acknowledged events must be stored.
 */

const PEERS: Readonly<Record<SqlitePeer, { name: string; packages: readonly string[] }>> = {
  knex: { name: 'knex', packages: ['knex'] },
  typeorm: { name: 'typeorm', packages: ['typeorm'] },
  emmett: {
    name: 'emmett-sqlite',
    packages: ['@event-driven-io/emmett-sqlite', 'sqlite3'],
  },
}
/** Peers block the event loop while they insert, so more calls would only wait. */
const IN_FLIGHT = [100, 1]
const PER_SECOND = 20_000

const NOTES: Partial<Record<SqlitePeer, string>> = { emmett: ', calls one after the other' }

/** By trial name, the results of each round. */
async function runTrials<Name extends string>(
  trials: Readonly<Record<Name, TrialKind>>,
  { rounds, seconds }: TimedOptions,
): Promise<Answers<Name, TrialResult>> {
  const names = Object.keys(trials) as Name[]
  const results = await runRounds({
    cases: [trials],
    sides: names,
    rounds,
    measure: (_, name) => runTrial(trials[name], seconds),
    describe: (_, answers) =>
      names.map((name) => `${name} ${perSecond(answers[name].eventsPerSecond)}`).join(', '),
  })
  return results.get(trials)!
}

const ratesOf = (results: readonly TrialResult[]): number[] =>
  results.map(({ eventsPerSecond }) => eventsPerSecond)

async function limitRows(options: TimedOptions): Promise<Row[]> {
  const group = 'Recording, SQLite: `record()`, 1,000 calls in flight, `strict`'
  const { record, batched, single } = await runTrials(
    {
      record: { kind: 'record', inFlight: 1000 },
      batched: { kind: 'raw', batch: 100 },
      single: { kind: 'raw', batch: 1 },
    },
    options,
  )
  const ours = ratesOf(record)
  const comparedWith = (name: string, results: readonly TrialResult[], min: number): Row => {
    const theirs = ratesOf(results)
    const ratio = ratios(ours, theirs)
    return rowOf({
      group,
      name: `compared with raw rows of the same JSON, ${name}`,
      daybook: ours,
      reference: { figures: theirs },
      ratio,
      print: perSecond,
      goals: [goalFor('atLeast', min, ratio)],
    })
  }
  return [
    comparedWith('batches of 100', batched, 0.5),
    comparedWith('a transaction per row', single, 20),
  ]
}

async function loopRows(options: TimedOptions): Promise<Row[]> {
  const { paced } = await runTrials({ paced: { kind: 'paced', perSecond: PER_SECOND } }, options)
  const reached = ratesOf(paced)
  const delays = paced.map(({ blockedP99 }) => blockedP99!)
  // A store that falls behind blocks the loop less.
  const share = reached.map((rate) => rate / PER_SECOND)
  return [
    rowOf({
      group: `Recording, SQLite: ${whole(PER_SECOND)} events per second`,
      name: 'event loop delay, p99',
      daybook: delays,
      print: milliseconds,
      note: `at least ${perSecond(Math.min(...reached))} reached`,
      goals: [
        goalFor('below', 8, delays, { print: milliseconds }),
        goalFor('atLeast', 0.95, share, { of: 'of the rate' }),
      ],
    }),
  ]
}

async function peerRows(options: TimedOptions): Promise<Row[]> {
  const peers = (Object.keys(PEERS) as SqlitePeer[]).filter((peer) => {
    const installed = PEERS[peer].packages.every(isInstalled)
    if (!installed) console.error(`${PEERS[peer].name} is not installed; left out`)
    return installed
  })
  const rows: Row[] = []
  for (const inFlight of IN_FLIGHT) {
    const trials = Object.fromEntries(peers.map((kind) => [kind, { kind, inFlight }]))
    const { record, ...others } = (await runTrials(
      { record: { kind: 'record', inFlight }, ...trials },
      options,
    )) as Answers<'record' | SqlitePeer, TrialResult>
    for (const peer of peers) {
      const { name, packages } = PEERS[peer]
      const [ours, theirs] = [ratesOf(record), ratesOf(others[peer])]
      const ratio = ratios(ours, theirs)
      rows.push(
        rowOf({
          group: 'Peers on SQLite, one event per call, equally durable',
          chart: 'recording-sqlite',
          name: `${name} ${peerVersion(packages[0]!)}, ${whole(inFlight)} in flight${NOTES[peer] ?? ''}`,
          daybook: ours,
          reference: { figures: theirs },
          ratio,
          print: perSecond,
          goals: [goalFor('atLeast', 1, ratio)],
        }),
      )
    }
  }
  return rows
}

export async function measure(options: TimedOptions): Promise<Row[]> {
  return [...(await limitRows(options)), ...(await loopRows(options)), ...(await peerRows(options))]
}
