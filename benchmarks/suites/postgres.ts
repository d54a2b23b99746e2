import { setTimeout as delay } from 'node:timers/promises'
import { median } from 'simple-statistics'
import { milliseconds, percent, perSecond, whole } from '../harness/format.js'
import type { TimedOptions } from '../harness/options.js'
import { peerVersion } from '../harness/peers.js'
import { type Answers, runRounds } from '../harness/rounds.js'
import { defineSuite, type Goal, type Row, type Table } from '../harness/suite.js'
import { type Outcome, withWorkerPool, type WorkerPool } from '../targets/worker-pool.js'

/*
 * `record` on Postgres. Trials start with an empty table. At the end of each, all acknowledged events must be stored.
 * Server and writers run on the same machine.
 */

const EMMETT = `emmett-postgresql ${peerVersion('@event-driven-io/emmett-postgresql')}`
const PG_BOSS = `pg-boss ${peerVersion('pg-boss')}`

const ratesOf = (outcomes: readonly Outcome[]): number[] =>
  outcomes.map(({ eventsPerSecond }) => eventsPerSecond)
const middle = (outcomes: readonly Outcome[], figure: 'p50' | 'p99' | 'meanBatch'): number =>
  median(outcomes.map((outcome) => outcome[figure]))
const print = ({ eventsPerSecond }: Outcome): string => perSecond(eventsPerSecond)
const latencyOf = (outcomes: readonly Outcome[]): string =>
  `a call p50 ${milliseconds(middle(outcomes, 'p50'))}, p99 ${milliseconds(middle(outcomes, 'p99'))}`

/** The same rows in batches like ours, one after the other in each process. */
const INSERT = '`INSERT` of as many rows into the same table'

interface Case {
  readonly processes: number
  readonly inFlight: number
}

const CASES: readonly Case[] = [1, 4].flatMap((processes) =>
  [1, 64, 1000].map((inFlight) => ({ processes, inFlight })),
)

type Side = 'record' | 'insert' | 'emmett' | 'pg-boss' | 'emmett batches' | 'pg-boss batches'

interface Reference {
  readonly side: Side
  readonly name: string
  readonly goalOf?: (one: Case) => Goal | undefined
}

const asFast = (): Goal => ({ ratio: { atLeast: 1 } })
const REFERENCES: readonly Reference[] = [
  { side: 'insert', name: INSERT, goalOf: () => ({ ratio: { atLeast: 0.8 } }) },
  { side: 'emmett', name: `${EMMETT}, one event per call`, goalOf: asFast },
  { side: 'pg-boss', name: `${PG_BOSS}, one event per call`, goalOf: asFast },
  { side: 'emmett batches', name: `${EMMETT}, 10 calls of 100 events`, goalOf: asFast },
  { side: 'pg-boss batches', name: `${PG_BOSS}, 10 calls of 100 events`, goalOf: asFast },
]

const isBatched = (side: Side): boolean => side.endsWith('batches')
/** Only with many calls in flight is it natural to send events together. */
const takes = ({ inFlight }: Case, side: Side): boolean => inFlight === 1000 || !isBatched(side)
const titleOf = ({ processes, inFlight }: Case): string =>
  `${processes} × ${whole(inFlight)} in flight`

async function record(pool: WorkerPool, { rounds, seconds }: TimedOptions): Promise<Table[]> {
  const batches = new Map<Case, number>()
  const runSide = async (one: Case, side: Side): Promise<Outcome> => {
    const { processes, inFlight } = one
    if (isBatched(side)) {
      const writer = side === 'emmett batches' ? 'emmett' : 'pg-boss'
      return pool.run(processes, { writer, batch: 100, inFlight: 10, seconds })
    }
    const writer = side as 'record' | 'insert' | 'emmett' | 'pg-boss'
    if (writer === 'insert')
      return pool.run(processes, { writer, batch: batches.get(one)!, inFlight: 1, seconds })
    const outcome = await pool.run(processes, { writer, batch: 1, inFlight, seconds })
    if (writer === 'record') batches.set(one, Math.max(1, Math.round(outcome.meanBatch)))
    return outcome
  }
  const rows: Row[] = []
  for (const one of CASES) {
    const references = REFERENCES.filter(({ side }) => takes(one, side))
    const measured = await runRounds<Case, Side, Outcome>({
      cases: [one],
      sides: ['record', ...references.map(({ side }) => side)],
      rounds,
      measure: runSide,
      titleOf,
      print,
    })
    const answers = measured.get(one)!
    for (const [at, { side, name, goalOf }] of references.entries())
      rows.push({
        name: titleOf(one),
        ours: ratesOf(answers.record),
        theirs: ratesOf(answers[side]),
        against: name,
        print: perSecond,
        ...(at === 0 && {
          note: `${latencyOf(answers.record)}, ${whole(middle(answers.record, 'meanBatch'))} events per commit`,
        }),
        goal: goalOf?.(one),
      })
  }
  await pool.endWorkers()
  return [
    {
      title: 'Processes × calls in flight in each',
      text: 'Each caller of emmett has a stream of its own. The latency is that of the process where a call takes longest.',
      rows,
    },
  ]
}

/*
 * Many writers with one call in flight each. `commit_delay` makes the flush of a commit wait
 * (https://www.postgresql.org/docs/current/runtime-config-wal.html). Each writer has a log and a pool of its own, as a
 * process has. They share two processes, because more of them than the machine has cores would measure how Node starts; in
 * one case each has its own.
 */

const FLUSHES_MS = [1, 3]
const WRITERS = ['record', 'insert', 'emmett', 'pg-boss'] as const
type WriterSide = (typeof WRITERS)[number]

interface Writers {
  readonly flushMs: number
  readonly writers: number
  readonly processes: number
}

const WRITER_CASES: readonly Writers[] = FLUSHES_MS.flatMap((flushMs) => [
  ...[1, 2, 4, 8, 16, 32].map((writers) => ({
    flushMs,
    writers,
    processes: Math.min(writers, 2),
  })),
  { flushMs, writers: 16, processes: 16 },
])

/** The peers open several connections for each writer. */
const MAX_PEERS = 16
const sidesOf = ({ writers }: Writers): readonly WriterSide[] =>
  writers > MAX_PEERS ? ['record', 'insert'] : WRITERS

async function setFlush({ client }: WorkerPool, flushMs: number): Promise<void> {
  await client.query(`ALTER SYSTEM SET commit_delay = ${flushMs * 1000}`)
  await client.query('ALTER SYSTEM SET commit_siblings = 0')
  await client.query('SELECT pg_reload_conf()')
}

type WriterAnswers = Answers<WriterSide, Outcome>

const NAMES: Readonly<Record<WriterSide, string>> = {
  record: '',
  insert: '`INSERT`',
  emmett: EMMETT,
  'pg-boss': PG_BOSS,
}

const writerRows = (one: Writers, answers: WriterAnswers): Row[] =>
  sidesOf(one)
    .slice(1)
    .map((side, at) => ({
      name: one.processes > 2 ? `${one.writers}, a process each` : whole(one.writers),
      ours: ratesOf(answers.record),
      theirs: ratesOf(answers[side]),
      against: `${NAMES[side]}, p50 ${milliseconds(middle(answers[side], 'p50'))}`,
      print: perSecond,
      ...(at === 0 && { note: latencyOf(answers.record) }),
    }))

/** A chart of the latency of a call in Mermaid. */
function latencyChart(found: readonly (readonly [Writers, WriterAnswers])[]): string[] {
  const drawn = found.filter(([{ processes }]) => processes <= 2)
  const line = (side: WriterSide): string =>
    `  line [${drawn.map(([, answers]) => middle(answers[side], 'p50').toFixed(2)).join(', ')}]`
  return [
    '```mermaid',
    'xychart-beta',
    '  title "A call, p50: record (first line) and INSERT"',
    `  x-axis "writers" [${drawn.map(([{ writers }]) => writers).join(', ')}]`,
    '  y-axis "ms"',
    line('record'),
    line('insert'),
    '```',
  ]
}

async function processes(pool: WorkerPool, { rounds, seconds }: TimedOptions): Promise<Table[]> {
  const found: [Writers, WriterAnswers][] = []
  for (const one of WRITER_CASES) {
    const measured = await runRounds<Writers, WriterSide, Outcome>({
      cases: [one],
      sides: sidesOf(one),
      rounds,
      prepare: ({ flushMs }) => setFlush(pool, flushMs),
      measure: ({ writers, processes }, writer) =>
        pool.run(processes, {
          ...{ writer, batch: 1, inFlight: writers / processes, seconds },
          hasOwnWriters: true,
        }),
      titleOf: ({ writers, flushMs }) => `${writers} writers, ${flushMs} ms`,
      print,
    })
    found.push([one, measured.get(one)!])
    // More processes take memory and a share of the cores.
    if (one.processes > 2) await pool.endWorkers()
  }
  await pool.endWorkers()
  await setFlush(pool, 0)
  return FLUSHES_MS.map((flushMs) => {
    const some = found.filter(([one]) => one.flushMs === flushMs)
    return {
      title: `Writers with one call in flight each, on a disk whose flush takes ${flushMs} ms longer`,
      rows: some.flatMap(([one, answers]) => writerRows(one, answers)),
      after: latencyChart(some),
    }
  })
}

/** How far the index falls behind while `record` is called without a pause. */

const IN_FLIGHT = 1000
/** A trial takes so many times the measured seconds: long enough to add more events than may be unindexed. */
const LONGER = 12
const SAMPLE_MS = 250
/** The default of the store's option `maxUnindexed`. */
const MAX_UNINDEXED = 65_536

const UNINDEXED = `SELECT count(*)::int AS count FROM daybook.events
  WHERE created_at > (SELECT sealed_to FROM daybook.index_state)`

interface Lag {
  readonly outcome: Outcome
  /** The maximum number of events that were in no segment. */
  readonly behind: number
  /** Share of the events that were indexed at the end. */
  readonly indexed: number
}

async function runLag(pool: WorkerPool, processes: number, seconds: number): Promise<Lag> {
  let [behind, last, isOver] = [0, 0, false]
  const sample = async (): Promise<void> => {
    while (!isOver) {
      last = (await pool.client.query<{ count: number }>(UNINDEXED)).rows[0]!.count
      behind = Math.max(behind, last)
      await delay(SAMPLE_MS)
    }
  }
  const task = { writer: 'record', batch: 1, inFlight: IN_FLIGHT, seconds } as const
  const running = pool.run(processes, task).finally(() => (isOver = true))
  const [outcome] = await Promise.all([running, sample()])
  return { outcome, behind, indexed: 1 - last / outcome.stored }
}

/** `maxUnindexed`, the eighth that a process adds between two checks, and a batch. */
const maxBehind = (processes: number): number =>
  MAX_UNINDEXED + processes * (MAX_UNINDEXED / 8 + 2 * IN_FLIGHT)

async function index(pool: WorkerPool, { rounds, seconds }: TimedOptions): Promise<Table[]> {
  const measured = await runRounds({
    cases: [1, 4],
    sides: ['record'],
    rounds,
    measure: (processes) => runLag(pool, processes, seconds * LONGER),
    titleOf: (processes) => `${processes} processes`,
    print: ({ behind }) => `fell ${whole(behind)} events behind`,
  })
  await pool.endWorkers()
  const rows = [...measured].map(([processes, { record: lags }]): Row => {
    const outcomes = lags.map(({ outcome }) => outcome)
    const indexed = percent(median(lags.map((lag) => lag.indexed)))
    return {
      name: processes === 1 ? 'one process' : `${processes} processes`,
      ours: lags.map(({ behind }) => behind),
      print: whole,
      note: `${perSecond(median(ratesOf(outcomes)))} recorded, ${indexed} indexed at the end, ${latencyOf(outcomes)}`,
      goal: { figure: { atMost: maxBehind(processes) } },
    }
  })
  return [
    {
      title: `Events that are not indexed, ${whole(IN_FLIGHT)} calls in flight in each process for ${seconds * LONGER} s`,
      text: `Beyond ${whole(MAX_UNINDEXED)} events that are not indexed, recording waits for the index (\`maxUnindexed\`).`,
      rows,
    },
  ]
}

export const suite = defineSuite<WorkerPool>({
  setUp: (_, use) => withWorkerPool(use),
  parts: { record, processes, index },
})
