import { perSecond, ratios, times, whole, withSpread } from '../harness/format.js'
import { withDurableStore } from '../harness/open-store.js'
import type { TimedOptions } from '../harness/options.js'
import { goalFor, type Row, rowOf } from '../harness/results.js'
import { type CaseName, CASES } from '../targets/http-cases.js'
import { EVENTS, measureFeed, type Rounds, type Side } from './http-stores.js'
import { measureIdleReaders } from './idle-readers.js'

/*
 * The event feed on SQLite, compared with a route that sends the same bytes from memory and with one that reads rows by
 * better-sqlite3 and joins them, and its idle readers.
 */

/** The minimum ratio of the feed's rate to that of the prepared responses. */
const GOALS = { paged10: 0.5, newest10: 0.5, newest1000: 0.8 } satisfies Partial<
  Record<CaseName, number>
>
const NAMES = Object.keys(GOALS) as (keyof typeof GOALS)[]

/** The maximum of the p99 in times of the p50, for many connections. */
const MAX_TAIL = 3
const MANY_CONNECTIONS = 100

const SIDES: readonly Side[] = ['feed', 'prepared', 'raw']

const GROUP = `\`GET /api/events\` on SQLite, compared with a prepared body of the same size, ${whole(EVENTS)} events`

function rowsOf(name: keyof typeof GOALS, { feed, prepared, raw }: Rounds<Side>): Row[] {
  const { title, connections } = CASES[name]
  const ratesOf = (all: Rounds<Side>[Side]): number[] => all.map((one) => one.perSecond)
  const [ours, theirs, handwritten] = [ratesOf(feed), ratesOf(prepared), ratesOf(raw)]
  const ratio = ratios(ours, theirs)
  const rate = rowOf({
    group: GROUP,
    name: `${title}, ${connections} connections`,
    daybook: ours,
    reference: { figures: theirs },
    ratio,
    print: perSecond,
    goals: [goalFor('atLeast', GOALS[name], ratio)],
  })
  // What is left of a prepared body when any code reads the rows from SQLite.
  const limit = rowOf({
    group: GROUP,
    name: `${title}, ${connections} connections, to better-sqlite3 and concatenation, which reach ${withSpread(ratios(handwritten, theirs), times)} of the prepared body`,
    daybook: ours,
    reference: { name: 'better-sqlite3', figures: handwritten },
    ratio: ratios(ours, handwritten),
    print: perSecond,
  })
  if (connections < MANY_CONNECTIONS) return [rate, limit]
  const [tail, preparedTail] = [feed, prepared].map((all) => all.map(({ p50, p99 }) => p99 / p50))
  const latency = rowOf({
    group: GROUP,
    name: `${title}, ${connections} connections: p99 in times of p50`,
    daybook: tail!,
    reference: { figures: preparedTail! },
    print: times,
    goals: [goalFor('below', MAX_TAIL, tail!)],
  })
  return [rate, limit, latency]
}

export async function measure(options: TimedOptions): Promise<Row[]> {
  const rows = await withDurableStore('sqlite', async (store) => {
    const measured = await measureFeed({ store, names: NAMES, sides: SIDES }, options)
    return NAMES.flatMap((name) => rowsOf(name, measured.get(name)!))
  })
  return [...rows, await measureIdleReaders()]
}
