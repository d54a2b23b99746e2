import { compareSides, mediansOf, p99Of, type Side, type SideTimes } from '../harness/compare.js'
import { microseconds, type Print, whole } from '../harness/format.js'
import { versionOf } from '../harness/machine.js'
import type { Options } from '../harness/options.js'
import { type Material, QUERY_CASES, type QueryCase, type Sample } from '../harness/query-cases.js'
import type { Matcher } from '../harness/query-target.js'
import { createRandom } from '../harness/random.js'
import { createSampler } from '../harness/sample-events.js'
import { defineSuite, type Goal, noSetUp, type Row, type Table } from '../harness/suite.js'
import { sampleIntervalOf } from '../targets/sample-logs.js'

/*
 * Queries on the memory store, compared with sift and mingo, which test the same events from the newest
 * on until the limit is reached. Each has its own process for all rounds, and all must return the same
 * events in the same order. A million events take 2 GB or more in each process.
 */

const MATCHERS: readonly Matcher[] = ['sift', 'mingo']
/** The least ratio of a search for a substring. */
const SUBSTRING_GOALS: { readonly [name in Matcher]: number } = { sift: 2.5, mingo: 7 }

/** Prints milliseconds as microseconds. */
const asMicroseconds: Print = (value) => microseconds(value * 1000)

/** Matchers have no sort, and the times of the events exist only in our store. */
function isForAll(one: QueryCase): boolean {
  const sample: Sample = { createdAt: 0, data: { change_id: '', request_id: '' } }
  const random = createRandom(1)
  const { sort, conditions } = one.query({ events: 1, samples: [sample], random })
  const usesTime = conditions.some(({ path: [first] }) => first === 'created_at')
  return !sort && conditions.length > 0 && !usesTime
}

/** The same events as the processes generate. */
function materialOf(events: number): Material {
  const next = createSampler()
  const sampleInterval = sampleIntervalOf(events)
  const samples: Sample[] = []
  for (let i = 0; i < events; i++) {
    const { data } = next()
    if (i % sampleInterval === 0) samples.push({ createdAt: 0, data })
  }
  return { events, samples }
}

type SideName = 'daybook' | Matcher

function sidesOf(log: Material): Record<SideName, Side> {
  const { events } = log
  const common = { log, takes: () => true, flags: ['--max-old-space-size=8192'] }
  return {
    daybook: { ...common, setup: { side: 'memory', events } },
    sift: { ...common, setup: { side: 'matcher', name: 'sift', events } },
    mingo: { ...common, setup: { side: 'matcher', name: 'mingo', events } },
  }
}

function goalOf({ group }: QueryCase, name: Matcher): Goal | undefined {
  if (group === 'cont') return { ratio: { atLeast: SUBSTRING_GOALS[name] } }
  return group === 'eq' && name === 'sift' ? { figure: { atMost: 0.01 } } : undefined
}

const caseRows = (one: QueryCase, events: number, times: SideTimes<SideName>): Row[] =>
  MATCHERS.map((name) => ({
    name: one.name,
    ours: mediansOf(times.daybook!),
    theirs: mediansOf(times[name]!),
    against: `${name} ${versionOf(name)}`,
    print: asMicroseconds,
    isFaster: true,
    note: `p99 ${asMicroseconds(p99Of(times.daybook!))}`,
    goal: events < 1e6 ? undefined : goalOf(one, name),
  }))

async function lists(_: undefined, { events, rounds }: Options): Promise<Table[]> {
  const compared = await compareSides(
    QUERY_CASES.filter(isForAll),
    sidesOf(materialOf(events)),
    rounds,
    { queries: 2000, warmUp: 200, maxSeconds: 0.5, keepProcesses: true },
  )
  const rows = [...compared].flatMap(([one, times]) => caseRows(one, events, times))
  return [{ title: `${whole(events)} events in memory`, rows }]
}

export const suite = defineSuite<undefined>({ setUp: noSetUp, parts: { lists } })
