import type { Crew, Outcome } from '../targets/worker-pool.js'
import type { Subject } from '../targets/postgres-writers.js'
import {
  median,
  milliseconds,
  type Print,
  row,
  times,
  whole,
  withSpread,
} from '../harness/format.js'

/* How fast `record` is on Postgres, beside what the same server can take, and beside peers. */

const PROCESSES = [1, 4]

interface Calls {
  readonly inFlight: number
  /** Calls in flight and events a call of the peers. */
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

async function compare(
  crew: Crew,
  processes: number,
  { inFlight, peers }: Calls,
  seconds: number,
): Promise<Round> {
  const record = await crew.run(processes, { subject: 'record', batch: 1, inFlight, seconds })
  const batch = Math.round(record.meanBatch)
  if (!(batch >= 1)) throw new Error('too few commits to tell how many events shared one')
  const limit = (subject: Subject): Promise<Outcome> =>
    crew.run(processes, { subject, batch, inFlight: 1, seconds })
  const peer = (subject: Subject): Promise<Outcome> =>
    crew.run(processes, { subject, ...peers, seconds })
  return {
    record,
    insert: await limit('insert'),
    bare: await limit('bare'),
    copy: await limit('copy'),
    emmett: await peer('emmett'),
    'pg-boss': await peer('pg-boss'),
  }
}

async function measure(crew: Crew, rounds: number, seconds: number): Promise<Case[]> {
  const cases = PROCESSES.flatMap((processes) =>
    CALLS.map((calls): Case => ({ processes, calls, rounds: [] })),
  )
  for (let round = 1; round <= rounds; round++)
    for (const { processes, calls, rounds: found } of cases) {
      const outcomes = await compare(crew, processes, calls, seconds)
      found.push(outcomes)
      const rates = Object.entries(outcomes as Record<string, Outcome>).map(
        ([name, { eventsPerSecond }]) => `${name} ${whole(eventsPerSecond)}`,
      )
      console.error(
        `ingest, round ${round} of ${rounds}, ${processes} x ${calls.inFlight}: ${rates.join(', ')}`,
      )
    }
  return cases
}

const rate = ({ rounds }: Case, name: keyof Round): string =>
  withSpread(
    rounds.map((round) => round[name].eventsPerSecond),
    whole,
  )

const middle = (
  { rounds }: Case,
  name: keyof Round,
  figure: 'p50' | 'p99' | 'meanBatch',
  print: Print,
): string => print(median(rounds.map((round) => round[name][figure])))

const ratio = ({ rounds }: Case, to: keyof Round): string =>
  withSpread(
    rounds.map((round) => round.record.eventsPerSecond / round[to].eventsPerSecond),
    times,
  )

function table(heads: readonly string[], lines: readonly (readonly string[])[]): string[] {
  return [row(...heads), row(...heads.map(() => '--:')), ...lines.map((line) => row(...line))]
}

const limitsTable = (cases: readonly Case[]): string[] =>
  table(
    [
      'processes × calls in flight',
      '`record()` events/s',
      'p50',
      'p99',
      'events a commit',
      '`INSERT`, same table',
      '`INSERT`, bare table',
      '`COPY`, bare table',
      '`record()` to `INSERT`, same table',
      'to `INSERT`, bare',
      'to `COPY`, bare',
    ],
    cases.map((one) => [
      `${one.processes} × ${whole(one.calls.inFlight)}`,
      rate(one, 'record'),
      middle(one, 'record', 'p50', milliseconds),
      middle(one, 'record', 'p99', milliseconds),
      middle(one, 'record', 'meanBatch', whole),
      ...LIMITS.map((limit) => rate(one, limit)),
      ...LIMITS.map((limit) => ratio(one, limit)),
    ]),
  )

const peersTable = (cases: readonly Case[]): string[] =>
  table(
    [
      'processes × calls in flight',
      'calls of the peers',
      'emmett events/s',
      'a call, p50 / p99',
      'pg-boss events/s',
      'a call, p50 / p99',
      '`record()` to emmett',
      'to pg-boss',
    ],
    cases.map((one) => {
      const { inFlight, batch } = one.calls.peers
      const latency = (peer: keyof Round): string =>
        `${middle(one, peer, 'p50', milliseconds)} / ${middle(one, peer, 'p99', milliseconds)}`
      return [
        `${one.processes} × ${whole(one.calls.inFlight)}`,
        `${whole(inFlight)} of ${batch === 1 ? 'one event' : `${batch} events`}`,
        ...PEERS.flatMap((peer) => [rate(one, peer), latency(peer)]),
        ...PEERS.map((peer) => ratio(one, peer)),
      ]
    }),
  )

export async function ingestTables(crew: Crew, rounds: number, seconds: number): Promise<string[]> {
  const cases = await measure(crew, rounds, seconds)
  await crew.dismiss()
  return [
    '`record()` beside what the server can take: plain `INSERT` of many rows (`unnest`) into the same table with',
    'the same indexes, and `INSERT` and `COPY` of time and JSON into a table without what makes events',
    'searchable; in batches like ours, one after the other in each process, everything but the time prepared.',
    'p50 and p99 are those of the process where a call takes longest.',
    '',
    ...limitsTable(cases),
    '',
    'Peers on the same server: `appendToStream` of emmett, each caller with a stream of its own, and `send` and',
    '`insert` of pg-boss.',
    '',
    ...peersTable(cases),
  ]
}
