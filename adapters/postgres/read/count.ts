import type { Span } from '../../../src/store-kit/counting/count-plan.js'
import { groupFields } from '../../../src/store-kit/counting/group-fields.js'
import { roundsWithin } from '../../../src/store-kit/counting/covered-cells.js'
import { filterParts } from '../../../src/store-kit/counting/own-conditions.js'
import type { Rounds } from '../../../src/store-kit/counting/slices.js'
import type { CountsQuery, EventCounts } from '../../../src/store/counts.js'
import { createTally, type Tally } from '../../../src/store-kit/counting/tally.js'
import { throwIfAborted } from '../../../src/errors.js'
import { bothOf } from '../../../src/filter/ast.js'
import type { TimeBounds } from '../../../src/filter/bounds.js'
import { createTimeSlices, filterInTurns } from '../../../src/filter/time-slices.js'
import { compileFilterInSteps } from '../../../src/filter/evaluate.js'
import {
  completeCounts,
  figureQuery,
  withoutValues,
} from '../../../src/store-kit/index/counted-figures.js'
import { indexFilter, leadsByValues } from '../../../src/store-kit/index/index-filter.js'
import type { Microseconds } from '../../../src/event/timestamp.js'
import { countCandidates, countFew } from './count-at-once.js'
import { countByIndex, type IndexCount, type IndexedFigures } from './count-by-index.js'
import { countInParts } from './count-in-parts.js'
import { countRest } from './count-rest.js'
import { type CountRun, type TimedEvent } from './count-run.js'
import { type ExpectedEnds, readSpan, spanSql } from './count-span.js'
import { countStatements } from './count-statements.js'
import { sql } from '../../../src/store-kit/sql.js'
import type { LogIndex } from '../index/log-index.js'
import { readSealed, sealedStatements } from '../index/sealed-state.js'
import { listBounds } from './list-plan.js'
import { readOpen } from '../schema/live-rows.js'
import type { CheckRows } from '../schema/rows.js'
import type { Names } from '../schema/names.js'
import type { Opened, Opening, Snapshot } from '../log/snapshot.js'
import type { Run } from './ranges.js'
import { numbered } from './sql.js'

/** The time range of events that can match. */
export const countBounds = ({ visible, where }: CountsQuery): TimeBounds =>
  listBounds({ where: bothOf(visible, where) })

/** The open events to count, without their texts if no figure needs them. */
async function readLive(
  { ask, open }: Snapshot,
  names: Names,
  query: CountsQuery,
  { shared }: Tally,
): Promise<TimedEvent[]> {
  const events = groupFields(query)
    ? open.map(({ base }) => base)
    : await readOpen(ask, names, open)
  const matches = compileFilterInSteps(shared)
  const timed = open.map(({ time }, i) => ({ time, event: events[i]! }))
  return filterInTurns(timed, ({ event }) => matches(event))
}

export interface CountContext {
  readonly names: Names
  /** `undefined` if the index must not be used. */
  readonly index: LogIndex | undefined
  /** Set if SQL must not read attributes: passes on rows, without those that are damaged. */
  readonly checkParsed: CheckRows | undefined
  /** How many events the index must have for a count to use it. */
  readonly minIndexed: number
  readonly signal: AbortSignal | undefined
  readonly clock: Microseconds | undefined
  /** Where the ends of the log were expected. */
  readonly ends: ExpectedEnds
  readonly noteSpan: (span: Span) => void
}

/** The statements that are sent with the BEGIN of the snapshot. Without `minIndexed`, the index is not used. */
export function openCount(
  names: Names,
  query: CountsQuery,
  minIndexed: number | undefined,
  { clock, ends }: Pick<CountContext, 'clock' | 'ends'>,
): Opening {
  const mayUseIndex = query.within > 0 && figureQuery(query, filterParts(query)) !== undefined
  return {
    span: spanSql(names, clock, ends),
    ...(mayUseIndex && minIndexed !== undefined && sealedStatements(names, minIndexed)),
  }
}

/** One count in one snapshot. */
interface Counting extends CountContext {
  readonly snapshot: Snapshot
  readonly run: Run
  readonly query: CountsQuery
  readonly span: Span
  readonly end: number
}

/**
 * Counts in one snapshot. The index counts the events of its segments if it can tell which of them match; the others
 * are counted in SQL. Without the index, one statement counts all events if there are few, or if the index finds that
 * few match, which may take half of the time. Otherwise the slices are counted in parts; when the time is over, the
 * server cancels the current part, and its rows are not counted.
 */
export async function countEvents(
  snapshot: Snapshot,
  opened: Opened,
  query: CountsQuery,
  context: CountContext,
): Promise<EventCounts> {
  const start = performance.now()
  const run: Run = (query) => {
    throwIfAborted(context.signal)
    return snapshot.ask(numbered(query), ...query.params)
  }
  const { names, clock, ends, noteSpan } = context
  const span = readSpan(opened['span']!, ends) ?? readSpan(await run(sql(spanSql(names, clock))))!
  noteSpan(span)
  const end = start + query.within
  const counting = { ...context, snapshot, run, query, span, end }
  const tally = createTally(query, span)
  const indexed = tally.rounds.length > 0 && (await countTotals(counting, opened, tally))
  if (!indexed) return createTimeSlices().finish(tally.counts())
  return completeCounts({ query, span, end }, indexed.figures, indexed.covered, {
    async rest(exact, known) {
      const rounds = roundsWithin(exact.rounds, indexed.rest)
      await countRest(await openRun(counting, known, exact, rounds), indexed)
    },
    async others(others, unknown) {
      const count = await openRun(counting, unknown, others)
      const { index } = context
      if (index && (await countCandidates(count, snapshot, index))) return
      if (!(await countFew(count))) await countInParts(count)
    },
  })
}

/** Counts by the index; or adds all events to the tally, and returns `undefined`. */
async function countTotals(
  counting: Counting,
  opened: Opened,
  tally: Tally,
): Promise<IndexedFigures | undefined> {
  const { snapshot, index, query } = counting
  const count = await openRun(counting, query, tally)
  const filter = indexFilter(tally.shared)
  const isLookup = filter !== undefined && leadsByValues(filter)
  const byCandidates = async (): Promise<boolean> =>
    index !== undefined && (await countCandidates(count, snapshot, index))
  if (query.within === 0) {
    await countInParts(count)
    return undefined
  }
  // The events of a rare value are read sooner than the lists of all segments.
  if (isLookup && (await byCandidates())) return undefined
  const sealed = readSealed(opened)
  const indexed = sealed && index && (await countWithFacets({ ...counting, index, sealed, tally }))
  if (indexed) return indexed
  if (!isLookup && (await byCandidates())) return undefined
  if (!(await countFew(count))) await countInParts(count)
  return undefined
}

/** Counts by the index, without facets if these take too long. */
async function countWithFacets(count: IndexCount): Promise<IndexedFigures | undefined> {
  const query = withoutValues(count.query)
  const hasMore = count.query.facets.length > query.facets.length
  return (await countByIndex(count)) ?? (hasMore ? countByIndex({ ...count, query }) : undefined)
}

async function openRun(
  { run, signal, names, snapshot, end, checkParsed }: Counting,
  query: CountsQuery,
  tally: Tally,
  /** The rounds that are left to count, if they are few. */
  rest?: Rounds,
): Promise<CountRun> {
  const live = await readLive(snapshot, names, query, tally)
  const isSingle = rest !== undefined
  const statements = countStatements(query, tally, {
    foreignIds: names.foreignIds,
    isSingle,
    checkParsed,
  })
  const rounds = rest ?? tally.rounds
  return { run, signal, names, rounds, live, statements, tally, end }
}
