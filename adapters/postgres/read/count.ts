import type { Span } from '../../../src/store-kit/counting/count-plan.js'
import type { CountsQuery, EventCounts } from '../../../src/store/counts.js'
import { createTally, type Tally } from '../../../src/store-kit/counting/tally.js'
import { throwIfAborted } from '../../../src/errors.js'
import { bothOf } from '../../../src/filter/ast.js'
import type { TimeBounds } from '../../../src/filter/bounds.js'
import { createTimeSlices, filterInTurns } from '../../../src/filter/time-slices.js'
import { compileFilterInSteps } from '../../../src/filter/evaluate.js'
import { sql } from '../../../src/store-kit/sql.js'
import type { Microseconds } from '../../../src/event/timestamp.js'
import { countAtOnce } from './count-at-once.js'
import { countInParts } from './count-in-parts.js'
import type { TimedEvent } from './count-run.js'
import { countStatements } from './count-statements.js'
import type { LogIndex } from '../index/log-index.js'
import { listBounds } from './list-plan.js'
import { readOpen } from '../schema/live-rows.js'
import type { Names } from '../schema/names.js'
import type { Snapshot } from '../log/snapshot.js'
import type { Run } from './ranges.js'
import { numbered } from './sql.js'

/** The time range of events that can match. */
export const countBounds = ({ visible, where }: CountsQuery): TimeBounds =>
  listBounds({ where: bothOf(visible, where) })

async function readSpan(
  run: Run,
  { readable, liveEvents }: Names,
  clock: Microseconds | undefined,
): Promise<Span> {
  const [row] = await run(
    sql(
      `SELECT
         least((SELECT min(created_at) FROM ${readable.sql()}), (SELECT min(created_at) FROM ${liveEvents})),
         greatest((SELECT max(created_at) FROM ${readable.sql()}), (SELECT max(created_at) FROM ${liveEvents})),
         coalesce(?::bigint, (extract(epoch FROM clock_timestamp()) * 1000000)::bigint)`,
      clock ?? null,
    ),
  )
  const [first, last, now] = row!
  return { first: first === null ? undefined : Number(first), last: Number(last), now: Number(now) }
}

/** The open events to count, without their texts if no figure needs them. */
async function readLive(
  { ask, open }: Snapshot,
  names: Names,
  { shared, groupFields }: Tally,
): Promise<TimedEvent[]> {
  const events = groupFields ? open.map(({ base }) => base) : await readOpen(ask, names, open)
  const matches = compileFilterInSteps(shared)
  const timed = open.map(({ time }, i) => ({ time, event: events[i]! }))
  return filterInTurns(timed, ({ event }) => matches(event))
}

export interface CountContext {
  readonly names: Names
  /** `undefined` if the index must not be used. */
  readonly index: LogIndex | undefined
  readonly clock: Microseconds | undefined
  readonly signal: AbortSignal | undefined
}

/**
 * Counts in one snapshot. If there are few events, or the index finds that few match, one statement
 * counts all of them, which may take half of the time. Otherwise the slices are counted in parts; when
 * the time is over, the server cancels the current part, and its rows are not counted.
 */
export async function countEvents(
  snapshot: Snapshot,
  query: CountsQuery,
  { names, index, clock, signal }: CountContext,
): Promise<EventCounts> {
  const end = performance.now() + query.within
  const run: Run = (query) => {
    throwIfAborted(signal)
    return snapshot.ask(numbered(query), ...query.params)
  }
  const tally = createTally(query, await readSpan(run, names, clock))
  const slices = tally.rounds.flat()
  const live = await readLive(snapshot, names, tally)
  const statements = countStatements(query, tally, names.foreignIds)
  const count = { run, signal, names, slices, live, statements, tally, end }
  const isDone =
    slices.length === 0 || (query.within > 0 && (await countAtOnce(count, snapshot, index)))
  if (!isDone) await countInParts(count)
  return createTimeSlices().finish(tally.counts())
}
