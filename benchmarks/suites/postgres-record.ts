import { median } from 'simple-statistics'
import {
  milliseconds,
  perSecond,
  type Print,
  ratios,
  table,
  times,
  whole,
  withSpread,
} from '../harness/format.js'
import type { TimedOptions } from '../harness/options.js'
import { goalFor, type Row, rowOf } from '../harness/results.js'
import { roundTitle } from '../harness/rounds.js'
import type { WriterName } from '../targets/postgres-task.js'
import type { Outcome, WorkerPool } from '../targets/worker-pool.js'

/* `record` on Postgres, compared with plain SQL on the same server, and with peers. */

const PROCESSES = [1, 4]

interface Calls {
  readonly inFlight: number
  /** Concurrent calls of the peers, and events per call. */
  readonly peers: { readonly inFlight: number; readonly batch: number }
}

const CALLS: readonly Calls[] = [
  { inFlight: 1, peers: { inFlight: 1, batch: 1 } },
  { inFlight: 64, peers: { inFlight: 64, batch: 1 } },
  { inFlight: 1000, peers: { inFlight: 10, batch: 100 } },
]
const LIMITS = ['insert', 'bare', 'copy'] as const
const PEERS = ['emmett', 'pg-boss'] as const

type Round = Readonly<Record<'record' | (typeof LIMITS)[number] | (typeof PEERS)[number], Outcome>>

interface Case {
  readonly processes: number
  readonly calls: Calls
  readonly rounds: Round[]
}

async function runRound(
  pool: WorkerPool,
  { processes, calls: { inFlight, peers } }: Case,
  seconds: number,
): Promise<Round> {
  const record = await pool.run(processes, { writer: 'record', batch: 1, inFlight, seconds })
  const batch = Math.round(record.meanBatch)
  if (!(batch >= 1)) throw new Error('there were too few commits to know their mean size')
  const limit = (writer: WriterName): Promise<Outcome> =>
    pool.run(processes, { writer, batch, inFlight: 1, seconds })
  const peer = (writer: WriterName): Promise<Outcome> =>
    pool.run(processes, { writer, ...peers, seconds })
  return {
    record,
    insert: await limit('insert'),
    bare: await limit('bare'),
    copy: await limit('copy'),
    emmett: await peer('emmett'),
    'pg-boss': await peer('pg-boss'),
  }
}

const allCases = (): Case[] =>
  PROCESSES.flatMap((processes) => CALLS.map((calls): Case => ({ processes, calls, rounds: [] })))

async function runAll(
  pool: WorkerPool,
  cases: readonly Case[],
  { rounds, seconds }: TimedOptions,
): Promise<void> {
  for (let round = 1; round <= rounds; round++)
    for (const one of cases) {
      const outcomes = await runRound(pool, one, seconds)
      one.rounds.push(outcomes)
      const rates = Object.entries<Outcome>({ ...outcomes }).map(
        ([name, { eventsPerSecond }]) => `${name} ${perSecond(eventsPerSecond)}`,
      )
      console.error(`${roundTitle(round, rounds)}, ${callsTitle(one)}: ${rates.join(', ')}`)
    }
}

const callsTitle = ({ processes, calls }: Case): string => `${processes} × ${whole(calls.inFlight)}`

const ratesOf = ({ rounds }: Case, name: keyof Round): number[] =>
  rounds.map((round) => round[name].eventsPerSecond)

const rate = (one: Case, name: keyof Round): string => withSpread(ratesOf(one, name), whole)

const ratioTo = (one: Case, name: keyof Round): string =>
  withSpread(ratios(ratesOf(one, 'record'), ratesOf(one, name)), times)

const middle = (
  { rounds }: Case,
  name: keyof Round,
  figure: 'p50' | 'p99' | 'meanBatch',
  print: Print,
): string => print(median(rounds.map((round) => round[name][figure])))

const limitTable = (cases: readonly Case[]): string[] =>
  table(
    [
      ...['processes × calls in flight', '`record()` events/s', 'p50', 'p99', 'events per commit'],
      ...['`INSERT`, same table', '`INSERT`, bare table', '`COPY`, bare table'],
      ...['`record()` to `INSERT`, same table', 'to `INSERT`, bare', 'to `COPY`, bare'],
    ],
    cases.map((one) => [
      callsTitle(one),
      rate(one, 'record'),
      middle(one, 'record', 'p50', milliseconds),
      middle(one, 'record', 'p99', milliseconds),
      middle(one, 'record', 'meanBatch', whole),
      ...LIMITS.map((limit) => rate(one, limit)),
      ...LIMITS.map((limit) => ratioTo(one, limit)),
    ]),
    0,
  )

const peerTable = (cases: readonly Case[]): string[] =>
  table(
    [
      ...['processes × calls in flight', 'calls of the peers', 'emmett events/s'],
      ...['a call, p50 / p99', 'pg-boss events/s', 'a call, p50 / p99'],
      ...['`record()` to emmett', 'to pg-boss'],
    ],
    cases.map((one) => {
      const { inFlight, batch } = one.calls.peers
      const latency = (peer: keyof Round): string =>
        `${middle(one, peer, 'p50', milliseconds)} / ${middle(one, peer, 'p99', milliseconds)}`
      return [
        callsTitle(one),
        `${whole(inFlight)} of ${batch === 1 ? 'one event' : `${batch} events`}`,
        ...PEERS.flatMap((peer) => [rate(one, peer), latency(peer)]),
        ...PEERS.map((peer) => ratioTo(one, peer)),
      ]
    }),
    0,
  )

export async function recordTables(
  pool: WorkerPool,
  rounds: number,
  seconds: number,
): Promise<string[]> {
  const cases = allCases()
  await runAll(pool, cases, { rounds, seconds })
  await pool.endWorkers()
  return [
    '`record()` compared with the limits of the server: `INSERT` of many rows (`unnest`) into the same table with the same',
    'indexes, and `INSERT` and `COPY` of time and JSON into a table without indexes on attributes. Batches have the size of',
    'ours, one after the other in each process, with everything prepared but the time. p50 and p99 are those of the process',
    'where a call takes longest.',
    '',
    ...limitTable(cases),
    '',
    'Peers on the same server: `appendToStream` of emmett, with a stream per caller, and `send` and `insert` of pg-boss.',
    '',
    ...peerTable(cases),
  ]
}

const [ONE, SOME, MANY] = CALLS as readonly [Calls, Calls, Calls]
const MIN_OF_INSERT = 0.8

function goalRow(one: Case, name: keyof Round, reference: string, min: number): Row {
  const ratio = ratios(ratesOf(one, 'record'), ratesOf(one, name))
  return rowOf({
    group:
      'Recording, Postgres: `record()`, compared with `INSERT` and with peers on the same server',
    name: `${callsTitle(one)} in flight; ${reference}`,
    daybook: ratesOf(one, 'record'),
    reference: { figures: ratesOf(one, name) },
    ratio,
    print: perSecond,
    goals: [goalFor('atLeast', min, ratio)],
  })
}

const callsOfPeer = ({ peers: { inFlight, batch } }: Calls): string =>
  batch === 1 ? 'one event per call' : `${inFlight} calls of ${batch} events`

/** The goals of recording, for one process, and for four with one call each. */
export async function recordRows(pool: WorkerPool, options: TimedOptions): Promise<Row[]> {
  const caseOf = (processes: number, calls: Calls): Case => ({ processes, calls, rounds: [] })
  const withPeers = [caseOf(1, MANY), caseOf(4, ONE)]
  const cases = [caseOf(1, ONE), caseOf(1, SOME), ...withPeers]
  await runAll(pool, cases, options)
  await pool.endWorkers()
  return [
    ...cases.map((one) =>
      goalRow(one, 'insert', '`INSERT` of as many rows into the same table', MIN_OF_INSERT),
    ),
    ...withPeers.flatMap((one) =>
      PEERS.map((peer) => goalRow(one, peer, `${peer}, ${callsOfPeer(one.calls)}`, 1)),
    ),
  ]
}
