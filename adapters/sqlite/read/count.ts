import type { Span } from '../../../src/store-kit/counting/count-plan.js'
import type { Slice } from '../../../src/store-kit/counting/slices.js'
import type { CountsQuery, EventCounts } from '../../../src/store/counts.js'
import { createTally, type Tally } from '../../../src/store-kit/counting/tally.js'
import { wholeCells } from '../../../src/store-kit/counting/covered-cells.js'
import { addIndexed } from '../../../src/store-kit/index/counted-figures.js'
import { compileFilterInSteps } from '../../../src/filter/evaluate.js'
import { type Decision, thenDecided } from '../../../src/filter/steps.js'
import { createTimeSlices } from '../../../src/filter/time-slices.js'
import type { WaitOptions } from '../../../src/store/store.js'
import { type Clock, type Microseconds } from '../../../src/event/timestamp.js'
import { countGroups, countSeparately, isEmptyRange } from './count-groups.js'
import { countFigures } from './count-figures.js'
import { addCovered, INDEX_SHARE } from './covered-events.js'
import type { CountingIndex, IndexedCount } from './indexed-parts.js'
import { pushDownAttribute } from './pushdown.js'
import { pushDownWhere } from './pushdown-where.js'
import { type EventRow, rowToLazyEvent } from '../schema/rows.js'
import { scanEvents } from './scan.js'
import type { Tables } from '../schema/tables.js'

const SPAN = `SELECT min(first) AS first, max(last) AS last FROM (
    SELECT min(created_at) AS first, max(created_at) AS last FROM daybook_live
    UNION ALL SELECT (SELECT min(created_at) FROM daybook_events), (SELECT max(created_at) FROM daybook_events)
  )`

/** The tables of a log, and its index. */
interface Countable extends CountingIndex {
  readonly tables: Tables
}

/** Implements `EventStore.count`. */
export async function countEvents(
  { tables, ...index }: Countable,
  query: CountsQuery,
  clock: Clock,
  options: WaitOptions,
): Promise<EventCounts> {
  const span = await tables.connection.retry(() => spanOf(tables, clock()), options)
  const tally = createTally(query, span)
  const deadline = performance.now() + query.within * INDEX_SHARE
  const cells = wholeCells(tally)
  const counting = { tables, index, tally, query, span, cells, deadline, options }
  if (!tally.separateFigures || !(await countSeparately(counting))) {
    const counts = await countByIndex(counting)
    if (counts) return counts
    await countSlices(tables, tally, tally.rounds.flat(), options)
  }
  return createTimeSlices().finish(tally.counts())
}

interface Counting extends IndexedCount {
  readonly tally: Tally
  readonly query: CountsQuery
  readonly span: Span
}

/**
 * Counts what the index has, reads the events that it does not have, and counts the facets that it cannot count from a
 * sample. `undefined` if the index cannot count the total.
 */
async function countByIndex(counting: Counting): Promise<EventCounts | undefined> {
  const { tables, tally, query, span, options } = counting
  const start = performance.now()
  const counted = await countFigures(counting)
  if (!counted) return undefined
  const has = (facet: string): boolean => facet === 'level' || counted.counts.facets.has(facet)
  const facets = query.facets.filter(has)
  // Without the other facets, their conditions apply to all figures.
  const exact =
    facets.length < query.facets.length ? createTally({ ...query, facets }, span) : tally
  const slices = createTimeSlices()
  await slices.finish(addIndexed(exact, counted.counts, counted.covered, facets))
  await addCovered(tables, exact, counted, options)
  await countSlices(tables, exact, counted.rest, options)
  const counts = await slices.finish(exact.counts())
  if (exact === tally) return counts
  const left = Math.max(0, Math.round(query.within - (performance.now() - start)))
  const others = query.facets.filter((facet) => !has(facet))
  const sample = createTally({ ...query, facets: others, buckets: undefined, within: left }, span)
  await countSlices(tables, sample, sample.rounds.flat(), options)
  const sampled = await slices.finish(sample.counts())
  const all = { ...counts.facets, ...sampled.facets }
  return {
    ...counts,
    facets: Object.fromEntries(query.facets.map((facet) => [facet, all[facet]!])),
    took_ms: Math.round(performance.now() - start),
  }
}

function spanOf({ connection }: Tables, now: Microseconds): Span {
  const { first, last } = connection.statement(SPAN).get() as {
    readonly first: Microseconds | null
    readonly last: Microseconds | null
  }
  return { first: first ?? undefined, last: last ?? 0, now }
}

const countSlices = (
  tables: Tables,
  tally: Tally,
  slices: readonly Slice[],
  options: WaitOptions,
): Promise<void> => (tally.groupFields ? countGroups : countRows)(tables, tally, slices, options)

async function countRows(
  tables: Tables,
  tally: Tally,
  wanted: readonly Slice[],
  options: WaitOptions,
): Promise<void> {
  const matches = compileFilterInSteps(tally.shared)
  const where = pushDownWhere(tally.shared, pushDownAttribute)
  const slices = createTimeSlices()
  for (const slice of wanted) {
    if (tally.isOver()) return
    if (await tables.connection.retry(() => isEmptyRange(tables, slice), options)) {
      tally.seen(slice)
      continue
    }
    let { to } = slice
    const visit = (row: EventRow): Decision => {
      const event = rowToLazyEvent(row)
      const isAdded = thenDecided(
        matches(event),
        (isMatch) => isMatch && tally.add(slice.cell, event),
      )
      return thenDecided(isAdded, () => {
        if (!tally.isOver()) return false
        to = row.created_at
        return true
      })
    }
    await scanEvents(
      tables,
      { bounds: slice, direction: 'asc', where: () => where },
      visit,
      options,
    )
    tally.seen({ ...slice, to })
    if (slices.isOver()) await slices.next()
  }
}
