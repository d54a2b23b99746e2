import { microseconds, milliseconds, perSecond, ratios, whole } from '../harness/format.js'
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
/** `maxBatch` of the store: with 1,000 calls in flight its transactions have this size. */
const LARGE_BATCH = 500
const SOME = 64

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
  const group = 'Recording, SQLite: `record()` compared with better-sqlite3 alone, `strict`'
  const { record, some, largeInside, large, batched, single, smallInside, small } = await runTrials(
    {
      record: { kind: 'record', inFlight: 1000 },
      largeInside: { kind: 'raw', batch: LARGE_BATCH, json: 'inside' },
      large: { kind: 'raw', batch: LARGE_BATCH, json: 'before' },
      batched: { kind: 'raw', batch: 100, json: 'before' },
      single: { kind: 'raw', batch: 1, json: 'before' },
      some: { kind: 'record', inFlight: SOME },
      smallInside: { kind: 'raw', batch: SOME, json: 'inside' },
      small: { kind: 'raw', batch: SOME, json: 'before' },
    },
    options,
  )
  const row = (
    name: string,
    results: readonly TrialResult[],
    theirs: readonly TrialResult[],
    min?: number,
  ): Row => {
    const [ours, figures] = [ratesOf(results), ratesOf(theirs)]
    const ratio = ratios(ours, figures)
    return rowOf({
      group,
      name,
      daybook: ours,
      reference: { figures },
      ratio,
      print: perSecond,
      goals: min === undefined ? [] : [goalFor('atLeast', min, ratio)],
    })
  }
  const many = '1,000 in flight; batches of'
  const fewer = `${SOME} in flight; batches of`
  return [
    row(`${many} ${LARGE_BATCH}, with \`JSON.stringify\``, record, largeInside, 0.8),
    row(`${many} ${LARGE_BATCH}, JSON text made before`, record, large),
    row(`${many} 100, JSON text made before`, record, batched, 0.5),
    row('1,000 in flight; a transaction per row, JSON text made before', record, single, 20),
    row(`${fewer} ${SOME}, with \`JSON.stringify\``, some, smallInside, 0.6),
    row(`${fewer} ${SOME}, JSON text made before`, some, small),
  ]
}

async function loopRows(options: TimedOptions): Promise<Row[]> {
  const { paced } = await runTrials({ paced: { kind: 'paced', perSecond: PER_SECOND } }, options)
  const group = `Recording, SQLite: ${whole(PER_SECOND)} events per second`
  const reached = ratesOf(paced)
  const delays = paced.map(({ blockedP99 }) => blockedP99!)
  const cpu = paced.flatMap(({ callerCpu }) => callerCpu ?? [])
  // A store that falls behind blocks the loop less.
  const share = reached.map((rate) => rate / PER_SECOND)
  const loopRow = rowOf({
    group,
    name: 'event loop delay, p99',
    daybook: delays,
    print: milliseconds,
    note: `at least ${perSecond(Math.min(...reached))} reached`,
    goals: [
      goalFor('below', 4, delays, { print: milliseconds }),
      goalFor('atLeast', 0.95, share, { of: 'of the rate' }),
    ],
  })
  if (cpu.length === 0) return [loopRow]
  const cpuRow = rowOf({
    group,
    name: "processor time of the host's thread per event",
    daybook: cpu,
    print: microseconds,
    goals: [goalFor('atMost', 6, cpu, { print: microseconds })],
  })
  return [loopRow, cpuRow]
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
      const theirs = ratesOf(others[peer])
      const ratio = ratios(ratesOf(record), theirs)
      const min = inFlight === 1 && peer !== 'emmett' ? 0.9 : 1
      rows.push(
        rowOf({
          group: 'Peers on SQLite, one event per call, equally durable',
          chart: 'recording-sqlite',
          name: `${name} ${peerVersion(packages[0]!)}, ${whole(inFlight)} in flight${NOTES[peer] ?? ''}`,
          daybook: ratesOf(record),
          reference: { figures: theirs },
          ratio,
          print: perSecond,
          goals: [goalFor('atLeast', min, ratio)],
        }),
      )
    }
  }
  return rows
}

export async function measure(options: TimedOptions): Promise<Row[]> {
  return [...(await limitRows(options)), ...(await loopRows(options)), ...(await peerRows(options))]
}
