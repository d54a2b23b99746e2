import type { Span } from '../../../src/store-kit/counting/count-plan.js'
import type { Slice } from '../../../src/store-kit/counting/slices.js'
import type { CountsQuery, EventCounts } from '../../../src/store/counts.js'
import { createTally, type Tally } from '../../../src/store-kit/counting/tally.js'
import {
  completeCounts,
  countOthers,
  withoutValues,
} from '../../../src/store-kit/index/counted-figures.js'
import { compileStoredFilter } from '../../../src/store-kit/stored-filter.js'
import { type Decision, thenDecided } from '../../../src/filter/steps.js'
import { createTimeSlices } from '../../../src/filter/time-slices.js'
import type { WaitOptions } from '../../../src/store/store.js'
import { type Clock, type Microseconds } from '../../../src/event/timestamp.js'
import { type Countable, countByIndex } from './count-by-index.js'
import { countCandidates } from './count-candidates.js'
import { countGroups, isEmptyRange } from './count-groups.js'
import { addAtTimes, addCovered } from './covered-events.js'
import { pushDownAttribute } from './pushdown.js'
import { pushDownWhere } from './pushdown-where.js'
import { type EventRow, rowToLazyEvent } from '../schema/rows.js'
import { scanEvents } from './scan.js'
import type { Tables } from '../schema/tables.js'

const SPAN = `SELECT min(first) AS first, max(last) AS last FROM (
    SELECT min(created_at) AS first, max(created_at) AS last FROM daybook_live
    UNION ALL SELECT (SELECT min(created_at) FROM daybook_events), (SELECT max(created_at) FROM daybook_events)
  )`

/** Implements `EventStore.count`. */
export async function countEvents(
  log: Countable,
  query: CountsQuery,
  clock: Clock,
  options: WaitOptions,
): Promise<EventCounts> {
  const { tables } = log
  const end = performance.now() + query.within
  const span = await tables.connection.retry(() => spanOf(tables, clock()), options)
  const tally = createTally(query, span)
  const addSlices = (to: Tally, slices: readonly Slice[]): Promise<void> =>
    (to.groupFields ? countGroups : countRows)(tables, to, slices, options)
  const addAll = (to: Tally): Promise<void> => addSlices(to, to.rounds.flat())

  const count = { query, span, end }
  const indexed = await countByIndex({ ...log, query, tally, end, options })
  if (indexed)
    return completeCounts(count, indexed.figures, indexed.covered, {
      async rest(exact) {
        await addCovered(tables, exact, indexed, options)
        await addSlices(exact, indexed.rest)
      },
      async others(others) {
        const { covered, rest, matching, shared } = indexed
        const times = others.own.size > 0 ? shared : matching
        if (!times) return addAll(others)
        if (!(await addAtTimes(tables, { tally: others, covered, options, end }, times))) return
        await addCovered(tables, others, indexed, options)
        await addSlices(others, rest)
      },
    })
  const first = createTally(withoutValues(query), span)
  const isApart = first.groupFields && !tally.groupFields
  const counted = isApart ? first : tally
  // Events that the index finds are read sooner than a sample of all.
  if (counted.groupFields || !(await countCandidates(log, counted, end, options)))
    await addAll(counted)
  return countOthers(count, await createTimeSlices().finish(counted.counts()), addAll)
}

function spanOf({ connection }: Tables, now: Microseconds): Span {
  const { first, last } = connection.statement(SPAN).get() as {
    readonly first: Microseconds | null
    readonly last: Microseconds | null
  }
  return { first: first ?? undefined, last: last ?? 0, now }
}

async function countRows(
  tables: Tables,
  tally: Tally,
  wanted: readonly Slice[],
  options: WaitOptions,
): Promise<void> {
  const matches = compileStoredFilter(tally.shared)
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
