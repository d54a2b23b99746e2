import { setTimeout as delay } from 'node:timers/promises'
import pg from 'pg'
import { microseconds, milliseconds, perSecond, type Print, whole } from '../harness/format.js'
import { watchPostgresIndex } from '../harness/index-watch.js'
import type { TrialResult } from '../harness/meter.js'
import type { TimedOptions } from '../harness/options.js'
import { startServer, withPostgres } from '../harness/postgres-server.js'
import { runRounds } from '../harness/rounds.js'
import { openServerMeter, spentBetween } from '../harness/server-cost.js'
import { defineSuite, noSetUp, type Row, type Table } from '../harness/suite.js'
import { Worker } from '../harness/workers.js'
import type { Job, ProcessSpent } from '../targets/capacity-process.js'

/*
 * What recording into Postgres costs per commit and per event, and the price of a standby. Processor time and WAL include
 * those of the index.
 */

type Recorder = Worker<Job, unknown>

/** The first call opens the store. */
async function startRecorder(url: string): Promise<Recorder> {
  const recorder: Recorder = await Worker.start('capacity-process.ts', { store: 'postgres', url })
  await recorder.ask({ inFlight: 1, seconds: 1 })
  return recorder
}

async function untilIndexed(url: string): Promise<void> {
  const index = watchPostgresIndex(url)
  try {
    await index.caughtUp()
  } finally {
    await index.close()
  }
}

/** Small and large batches. With more calls in flight recording would wait for the index. */
const [SMALL, LARGE, MANY] = [1, 200, 1000] as const
/** So that small batches fill several segments of the index too, and the index is seen at work. */
const LONGER = 5
const TICK_MS = 10

interface Trial {
  readonly commits: number
  readonly events: number
  /** Milliseconds while the calls ran. */
  readonly time: number
  /** Milliseconds of processor time and bytes of WAL until the index had caught up. */
  readonly client: number
  readonly server: number
  readonly wal: number
}

/** Runs a job, waits for the index, and returns what both have taken. */
async function runTrial(url: string, inFlight: number, seconds: number): Promise<Trial> {
  const recorder = await startRecorder(url)
  const meter = await openServerMeter(url)
  const spentByClient = (): Promise<ProcessSpent> => recorder.ask('spent') as Promise<ProcessSpent>
  try {
    await untilIndexed(url)
    const server = await meter.read()
    const client = await spentByClient()
    const start = performance.now()
    await recorder.ask({ inFlight, seconds })
    const time = performance.now() - start
    const { commits, events } = await spentByClient()
    await untilIndexed(url)
    const spent = spentBetween(server, await meter.read())
    return {
      time,
      commits: commits - client.commits,
      events: events - client.events,
      client: (await spentByClient()).cpu - client.cpu,
      server: spent.cpu,
      wal: spent.wal,
    }
  } finally {
    await meter.close()
    await recorder.end()
  }
}

type Quantity = 'time' | 'client' | 'server' | 'wal'

/** The costs of a commit and of an event, as the line through two trials with batches of different sizes. */
function costsOf(quantity: Quantity, small: Trial, large: Trial): [commit: number, event: number] {
  const determinant = small.commits * large.events - large.commits * small.events
  return [
    (small[quantity] * large.events - large[quantity] * small.events) / determinant,
    (small.commits * large[quantity] - large.commits * small[quantity]) / determinant,
  ]
}

const SIZE = `SELECT sum(pg_total_relation_size(oid))::float8 AS bytes, (SELECT count(*)::float8 FROM daybook.events) AS events,
    (SELECT count(*)::float8 FROM daybook.events WHERE created_at <= (SELECT sealed_to FROM daybook.index_state)) AS indexed
  FROM pg_class WHERE relnamespace = 'daybook'::regnamespace AND relkind IN ('r', 'S')`

interface LogSize {
  readonly bytes: number
  readonly events: number
  readonly indexed: number
}

async function sizeOf(url: string): Promise<LogSize> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  const { rows } = await client.query<LogSize>(SIZE)
  await client.end()
  return rows[0]!
}

/** Records without a pause, and then waits for the index. */
async function measureIndex(
  url: string,
  seconds: number,
): Promise<{ readonly bytesPerEvent: number; readonly indexedPerSecond: number }> {
  const recorder = await startRecorder(url)
  const before = await sizeOf(url)
  const start = performance.now()
  await recorder.ask({ inFlight: MANY, seconds })
  const after = await sizeOf(url)
  const took = (performance.now() - start) / 1000
  await untilIndexed(url)
  const { bytes, events } = await sizeOf(url)
  await recorder.end()
  return {
    bytesPerEvent: bytes / events,
    indexedPerSecond: (after.indexed - before.indexed) / took,
  }
}

const micro: Print = (value) => microseconds(value * 1000)
const bytes: Print = (value) => `${whole(value)} bytes`

const QUANTITIES: readonly (readonly [name: string, quantity: Quantity, print: Print])[] = [
  ['time until the next commit', 'time', micro],
  ['processor time of the recording process', 'client', micro],
  ['processor time of the server', 'server', micro],
  ['WAL', 'wal', bytes],
]

const costs = (_: undefined, { seconds }: TimedOptions): Promise<Table[]> =>
  withPostgres(async (url) => {
    const small = await runTrial(url, SMALL, seconds * LONGER)
    const large = await runTrial(url, LARGE, seconds)
    const { bytesPerEvent, indexedPerSecond } = await measureIndex(url, seconds * LONGER)
    const rows = QUANTITIES.flatMap(([name, quantity, print]): Row[] => {
      const [commit, event] = costsOf(quantity, small, large)
      return [
        { name: `a commit: ${name}`, ours: [commit], print },
        { name: `an event: ${name}`, ours: [event], print },
      ]
    })
    return [
      {
        title: 'Costs of one log',
        text: `Fitted to ${SMALL} and ${LARGE} calls in flight, so that a cost of the one may come out a little below zero.`,
        rows: [
          ...rows,
          { name: 'an event: disk, with the index', ours: [bytesPerEvent], print: bytes },
          {
            name: 'events that the index of a log takes',
            ours: [indexedPerSecond],
            print: perSecond,
          },
        ],
      },
    ]
  })

/** How a commit waits for a standby. The first one does not. */
const GUARANTEES = {
  asynchronous: 'asynchronous standby',
  on: 'synchronous standby, `on`',
  remote_apply: 'synchronous standby, `remote_apply`',
} as const

type Guarantee = keyof typeof GUARANTEES

const guarantees = Object.keys(GUARANTEES) as Guarantee[]

async function setGuarantee(url: string, guarantee: Guarantee): Promise<void> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  const isSynchronous = guarantee !== 'asynchronous'
  await client.query(`ALTER SYSTEM SET synchronous_standby_names = '${isSynchronous ? '*' : ''}'`)
  await client.query(`ALTER SYSTEM SET synchronous_commit = ${isSynchronous ? guarantee : 'on'}`)
  await client.query('SELECT pg_reload_conf()')
  const expected = isSynchronous ? 'sync' : 'async'
  const state = 'SELECT sync_state FROM pg_stat_replication'
  for (;;) {
    const { rows } = await client.query<{ sync_state: string }>(state)
    if (rows.length === 1 && rows[0]!.sync_state === expected) break
    await delay(TICK_MS)
  }
  await client.end()
}

async function standby(_: undefined, { rounds, seconds }: TimedOptions): Promise<Table[]> {
  const server = await startServer()
  const follower = await server.replicate()
  try {
    const recorder = await startRecorder(server.url)
    const measured = await runRounds<number, Guarantee, TrialResult>({
      cases: [1, 100],
      sides: guarantees,
      rounds,
      async measure(inFlight, guarantee) {
        await setGuarantee(server.url, guarantee)
        return (await recorder.ask({ inFlight, seconds })) as TrialResult
      },
      titleOf: (inFlight) => `${inFlight} in flight`,
      print: ({ eventsPerSecond }) => perSecond(eventsPerSecond),
    })
    await recorder.end()
    const ratesOf = (results: readonly TrialResult[]): number[] =>
      results.map(({ eventsPerSecond }) => eventsPerSecond)
    const rows = [...measured].flatMap(([inFlight, answers]) =>
      guarantees.slice(1).map((name): Row => ({
        name: `${GUARANTEES[name]}, ${inFlight} in flight`,
        ours: ratesOf(answers[name]),
        theirs: ratesOf(answers.asynchronous),
        print: perSecond,
        note: `a call p50 ${answers[name].map(({ p50 }) => milliseconds(p50)).join(', ')}`,
      })),
    )
    return [
      {
        title: 'The price of a standby, compared with an asynchronous one',
        text: 'The standby takes processor time from the server on this one machine.',
        rows,
      },
    ]
  } finally {
    await follower.stop()
    await server.stop()
  }
}

export const suite = defineSuite<undefined>({ setUp: noSetUp, parts: { costs, standby } })
