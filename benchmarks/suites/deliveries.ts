import { median } from 'simple-statistics'
import type { Throughput } from '../harness/counter.js'
import { microseconds, milliseconds, perSecond, whole } from '../harness/format.js'
import { type StoreSetup, storeTitles, withDurableStore } from '../harness/open-store.js'
import type { Options, TimedOptions } from '../harness/options.js'
import { isInstalled, peerVersion } from '../harness/peers.js'
import { type Answers, runRounds } from '../harness/rounds.js'
import { defineSuite, type Goal, noSetUp, type Row, type Table } from '../harness/suite.js'
import { runOnce, Worker } from '../harness/workers.js'
import type { Job as BacklogJob, Side as BacklogSide } from '../targets/backlog-process.js'
import type { Answer as Followed, Job as FollowingJob, Kind } from '../targets/following-process.js'
import type { Side as JobSide, Trial as JobTrial } from '../targets/jobs-process.js'

/*
 * How fast a backlog is delivered, compared with loops that do the same work without subscriptions; what subscriptions and
 * tails cost the process that records; and a function on Postgres compared with a job for each event. Each trial is a process.
 */

const SIDES = ['ours', 'reference'] as const
type Side = (typeof SIDES)[number]

const ratesOf = (all: readonly Throughput[]): number[] => all.map((one) => one.eventsPerSecond)
const cpuOf = (all: readonly Throughput[]): string =>
  `${microseconds(median(all.map(({ cpu }) => cpu)))} of processor time per event`
const print = ({ eventsPerSecond }: Throughput): string => perSecond(eventsPerSecond)

interface BacklogCase {
  readonly name: string
  readonly sides: Readonly<Record<Side, BacklogSide>>
  readonly against: string
  readonly batch: number
  /** Share of the events of the log. */
  readonly share: number
  readonly atLeast: number
}

const PREPARED = 'the same requests, prepared'
const WEBHOOK = { ours: 'webhook', reference: 'posts' } as const

const BACKLOG: readonly BacklogCase[] = [
  {
    name: 'function, batches of 100',
    sides: { ours: 'function', reference: 'pages' },
    against: 'loop over `pages`',
    batch: 100,
    share: 1,
    atLeast: 0.7,
  },
  {
    name: 'webhook, batches of 100, signed',
    sides: WEBHOOK,
    against: PREPARED,
    batch: 100,
    share: 1,
    atLeast: 0.6,
  },
  {
    name: 'webhook, one event at a time, signed',
    sides: WEBHOOK,
    against: PREPARED,
    batch: 1,
    share: 0.1,
    atLeast: 0.7,
  },
]

async function backlog(_: undefined, { events, rounds }: Options): Promise<Table[]> {
  const receiver = await Worker.start<'url', string>('receiver-process.ts', null)
  const url = await receiver.ask('url')
  const measured = await withDurableStore('sqlite', async (store) => {
    const run = <Answer>(job: BacklogJob): Promise<Answer> =>
      runOnce('backlog-process.ts', { store, url }, job)
    // A tenth is the warm-up.
    await run({ fill: events * 1.1 })
    return runRounds<BacklogCase, Side, Throughput>({
      cases: BACKLOG,
      sides: SIDES,
      rounds,
      measure: ({ sides, batch, share }, side) =>
        run({ side: sides[side], batch, events: events * share }),
      titleOf: ({ name }) => name,
      print,
    })
  })
  await receiver.end()
  const rows = [...measured].map(([{ name, against, atLeast }, { ours, reference }]): Row => ({
    name,
    ours: ratesOf(ours),
    theirs: ratesOf(reference),
    against,
    print: perSecond,
    note: cpuOf(ours),
    goal: { ratio: { atLeast } },
  }))
  return [{ title: `A backlog of ${whole(events)} events on SQLite`, rows }]
}

interface BesideCase {
  readonly name: string
  readonly kinds: Readonly<Record<Side, Kind>>
  readonly against: string
  readonly stores: readonly StoreSetup['store'][]
  readonly perSecond: number
  readonly figure: 'p50' | 'p99' | 'lag'
  readonly goal?: Goal
  /** Events in the log; without them each trial has a log of its own. */
  readonly fill?: number
}

const beside = (kind: Kind): Pick<BesideCase, 'kinds' | 'against'> => ({
  kinds: { ours: kind, reference: 'none' },
  against: 'none',
})
const BEHIND = 20_000

const BESIDE: readonly BesideCase[] = [
  {
    name: 'p99 of `record()` at 1,000 events/s, beside 1,000 subscriptions to few events',
    ...beside('many subscriptions'),
    stores: ['sqlite'],
    perSecond: 1000,
    figure: 'p99',
    goal: { ratio: { atMost: 2 } },
  },
  {
    name: `p50 of \`record()\` at 200 events/s, beside 100 subscriptions that are ${whole(BEHIND)} events behind`,
    ...beside('subscriptions behind'),
    stores: ['sqlite'],
    perSecond: 200,
    figure: 'p50',
    goal: { ratio: { atMost: 2 } },
    fill: BEHIND,
  },
  {
    name: 'p99 from `created_at` to the function, at 100 events/s',
    kinds: { ours: 'subscription', reference: 'tail' },
    against: '`tail`',
    stores: ['sqlite'],
    perSecond: 100,
    figure: 'lag',
    goal: { figure: { atMost: 100 } },
  },
  {
    name: 'p99 of `record()` at 500 events/s, beside 1,000 tails with 15 filters',
    ...beside('many tails'),
    stores: ['sqlite', 'postgres'],
    perSecond: 500,
    figure: 'p99',
  },
  {
    name: `p99 of \`record()\` at 500 events/s, beside 100 tails that start ${whole(BEHIND)} events back`,
    ...beside('tails behind'),
    stores: ['sqlite', 'postgres'],
    perSecond: 500,
    figure: 'p99',
    fill: BEHIND,
  },
]

/** Trials with a log for each, or with one log for all of them. */
async function measureBeside(
  one: BesideCase,
  name: StoreSetup['store'],
  { rounds, seconds }: TimedOptions,
): Promise<Answers<Side, Followed>> {
  const { fill, kinds, perSecond } = one
  const run = <Answer>(store: StoreSetup, job: FollowingJob): Promise<Answer> =>
    runOnce('following-process.ts', store, job)
  const measure = async (shared: StoreSetup | undefined) => {
    const measured = await runRounds<BesideCase, Side, Followed>({
      cases: [one],
      sides: SIDES,
      rounds,
      measure(_, side) {
        const trial = { kind: kinds[side], perSecond, seconds }
        if (shared) return run(shared, trial)
        return withDurableStore(name, (own) => run(own, trial))
      },
      titleOf: ({ name }) => name,
      print: (answer) => milliseconds(answer[one.figure]),
    })
    return measured.get(one)!
  }
  if (fill === undefined) return measure(undefined)
  return withDurableStore(name, async (store) => {
    await run(store, { fill })
    return measure(store)
  })
}

async function besideTables(_: undefined, options: Options): Promise<Table[]> {
  const rows: Row[] = []
  for (const one of BESIDE)
    for (const store of one.stores) {
      const { ours, reference } = await measureBeside(one, store, options)
      const rate = perSecond(median(ours.map((answer) => answer.perSecond)))
      rows.push({
        name: `${storeTitles[store]}: ${one.name}`,
        ours: ours.map((answer) => answer[one.figure]),
        theirs: reference.map((answer) => answer[one.figure]),
        against: one.against,
        print: milliseconds,
        note: `${rate} recorded`,
        goal: one.goal,
      })
    }
  return [{ title: 'Recording beside deliveries, in one process', rows }]
}

const JOB_EVENTS = 20_000
const JOB_PEERS = ['pg-boss', 'graphile-worker'] as const

async function jobs(_: undefined, { rounds, events }: Options): Promise<Table[]> {
  const count = Math.min(events, JOB_EVENTS)
  const peers = JOB_PEERS.filter(isInstalled)
  const measured = await withDurableStore('postgres', (store) =>
    runRounds<typeof store, JobSide, Throughput>({
      cases: [store],
      sides: ['daybook', ...peers],
      rounds,
      measure(store, side) {
        const trial: JobTrial = { side, events: count }
        return runOnce('jobs-process.ts', store, trial)
      },
      titleOf: () => 'jobs',
      print,
    }),
  )
  const [answers] = [...measured.values()] as [Answers<JobSide, Throughput>]
  const rows = peers.map((peer): Row => ({
    name: 'batches of 1,000, compared with a job for each event',
    ours: ratesOf(answers.daybook),
    theirs: ratesOf(answers[peer]),
    against: `${peer} ${peerVersion(peer)}`,
    print: perSecond,
    note: cpuOf(answers.daybook),
    goal: { ratio: { atLeast: 3 } },
  }))
  return [{ title: `Calling a function with each of ${whole(count)} events on Postgres`, rows }]
}

export const suite = defineSuite<undefined>({
  setUp: noSetUp,
  parts: { backlog, beside: besideTables, jobs },
})
