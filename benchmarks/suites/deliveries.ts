import { median } from 'simple-statistics'
import { microseconds, milliseconds, perSecond, ratios, whole } from '../harness/format.js'
import type { Throughput } from '../harness/counter.js'
import { withDurableStore, type DurableSetup } from '../harness/open-store.js'
import { type Size, SIZES, type TimedOptions } from '../harness/options.js'
import { isInstalled, peerVersion } from '../harness/peers.js'
import { goalFor, type Row, rowOf } from '../harness/results.js'
import { type Answers, runRounds } from '../harness/rounds.js'
import { Worker } from '../harness/workers.js'
import type { Job as BacklogJob, Side, Trial as BacklogTrial } from '../targets/backlog-process.js'
import type { Side as JobSide, Trial as JobTrial } from '../targets/jobs-process.js'
import type {
  Answer as SubscribedAnswer,
  Job as SubscribedJob,
  Kind,
} from '../targets/subscribed-process.js'

/*
 * Deliveries of subscriptions: how fast a backlog is delivered, compared with loops that do the same work without subscriptions; what
 * subscriptions cost the process that records; and a function on Postgres compared with a job for each event. Each trial is a process.
 */

interface Options extends TimedOptions {
  readonly size: Size
  readonly part: 'backlog' | 'beside' | 'jobs' | 'all'
}

/** Starts a process for one trial. */
async function runTrial<Answer>(file: string, setup: unknown, job: unknown): Promise<Answer> {
  const worker = await Worker.start<unknown, Answer>(file, setup)
  const answer = await worker.ask(job)
  await worker.end()
  return answer
}

interface BacklogCase {
  readonly name: string
  readonly ours: Side
  readonly reference: { readonly side: Side; readonly name: string }
  readonly batch: number
  /** Share of the events of the log. */
  readonly share: number
  readonly atLeast: number
}

const BACKLOG: readonly BacklogCase[] = [
  {
    name: 'function, batches of 100',
    ours: 'function',
    reference: { side: 'pages', name: 'loop over `pages`' },
    batch: 100,
    share: 1,
    atLeast: 0.7,
  },
  {
    name: 'webhook, batches of 100, signed',
    ours: 'webhook',
    reference: { side: 'posts', name: 'the same requests, prepared' },
    batch: 100,
    share: 0.5,
    atLeast: 0.6,
  },
  {
    name: 'webhook, one event at a time, signed',
    ours: 'webhook',
    reference: { side: 'posts', name: 'the same requests, prepared' },
    batch: 1,
    share: 0.05,
    atLeast: 0.7,
  },
]

const SIDES = ['ours', 'reference'] as const
type Rates = Answers<(typeof SIDES)[number], Throughput>

const ratesOf = (all: readonly Throughput[]): number[] => all.map((one) => one.eventsPerSecond)
const cpuOf = (all: readonly Throughput[]): string =>
  `${microseconds(median(all.map(({ cpu }) => cpu)))} of processor time per event`

async function measureBacklog({ size, rounds }: Options): Promise<Row[]> {
  const events = SIZES[size]
  const receiver = await Worker.start<'url', string>('receiver-process.ts', null)
  const url = await receiver.ask('url')
  const measured = await withDurableStore('sqlite', async (store) => {
    const run = <Answer>(job: BacklogJob): Promise<Answer> =>
      runTrial('backlog-process.ts', { store, url }, job)
    // A tenth is the warm-up.
    await run({ fill: events * 1.1 })
    return runRounds<BacklogCase, (typeof SIDES)[number], Throughput>({
      cases: BACKLOG,
      sides: SIDES,
      rounds,
      measure({ ours, reference, batch, share }, side) {
        const trial: BacklogTrial = {
          side: side === 'ours' ? ours : reference.side,
          batch,
          events: events * share,
        }
        return run(trial)
      },
      describe: ({ name }, { ours, reference }) =>
        `${name}: ${perSecond(ours.eventsPerSecond)} of ${perSecond(reference.eventsPerSecond)}`,
    })
  })
  await receiver.end()
  return Array.from(measured, ([{ name, reference, atLeast }, rates]) =>
    backlogRow({ name, reference: reference.name, atLeast }, rates, events),
  )
}

function backlogRow(
  { name, reference, atLeast }: { name: string; reference: string; atLeast: number },
  { ours, reference: theirs }: Rates,
  events: number,
): Row {
  const ratio = ratios(ratesOf(ours), ratesOf(theirs))
  return rowOf({
    group: `Delivering a backlog on SQLite, ${whole(events)} events`,
    name,
    daybook: ratesOf(ours),
    reference: { name: reference, figures: ratesOf(theirs) },
    ratio,
    print: perSecond,
    note: cpuOf(ours),
    goals: [goalFor('atLeast', atLeast, ratio)],
  })
}

interface BesideCase {
  readonly name: string
  readonly sides: readonly [ours: Kind, reference: Kind]
  readonly reference: string
  readonly perSecond: number
  readonly figure: 'p50' | 'p99' | 'lagP99'
  readonly goal: (figures: readonly number[], ratio: readonly number[]) => Row['goals'][number]
  /** Events in the log; without them each trial has a log of its own. */
  readonly fill?: number
}

const BEHIND_EVENTS = 50_000

const BESIDE: readonly BesideCase[] = [
  {
    name: 'p99 of `record()` at 1,000 events/s, beside 1,000 subscriptions to few events',
    sides: ['selective', 'none'],
    reference: 'none',
    perSecond: 1000,
    figure: 'p99',
    goal: (_, ratio) => goalFor('atMost', 2, ratio),
  },
  {
    name: `p50 of \`record()\` at 200 events/s, beside 100 subscriptions that are ${whole(BEHIND_EVENTS)} events behind`,
    sides: ['behind', 'none'],
    reference: 'none',
    perSecond: 200,
    figure: 'p50',
    goal: (_, ratio) => goalFor('atMost', 2, ratio),
    fill: BEHIND_EVENTS,
  },
  {
    name: 'p99 from `created_at` to the function, at 100 events/s',
    sides: ['live', 'tail'],
    reference: '`tail`',
    perSecond: 100,
    figure: 'lagP99',
    goal: (figures) => goalFor('atMost', 100, figures, { print: milliseconds }),
  },
]

/** Calls `use` with a log for each trial, or with one log for all of them. */
async function measureOne(
  one: BesideCase,
  { rounds, seconds }: TimedOptions,
): Promise<Answers<'ours' | 'reference', SubscribedAnswer>> {
  const run = <Answer>(store: DurableSetup, job: SubscribedJob): Promise<Answer> =>
    runTrial('subscribed-process.ts', store, job)
  const measure = async (store: DurableSetup | undefined) => {
    const measured = await runRounds<BesideCase, (typeof SIDES)[number], SubscribedAnswer>({
      cases: [one],
      sides: SIDES,
      rounds,
      measure({ sides, perSecond }, side) {
        const trial = { kind: sides[side === 'ours' ? 0 : 1], perSecond, seconds }
        if (store) return run(store, trial)
        return withDurableStore('sqlite', (own) => run(own, trial))
      },
      describe: ({ name, figure }, { ours, reference }) =>
        `${name}: ${milliseconds(ours[figure])}, ${milliseconds(reference[figure])}`,
    })
    return measured.get(one)!
  }
  const { fill } = one
  if (fill === undefined) return measure(undefined)
  return withDurableStore('sqlite', async (store) => {
    await run(store, { fill })
    return measure(store)
  })
}

async function measureBeside(options: TimedOptions): Promise<Row[]> {
  const rows: Row[] = []
  for (const one of BESIDE) {
    const { ours, reference } = await measureOne(one, options)
    const figures = ours.map((answer) => answer[one.figure])
    const others = reference.map((answer) => answer[one.figure])
    const ratio = ratios(figures, others)
    const rates = perSecond(median(ours.map((answer) => answer.perSecond)))
    rows.push(
      rowOf({
        group: 'Recording beside deliveries on SQLite, in one process',
        name: one.name,
        daybook: figures,
        reference: { name: one.reference, figures: others },
        ratio,
        print: milliseconds,
        note: `${rates} recorded`,
        goals: [one.goal(figures, ratio)],
      }),
    )
  }
  return rows
}

const JOB_EVENTS = 20_000
const JOB_PEERS = ['pg-boss', 'graphile-worker'] as const

async function measureJobs({ rounds }: TimedOptions): Promise<Row[]> {
  const peers = JOB_PEERS.filter(isInstalled)
  const sides: readonly JobSide[] = ['daybook', ...peers]
  const answers = await withDurableStore('postgres', async (store) => {
    const url = (store as Extract<DurableSetup, { store: 'postgres' }>).url
    const measured = await runRounds<'jobs', JobSide, Throughput>({
      cases: ['jobs'],
      sides,
      rounds,
      measure(_, side) {
        const trial: JobTrial = { side, events: JOB_EVENTS }
        return runTrial<Throughput>('jobs-process.ts', url, trial)
      },
      describe: (_, all) =>
        sides.map((side) => `${side} ${perSecond(all[side].eventsPerSecond)}`).join(', '),
    })
    return measured.get('jobs')!
  })
  return peers.map((peer) => {
    const ratio = ratios(ratesOf(answers.daybook), ratesOf(answers[peer]))
    return rowOf({
      group: `Calling a function with each event on Postgres, ${whole(JOB_EVENTS)} events`,
      name: 'batches of 1,000, compared with a job for each event',
      daybook: ratesOf(answers.daybook),
      reference: { name: `${peer} ${peerVersion(peer)}`, figures: ratesOf(answers[peer]) },
      ratio,
      print: perSecond,
      note: cpuOf(answers.daybook),
      goals: [goalFor('atLeast', 3, ratio)],
    })
  })
}

export async function measure(options: Options): Promise<Row[]> {
  const { part } = options
  const isWanted = (name: Options['part']): boolean => part === name || part === 'all'
  return [
    ...(isWanted('backlog') ? await measureBacklog(options) : []),
    ...(isWanted('beside') ? await measureBeside(options) : []),
    ...(isWanted('jobs') ? await measureJobs(options) : []),
  ]
}
