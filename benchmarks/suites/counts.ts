import { median } from 'simple-statistics'
import { milliseconds, whole } from '../harness/format.js'
import type { StoreSetup } from '../harness/open-store.js'
import { storeTitles } from '../harness/open-store.js'
import type { Size } from '../harness/options.js'
import { goalFor, type Goal, type Row, rowOf } from '../harness/results.js'
import { TYPES } from '../harness/sample-events.js'
import { Worker } from '../harness/workers.js'
import type { CountAnswer, CountJob } from '../targets/count-process.js'
import { openLog } from '../targets/sqlite-log.js'

/*
 * Figures over all events of a log, in the time that a count has by default. Each case has a new process in each
 * round. Goals are for logs of a million events or more.
 */

interface CountCase extends Omit<CountJob, 'times'> {
  readonly name: string
  /** The maximum of milliseconds. */
  readonly limit: number
}

const BUCKETS = { buckets: { count: 96 } } as const
const COMMON = `filter[type_eq]=${TYPES[0]!}`

export const COUNT_CASES: readonly CountCase[] = [
  { name: 'total and levels', filter: '', options: {}, limit: 300 },
  { name: '96 buckets', filter: '', options: BUCKETS, limit: 300 },
  { name: '96 buckets, a common type', filter: COMMON, options: BUCKETS, limit: 300 },
  {
    name: '96 buckets, two conditions on attributes',
    filter: 'filter[cluster_region_eq]=north&filter[attempt_gt]=2',
    options: BUCKETS,
    limit: 300,
  },
  {
    name: 'facets: level, type, username',
    filter: '',
    options: { ...BUCKETS, facets: ['level', 'type', 'username'] },
    limit: 1000,
  },
  {
    name: 'a facet of 5,000 values',
    filter: '',
    options: { facets: ['parent_code'] },
    limit: 1000,
  },
  {
    name: 'facets of 200 and of 5,000 values, two users',
    filter: 'filter[username_in][]=user0&filter[username_in][]=user3',
    options: { facets: ['type', 'parent_code'] },
    limit: 1000,
  },
]

// The first reads what the process does not have in memory.
const TIMES = 5

interface Measured {
  /** By round. */
  readonly first: number[]
  readonly later: number[]
  sampled: number
}

async function measureCase(setup: StoreSetup, one: CountCase, rounds: number): Promise<Measured> {
  const found: Measured = { first: [], later: [], sampled: 0 }
  for (let round = 0; round < rounds; round++) {
    const worker = await Worker.start<CountJob, CountAnswer>('count-process.ts', setup)
    const answer = await worker.ask({ filter: one.filter, options: one.options, times: TIMES })
    await worker.end()
    const [first, ...later] = answer.milliseconds
    found.first.push(first!)
    found.later.push(median(later))
    if (answer.exact.includes(false)) found.sampled += 1
  }
  console.error(`count, ${one.name}: ${found.later.map(milliseconds).join(', ')}`)
  return found
}

const exactGoal = (sampled: number): Goal => ({
  goal: 'exact',
  figure: sampled,
  spread: [sampled, sampled],
  met: sampled === 0,
  missedBy: sampled === 0 ? '' : 'sampled',
})

/** Counts of a log of this many events. */
export async function countRows(setup: StoreSetup, events: number, rounds: number): Promise<Row[]> {
  const rows: Row[] = []
  for (const one of COUNT_CASES) {
    const { first, later, sampled } = await measureCase(setup, one, rounds)
    rows.push(
      rowOf({
        group: `Counts, ${storeTitles[setup.store]}, ${whole(events)} events`,
        name: one.name,
        daybook: later,
        print: milliseconds,
        note: `the first of a process ${milliseconds(median(first))}`,
        goals:
          events < 1e6
            ? []
            : [goalFor('below', one.limit, later, { print: milliseconds }), exactGoal(sampled)],
      }),
    )
  }
  return rows
}

export async function measure(
  { size, rounds }: { readonly size: Size; readonly rounds: number },
  folder: string,
): Promise<Row[]> {
  const { daybook: filename, events } = await openLog(size, folder)
  return countRows({ store: 'sqlite', filename }, events, rounds)
}
