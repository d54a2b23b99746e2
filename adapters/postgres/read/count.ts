import { throwIfAborted } from '../../../src/errors.js'
import type { Microseconds } from '../../../src/event/timestamp.js'
import { bothOf } from '../../../src/filter/ast.js'
import type { TimeBounds } from '../../../src/filter/bounds.js'
import type { Span } from '../../../src/store-kit/counting/count-plan.js'
import { filterParts } from '../../../src/store-kit/counting/own-conditions.js'
import { figureQuery } from '../../../src/store-kit/index/counted-figures.js'
import { type CountPorts, countWith } from '../../../src/store-kit/planning/count-planner.js'
import { sql } from '../../../src/store-kit/sql.js'
import type { CountsQuery, EventCounts } from '../../../src/store/counts.js'
import type { LogIndex } from '../index/log-index.js'
import { readSealed, sealedStatements } from '../index/sealed-state.js'
import type { Opened, Opening, Snapshot } from '../log/snapshot.js'
import type { Names } from '../schema/names.js'
import { limited, openSealed } from './count-sealed.js'
import { addSlices, type SlicesCount } from './count-slices.js'
import { type ExpectedEnds, readSpan, spanSql } from './count-span.js'
import { portsOf } from './list.js'
import { listBounds, planList } from './list-plan.js'
import { listTrace } from './list-trace.js'
import type { Run } from './ranges.js'
import { numbered } from './sql.js'

/** The time range of events that can match. */
export const countBounds = ({ visible, where }: CountsQuery): TimeBounds =>
  listBounds({ where: bothOf(visible, where) })

export interface CountContext extends Pick<
  SlicesCount,
  'names' | 'damages' | 'readsJson' | 'signal'
> {
  /** `undefined` if the index must not be used. */
  readonly index: LogIndex | undefined
  /** How many events the index must have for a count to use it. */
  readonly minIndexed: number
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

/** Counts in one snapshot, as `count-planner.ts` plans it. */
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
  const ports = countPorts({ ...context, snapshot, opened, run, end: start + query.within })
  return countWith(ports, query, span, start)
}

/** One count in one snapshot. */
interface Counting extends CountContext {
  readonly snapshot: Snapshot
  readonly opened: Opened
  readonly run: Run
  readonly end: number
}

function countPorts(counting: Counting): CountPorts {
  const { snapshot, opened, run, names, index, minIndexed, damages, readsJson } = counting
  const sealed = index && readSealed(opened)
  return {
    async find(where, latest) {
      const plan = planList({ query: { where, sorts: [], limit: 1 }, lazy: true }, names)
      return portsOf({
        indexed: { names, index, firstProbe: 0, damages },
        snapshot: limited(snapshot, latest),
        plan: readsJson ? plan : { ...plan, where: undefined },
        opened: {},
        run,
        steps: listTrace(run, names.events, undefined),
      })
    },
    openSealed: async (bounds, latest) =>
      sealed && openSealed({ names, snapshot, index, sealed, minIndexed }, bounds, latest),
    addSlices: (tally, slices, max) => addSlices(counting, tally, slices, max),
  }
}
