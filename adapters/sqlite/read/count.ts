import type { Clock, Microseconds } from '../../../src/event/timestamp.js'
import { type Decision, thenDecided } from '../../../src/filter/steps.js'
import { createTimeSlices } from '../../../src/filter/time-slices.js'
import type { Span } from '../../../src/store-kit/counting/count-plan.js'
import type { Slice } from '../../../src/store-kit/counting/slices.js'
import type { Tally } from '../../../src/store-kit/counting/tally.js'
import { indexFilter } from '../../../src/store-kit/index/index-filter.js'
import { type CountPorts, countWith } from '../../../src/store-kit/planning/count-planner.js'
import { compileStoredFilter } from '../../../src/store-kit/stored-filter.js'
import type { CountsQuery, EventCounts } from '../../../src/store/counts.js'
import type { WaitOptions } from '../../../src/store/store.js'
import { type EventRow, rowToLazyEvent } from '../schema/rows.js'
import type { Tables } from '../schema/log-tables.js'
import { countGroups, isEmptyRange } from './count-groups.js'
import { openSealed } from './count-sealed.js'
import { portsOf } from './list.js'
import { pushDownEvents } from './pushdown-event.js'
import { readLogState, scanEvents } from './scan.js'
import { createSlices, type Indexed } from './session.js'

/** A log, and how many events its index must have for a count to use it. */
export interface Countable extends Indexed {
  readonly minIndexed: number
}

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
  const { connection } = log.tables
  const start = performance.now()
  const span = await connection.retry(() => spanOf(log.tables, clock()), options)
  return countWith(countPorts(log, options), query, span, start)
}

/** The file, as the planner of counts reads it. */
export function countPorts(log: Countable, options: WaitOptions): CountPorts {
  const { tables, minIndexed } = log
  const { connection } = tables
  return {
    async find(where, latest) {
      const logState = await connection.retry(() => readLogState(connection), options)
      const ports = portsOf({
        indexed: log,
        query: { where, sorts: [], limit: 1 },
        filter: indexFilter(where),
        isBounded: false,
        toEvent: rowToLazyEvent,
        logState,
        options,
        latest,
      })
      const isIndexed = logState.sealed >= minIndexed
      return isIndexed ? ports : { ...ports, filter: undefined }
    },
    openSealed: (bounds, latest) =>
      openSealed(log, createSlices(log, options, latest), bounds, minIndexed),
    addSlices: (tally, slices) =>
      (tally.groupFields ? countGroups : countRows)(tables, tally, slices, options),
  }
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
  const where = pushDownEvents(tally.shared)
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
