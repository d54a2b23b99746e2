import path from 'node:path'
import { median } from 'simple-statistics'
import { microseconds, perSecond, short, whole } from '../harness/format.js'
import type { TrialResult } from '../harness/meter.js'
import {
  type StoreName,
  type StoreSetup,
  storeTitles,
  withDurableStore,
} from '../harness/open-store.js'
import type { Options } from '../harness/options.js'
import { runRounds } from '../harness/rounds.js'
import { defineSuite, noSetUp, type Row, type Table } from '../harness/suite.js'
import { withTempFolder } from '../harness/temp.js'
import { runOnce } from '../harness/workers.js'
import type { Costs, Job, Kind, Setup } from '../targets/privacy-process.js'

/*
 * Costs of encrypted personal values: of recording, of sealing and opening. Each trial has a process, a log and keys of its own. Processor time counts
 * all threads of the process.
 */

const STORES: readonly StoreName[] = ['sqlite', 'postgres']
const IN_FLIGHT = [1, 64, 1000]

const runOn = <Answer>(store: StoreName, job: Job): Promise<Answer> =>
  withTempFolder((folder) =>
    withDurableStore(store, (place: StoreSetup) => {
      const setup: Setup = { place, folder: path.resolve(folder) }
      return runOnce<Answer>('privacy-process.ts', setup, job)
    }),
  )

/** Compares two kinds of recording. */
async function compared(
  [ours, theirs]: readonly [Kind, Kind],
  { rounds, seconds }: Options,
  goal: Row['goal'],
): Promise<Row[]> {
  const cases = STORES.flatMap((store) => IN_FLIGHT.map((inFlight) => ({ store, inFlight })))
  const measured = await runRounds<(typeof cases)[number], Kind, TrialResult>({
    cases,
    sides: [ours, theirs],
    rounds,
    measure: ({ store, inFlight }, kind) =>
      runOn(store, { job: 'record', inFlight, seconds, kind }),
    titleOf: ({ store, inFlight }) => `${storeTitles[store]}, ${inFlight} in flight`,
    print: ({ eventsPerSecond }) => perSecond(eventsPerSecond),
  })
  const cpuOf = (results: readonly TrialResult[]): string =>
    microseconds(median(results.map(({ cpu }) => cpu)))
  return [...measured].map(([{ store, inFlight }, answers]): Row => ({
    name: `${storeTitles[store]}, ${whole(inFlight)} in flight`,
    ours: answers[ours].map(({ eventsPerSecond }) => eventsPerSecond),
    theirs: answers[theirs].map(({ eventsPerSecond }) => eventsPerSecond),
    print: perSecond,
    note: `${cpuOf(answers[ours])} of processor time per event, ${cpuOf(answers[theirs])} without`,
    goal,
  }))
}

async function record(_: undefined, options: Options): Promise<Table[]> {
  const plain = await compared(['option', 'none'], options, { ratio: { atLeast: 0.97 } })
  const personal = await compared(['personal', 'none'], options, undefined)
  return [
    {
      title: '`record()` of types without personal attributes, with and without `privacy`',
      rows: plain,
    },
    {
      title: '`record()` of types with personal attributes, compared with the same events readable',
      rows: personal,
    },
  ]
}

/** The figures of the design: microseconds of sealing and of opening, and bytes, for each event. */
const MOST = { sealing: 15, opening: 14, bytes: 180 } as const

async function costs(_: undefined, { rounds, events }: Options): Promise<Table[]> {
  const all: Costs[] = []
  for (let round = 0; round < rounds; round++)
    all.push(await runOn<Costs>('sqlite', { job: 'costs', events }))
  const against = 'AES-256-GCM of the same bytes by node:crypto'
  const timed = (['sealing', 'opening'] as const).map((figure): Row => ({
    name: `${figure}, processor time per event`,
    ours: all.map((one) => one[figure]),
    theirs: all.map(({ cipher }) => cipher),
    against,
    print: microseconds,
    goal: { figure: { atMost: MOST[figure] } },
  }))
  const bytes: Row = {
    name: 'bytes that sealing adds to an event',
    ours: all.map((one) => one.bytes),
    print: short,
    goal: { figure: { atMost: MOST.bytes } },
  }
  return [{ title: `Sealing and opening ${whole(events)} events`, rows: [...timed, bytes] }]
}

export const suite = defineSuite<undefined>({ setUp: noSetUp, parts: { record, costs } })
