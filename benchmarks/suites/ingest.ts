/*
 * How fast `record` is on SQLite, beside the limits of the file and beside what others insert an event
 * with, and whether the event loop stays free:
 *
 *   npm run build
 *   npm install --prefix benchmarks/peers
 *   npx tsx --tsconfig benchmarks/tsconfig.json benchmarks/ingest.ts [--rounds 3] [--seconds 2]
 *
 * Every trial has a process and a file to itself; those that are compared take turns. All are as
 * durable: WAL and `synchronous=FULL`. What each call was answered has to be there afterwards.
 */
import { aimFor, ratios, type Row, rowOf, tell } from '../harness/results.js'
import type { TrialResult } from '../harness/meter.js'
import { readOptions } from '../harness/options.js'
import { isInstalled, peerVersion } from '../harness/peers.js'
import { milliseconds, type Print, whole } from '../harness/format.js'
import { type Answers, takeTurns } from '../harness/rounds.js'
import { runTrial, type TrialKind } from '../targets/sqlite-trial.js'
import type { SqlitePeer } from '../targets/sqlite-peers.js'

const PEERS: Readonly<Record<SqlitePeer, { name: string; packages: readonly string[] }>> = {
  knex: { name: 'knex', packages: ['knex'] },
  typeorm: { name: 'typeorm', packages: ['typeorm'] },
  emmett: {
    name: 'emmett-sqlite',
    packages: ['@event-driven-io/emmett-sqlite', 'sqlite3'],
  },
}
// So few that some are answered while others wait, as their inserts keep the event loop.
const IN_FLIGHT = [100, 1]
const PER_SECOND = 20_000

const NOTES: Partial<Record<SqlitePeer, string>> = { emmett: ', its calls taking turns' }

const perSecond: Print = (value) => `${whole(value)}/s`

/** By name, the results of each round. */
async function inTurns<Name extends string>(
  trials: Readonly<Record<Name, TrialKind>>,
  rounds: number,
  seconds: number,
): Promise<Answers<Name, TrialResult>> {
  const names = Object.keys(trials) as Name[]
  const found = await takeTurns({
    cases: [trials],
    sides: names,
    rounds,
    measure: (_, name) => runTrial(trials[name], seconds),
    tell: (_, results) =>
      names.map((name) => `${name} ${whole(results[name].eventsPerSecond)}`).join(', '),
  })
  return found.get(trials)!
}

const ratesOf = (results: readonly TrialResult[]): number[] =>
  results.map(({ eventsPerSecond }) => eventsPerSecond)

async function limitRows(rounds: number, seconds: number): Promise<Row[]> {
  const group = 'Recording, SQLite: `record()`, 1,000 calls in flight, `strict`'
  const { record, batched, single } = await inTurns(
    {
      record: { kind: 'record', inFlight: 1000 },
      batched: { kind: 'raw', batch: 100 },
      single: { kind: 'raw', batch: 1 },
    },
    rounds,
    seconds,
  )
  const ours = ratesOf(record)
  const beside = (name: string, results: readonly TrialResult[], least: number): Row => {
    const theirs = ratesOf(results)
    const ratio = ratios(ours, theirs)
    return rowOf({
      group,
      name: `beside raw rows of the same JSON, ${name}`,
      daybook: ours,
      reference: { figures: theirs },
      ratio,
      print: perSecond,
      aims: [aimFor('atLeast', least, ratio)],
    })
  }
  return [beside('batches of 100', batched, 0.5), beside('a transaction for each', single, 20)]
}

async function loopRows(rounds: number, seconds: number): Promise<Row[]> {
  const { paced } = await inTurns(
    { paced: { kind: 'paced', perSecond: PER_SECOND } },
    rounds,
    seconds,
  )
  const reached = ratesOf(paced)
  const blocked = paced.map(({ blockedP99 }) => blockedP99!)
  // A store that falls behind would have an easy time.
  const share = reached.map((rate) => rate / PER_SECOND)
  return [
    rowOf({
      group: `Recording, SQLite: ${whole(PER_SECOND)} events a second`,
      name: 'event loop delay, p99',
      daybook: blocked,
      print: milliseconds,
      note: `${perSecond(Math.min(...reached))} were answered at least`,
      aims: [
        aimFor('below', 8, blocked, milliseconds),
        aimFor('atLeast', 0.95, share, undefined, 'of the rate'),
      ],
    }),
  ]
}

async function peerRows(rounds: number, seconds: number): Promise<Row[]> {
  const peers = (Object.keys(PEERS) as SqlitePeer[]).filter((peer) => {
    const isThere = PEERS[peer].packages.every(isInstalled)
    if (!isThere) console.error(`${PEERS[peer].name} is not installed here, and left out`)
    return isThere
  })
  const rows: Row[] = []
  for (const inFlight of IN_FLIGHT) {
    const trials = Object.fromEntries(peers.map((kind) => [kind, { kind, inFlight }]))
    const { record, ...others } = (await inTurns(
      { record: { kind: 'record', inFlight }, ...trials },
      rounds,
      seconds,
    )) as Answers<'record' | SqlitePeer, TrialResult>
    for (const peer of peers) {
      const { name, packages } = PEERS[peer]
      const [ours, theirs] = [ratesOf(record), ratesOf(others[peer])]
      const ratio = ratios(ours, theirs)
      rows.push(
        rowOf({
          group: 'Peers on SQLite, an event a call, as durable',
          name: `${name} ${peerVersion(packages[0]!)}, ${whole(inFlight)} in flight${NOTES[peer] ?? ''}`,
          daybook: ours,
          reference: { figures: theirs },
          ratio,
          print: perSecond,
          aims: [aimFor('atLeast', 1, ratio)],
        }),
      )
    }
  }
  return rows
}

const { rounds, seconds, rows } = readOptions({ rounds: 3, seconds: 2 })
tell(
  [
    ...(await limitRows(rounds, seconds)),
    ...(await loopRows(rounds, seconds)),
    ...(await peerRows(rounds, seconds)),
  ],
  rows,
)
