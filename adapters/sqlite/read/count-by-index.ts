import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Microseconds } from '../../../src/event/timestamp.js'
import {
  type CoveredCells,
  cutCells,
  wholeCells,
} from '../../../src/store-kit/counting/covered-cells.js'
import type { Slice } from '../../../src/store-kit/counting/slices.js'
import type { Tally } from '../../../src/store-kit/counting/tally.js'
import { figureQuery, halfwayTo } from '../../../src/store-kit/index/counted-figures.js'
import {
  type BitSet,
  emptySet,
  ordinalsOf,
  sizeOfSet,
} from '../../../src/store-kit/index/bit-set.js'
import { duplicateTimes } from '../../../src/store-kit/index/duplicate-times.js'
import {
  addFacet,
  addLevels,
  type CountedPart,
  createFigures,
  type CountedValues,
  type FigureCounts,
  type FigureQuery,
  noValues,
} from '../../../src/store-kit/index/figure-counts.js'
import type { Work } from '../../../src/store-kit/index/find-postings.js'
import type { IndexPart } from '../../../src/store-kit/index/part.js'
import { DamagedSegment } from '../../../src/store-kit/index/segment-source.js'
import type { CountsQuery } from '../../../src/store/counts.js'
import type { WaitOptions } from '../../../src/store/store.js'
import { runTimeSlice } from '../connection/time-slice.js'
import type { Sealed } from '../index/log-index.js'
import { readRemoved, removedOrdinals } from '../index/removed-events.js'
import type { Indexed } from './session.js'

/** A log, and how many events its index must have for a count to use it. */
export interface Countable extends Indexed {
  readonly minIndexed: number
}

// With more late events, their times cut the cells into too many parts.
const MAX_LATE = 100

// Reading this number of events takes some tens of milliseconds.
const MAX_READ = 5000

// Reading up to this number of events takes less time than going through the values of an attribute.
const MAX_READ_FIRST = 256

export interface IndexCount extends Omit<Countable, 'firstProbe'> {
  readonly query: CountsQuery
  readonly tally: Pick<Tally, 'shared' | 'own' | 'rounds'>
  /** When the time of the count is over, as `performance.now()` counts. Facets may take half of the remaining time. */
  readonly end: number
  readonly options: WaitOptions
}

/** Figures that the index has counted at one moment, and the cells that it does not cover. */
export interface IndexedFigures extends CoveredCells {
  /** Lacks facets that have too many values, or values that the index does not have, or for which time did not suffice. */
  readonly figures: FigureCounts
  /** The times of the events in the covered ranges that match; `undefined` for many. */
  readonly matching: readonly Microseconds[] | undefined
  /** The same without the own conditions of facets. */
  readonly shared: readonly Microseconds[] | undefined
  /** The times of the live events that are open at that moment. */
  readonly open: readonly Microseconds[]
}

/** A count, and the figures that the index has to count for it. */
interface SegmentCount extends Pick<IndexCount, 'tables' | 'minIndexed'> {
  readonly figures: FigureQuery
  /** In order of time, without gaps. */
  readonly cells: readonly Slice[]
  /** True if events may have to be read for facets or attributes. */
  readonly mayRead: boolean
  /** Takes the figures as soon as they have all but the facets, which are added later. */
  readonly take: (counted: IndexedFigures | undefined) => void
}

/**
 * Counts the events of the segments that match, and then the values of facets, without reading events, in time slices.
 * `undefined` if the index cannot have exactly the events that match, or too few of all events, or if time is up before
 * all but the facets is counted.
 */
export async function countByIndex({
  tables,
  index,
  minIndexed,
  query,
  tally,
  end,
  options,
}: IndexCount): Promise<IndexedFigures | undefined> {
  const figures = figureQuery(query, tally)
  const cells = wholeCells(tally)
  let latest = end
  const isLate = (): boolean => performance.now() >= latest
  if (!figures || cells.length === 0 || isLate()) return undefined
  const { connection } = tables
  let counted: IndexedFigures | undefined
  const take = (found: IndexedFigures | undefined): void => {
    counted = found
    latest = found ? halfwayTo(end) : end
  }
  const mayRead = query.attributes || query.facets.some((facet) => facet !== 'level')
  let work: Work<void> | undefined
  let segments: readonly IndexPart[] = []

  const step = (isOver: () => boolean): boolean => {
    const sealed = index.sealed(isOver)
    if (!sealed) return true
    if (!work || !segments.every((segment) => sealed.segments.includes(segment))) {
      segments = sealed.segments
      take(undefined)
      const count = { tables, minIndexed, figures, cells, mayRead, take }
      work = countSegments(count, sealed)
    }
    for (;;) {
      if (work.next().done || isLate()) return false
      if (isOver()) return true
    }
  }
  const slice = (): boolean => {
    try {
      return connection.snapshot(() => runTimeSlice(step, { maxSteps: 1 }))
    } catch (error) {
      work = undefined
      take(undefined)
      if (!(error instanceof DamagedSegment)) throw error
      index.setAside(error)
      return true
    }
  }
  while (await connection.retry(slice, options)) await nextTurn()
  return counted
}

const LATE = `SELECT created_at FROM daybook_late WHERE id > ? AND created_at <= ? LIMIT ${MAX_LATE + 1}`

/** Begins within the snapshot of the state, and continues in others, which have the same segments. */
function* countSegments(
  { tables, minIndexed, figures, cells, mayRead, take }: SegmentCount,
  { state, segments }: Sealed,
): Work<void> {
  const { connection } = tables
  const { removed, removedBefore } = readRemoved(connection)
  const late = connection.statement(LATE).raw(true).all(state.sealedLate, state.sealedTo) as [
    Microseconds,
  ][]
  const open = tables.live.timesBetween({ from: cells[0]!.from, to: cells.at(-1)!.to })
  const builtAt = new Map(state.segments.map((row) => [String(row.id), row.removed]))
  // A damaged segment has no values.
  const usable = segments.filter(({ id }) => builtAt.has(id))
  const size = usable.reduce((sum, part) => sum + part.size, 0)
  if (size < minIndexed || late.length > MAX_LATE) return
  const parts: { readonly part: IndexPart; readonly removed: Uint32Array }[] = []
  for (const part of usable) {
    const built = builtAt.get(part.id)!
    parts.push({ part, removed: yield* removedOrdinals(connection, part, { built, now: removed }) })
  }
  const twice = yield* duplicateTimes(parts, MAX_LATE)
  if (!twice) return
  // Each event in the other ranges is in exactly one part, or it is in `open`.
  const { covered, rest } = cutCells(cells, [
    { from: -Infinity, to: removedBefore - 1 },
    ...segments
      .filter((part) => !usable.includes(part))
      .map(({ first, last }) => ({ from: first, to: last })),
    ...[...late.map(([time]) => time), ...twice].map((time) => ({ from: time, to: time })),
    { from: state.sealedTo + 1, to: Infinity },
  ])
  const counts = createFigures(figures)
  const counted: CountedPart[] = []
  for (const { part, removed } of parts) {
    const one = yield* addLevels(counts, part, covered, removed)
    if (!one) return
    counted.push(one)
    yield
  }
  const facets = new Map<string, CountedValues>()
  const { levels, levelsOf } = counts
  const timesOf = (setOf: (part: CountedPart) => BitSet | undefined) =>
    mayRead ? timesOfFew(counted, setOf) : undefined
  const matching = timesOf(({ populations }) => populations.get(undefined)?.set)
  const shared = timesOf((one) => one.shared)
  take({ figures: { levels, levelsOf, facets }, covered, rest, open, matching, shared })
  const isRead = matching !== undefined && matching.length <= MAX_READ_FIRST
  for (const facet of figures.facets) {
    if (isRead && !figures.own.has(facet)) continue
    const found = noValues()
    if (yield* addToAll(counted, facet, found)) facets.set(facet, found)
  }
}

/** Adds the values of the facet in all parts. */
function* addToAll(
  parts: readonly CountedPart[],
  facet: string,
  found: ReturnType<typeof noValues>,
): Work<boolean> {
  for (const part of parts) {
    if (!(yield* addFacet(part, facet, found))) return false
    yield
  }
  return true
}

/** The times of the events of the sets; `undefined` for many. */
function timesOfFew(
  counted: readonly CountedPart[],
  setOf: (part: CountedPart) => BitSet | undefined,
): readonly Microseconds[] | undefined {
  const sets = counted.map((one) => ({ part: one.part, set: setOf(one) ?? emptySet(0) }))
  if (sets.reduce((sum, { set }) => sum + sizeOfSet(set), 0) > MAX_READ) return undefined
  return sets.flatMap(({ part, set }) =>
    Array.from(ordinalsOf(set), (ordinal) => part.timeOf(ordinal)),
  )
}
