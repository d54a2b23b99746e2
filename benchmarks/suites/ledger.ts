import path from 'node:path'
import { median, quantile } from 'simple-statistics'
import {
  microseconds,
  milliseconds,
  perSecond,
  type Print,
  short,
  whole,
} from '../harness/format.js'
import type { TrialResult } from '../harness/meter.js'
import {
  type StoreName,
  type StoreSetup,
  storeTitles,
  withDurableStore,
} from '../harness/open-store.js'
import type { Options } from '../harness/options.js'
import { type Answers, runRounds } from '../harness/rounds.js'
import { defineSuite, noSetUp, type Row, type Table } from '../harness/suite.js'
import { withTempFolder } from '../harness/temp.js'
import { runOnce } from '../harness/workers.js'
import type { Job, Paced, PerEvent, Proved, Sealed, Setup } from '../targets/ledger-process.js'

/*
 * What a ledger costs beside recording, and how fast it seals, verifies and proves. Each trial has a process and a log of its own. Processor
 * time counts all threads of the process, and depends less on other load than the time on the clock.
 */

const STORES: readonly StoreName[] = ['sqlite', 'postgres']
const SIDES = ['with', 'without'] as const
type Side = (typeof SIDES)[number]

/** Calls `use` with a function that runs jobs on one log, each in a process of its own. */
const withLog = <Result>(
  store: StoreName,
  use: (run: <Answer>(job: Job) => Promise<Answer>) => Promise<Result>,
): Promise<Result> =>
  withTempFolder((folder) =>
    withDurableStore(store, (place: StoreSetup) => {
      const setup: Setup = { place, folder: path.resolve(folder) }
      return use((job) => runOnce('ledger-process.ts', setup, job))
    }),
  )

const runOn = <Answer>(store: StoreName, job: Job): Promise<Answer> =>
  withLog(store, (run) => run<Answer>(job))

const IN_FLIGHT = [1, 64, 1000]

async function record(_: undefined, { rounds, seconds }: Options): Promise<Table[]> {
  const cases = STORES.flatMap((store) => IN_FLIGHT.map((inFlight) => ({ store, inFlight })))
  const measured = await runRounds<(typeof cases)[number], Side, TrialResult>({
    cases,
    sides: SIDES,
    rounds,
    measure: ({ store, inFlight }, side) =>
      runOn(store, { kind: 'record', inFlight, seconds, ledger: side === 'with' }),
    titleOf: ({ store, inFlight }) => `${storeTitles[store]}, ${inFlight} in flight`,
    print: ({ eventsPerSecond }) => perSecond(eventsPerSecond),
  })
  const cpuOf = (results: readonly TrialResult[]): string =>
    microseconds(median(results.map(({ cpu }) => cpu)))
  const rows = [...measured].map(([{ store, inFlight }, answers]): Row => ({
    name: `${storeTitles[store]}, ${whole(inFlight)} in flight`,
    ours: answers.with.map(({ eventsPerSecond }) => eventsPerSecond),
    theirs: answers.without.map(({ eventsPerSecond }) => eventsPerSecond),
    print: perSecond,
    note: `${cpuOf(answers.with)} of processor time per event, ${cpuOf(answers.without)} without`,
    goal: { ratio: { atLeast: 0.97 } },
  }))
  return [{ title: '`record()` with a ledger, compared with a log without', rows }]
}

const RATES: Readonly<Record<StoreName, number>> = { sqlite: 10_000, postgres: 5000 }
const MIN_SECONDS = 5
const seconds: Print = (value) => `${short(value)} s`

function besideRows(store: StoreName, answers: Answers<Side, Paced>): Row[] {
  const of = (side: Side, figure: (answer: Paced) => number): number[] => answers[side].map(figure)
  const perEvent = ({ cpu, perSecond }: Paced): number => (cpu * 1e6) / perSecond
  const name = `${storeTitles[store]}, ${perSecond(RATES[store])}`
  const without = of('without', perEvent)
  return [
    {
      name: `${name}: processor time of sealing per event`,
      ours: of('with', perEvent).map((cost, i) => cost - without[i]!),
      print: microseconds,
      goal: { figure: { atMost: 5 } },
    },
    {
      name: `${name}: how far sealing is behind`,
      ours: of('with', ({ behind }) => behind),
      print: seconds,
      goal: { figure: { atMost: 2 } },
    },
    ...(['p99', 'max'] as const).map((figure): Row => ({
      name: `${name}: event loop delay, ${figure}`,
      ours: of('with', ({ loop }) => loop[figure]),
      theirs: of('without', ({ loop }) => loop[figure]),
      print: milliseconds,
    })),
    {
      name: `${name}: events recorded`,
      ours: of('with', (answer) => answer.perSecond),
      theirs: of('without', (answer) => answer.perSecond),
      print: perSecond,
    },
  ]
}

async function beside(_: undefined, { rounds, seconds: given }: Options): Promise<Table[]> {
  const measured = await runRounds<StoreName, Side, Paced>({
    cases: STORES,
    sides: SIDES,
    rounds,
    measure: (store, side) =>
      runOn(store, {
        kind: 'paced',
        ledger: side === 'with',
        perSecond: RATES[store],
        seconds: Math.max(MIN_SECONDS, given),
      }),
    titleOf: (store) => storeTitles[store],
    print: ({ cpu, perSecond }) => microseconds((cpu * 1e6) / perSecond),
  })
  const rows = [...measured].flatMap(([store, answers]) => besideRows(store, answers))
  return [{ title: 'Sealing beside recording at a constant rate', rows }]
}

const wallOf = ({ wall }: PerEvent): number => wall
const cpuOf = ({ cpu }: PerEvent): number => cpu

/** The rows of processor time and of time on the clock. */
const timeRows = (
  name: string,
  against: string,
  ours: readonly PerEvent[],
  theirs: readonly PerEvent[],
): Row[] =>
  [['processor time', cpuOf] as const, ['time', wallOf] as const].map(([what, figure]): Row => ({
    name: `${name}: ${what} per event`,
    ours: ours.map(figure),
    theirs: theirs.map(figure),
    against,
    print: microseconds,
  }))

/** The bytes of an event in the tables of the ledger. */
const MAX_BYTES = 44

async function sealing(_: undefined, { rounds, events }: Options): Promise<Table[]> {
  const rows: Row[] = []
  const backlog = Math.min(events, 200_000)
  for (const store of STORES) {
    const all: Sealed[] = []
    for (let round = 0; round < rounds; round++)
      await withLog(store, async (run) => {
        await run({ kind: 'fill', events: backlog })
        all.push(await run<Sealed>({ kind: 'seal', events: backlog }))
      })
    const name = storeTitles[store]
    rows.push(
      ...timeRows(
        name,
        'SHA-256 of the same bytes',
        all.map((one) => one.sealing),
        all.map(({ hashing }) => hashing),
      ),
      {
        name: `${name}: bytes of the tables per event`,
        ours: all.map(({ bytes }) => bytes),
        print: short,
        goal: { figure: { atMost: MAX_BYTES } },
      },
    )
  }
  return [{ title: `Sealing a backlog of ${whole(backlog)} events`, rows }]
}

async function verify(_: undefined, { rounds, events }: Options): Promise<Table[]> {
  const rows: Row[] = []
  for (const store of STORES)
    await withLog(store, async (run) => {
      await run({ kind: 'fill', events })
      await run({ kind: 'seal', events })
      const [ours, theirs]: PerEvent[][] = [[], []]
      for (let round = 0; round < rounds; round++) {
        theirs!.push(await run<PerEvent>({ kind: 'read' }))
        ours!.push(await run<PerEvent>({ kind: 'verify' }))
      }
      const [cpu, time] = timeRows(storeTitles[store], 'a plain read of the table', ours!, theirs!)
      // A million events in ten seconds.
      rows.push(cpu!, { ...time!, goal: { figure: { atMost: 10 } } })
    })
  return [{ title: `Verifying ${whole(events)} events`, rows }]
}

/** Leaves of the tree for each event of the option. */
const LEAVES_PER_EVENT = 10

async function prove(_: undefined, { events }: Options): Promise<Table[]> {
  const leaves = LEAVES_PER_EVENT * events
  const rows: Row[] = []
  for (const store of STORES) {
    const { milliseconds: all } = await runOn<Proved>(store, { kind: 'prove', leaves })
    rows.push({
      name: storeTitles[store],
      ours: [...all],
      print: milliseconds,
      note: `p99 ${milliseconds(quantile([...all], 0.99))}`,
      goal: { figure: { atMost: 5 } },
    })
  }
  return [{ title: `The proof of an event of a tree of ${whole(leaves)} leaves`, rows }]
}

export const suite = defineSuite<undefined>({
  setUp: noSetUp,
  parts: { record, beside, sealing, verify, prove },
})
