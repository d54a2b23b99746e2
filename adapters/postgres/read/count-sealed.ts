import { createHash } from 'node:crypto'
import type { TimeBounds } from '../../../src/filter/bounds.js'
import type { CoveredPart, SealedIndex } from '../../../src/store-kit/planning/count-by-index.js'
import { READ_LIMIT_EXCEEDED } from '../../../src/store-kit/planning/session.js'
import type { SegmentRow } from '../../../src/store-kit/maintenance/index-rows.js'
import type { LogIndex } from '../index/log-index.js'
import { prefetchCounts } from '../index/prefetch.js'
import { MAX_LATE, MAX_REMOVED, type SealedState } from '../index/sealed-state.js'
import { openSession } from '../index/session.js'
import type { Snapshot } from '../log/snapshot.js'
import type { Names } from '../schema/names.js'

export interface SealedCount {
  readonly names: Names
  readonly snapshot: Snapshot
  readonly index: LogIndex
  readonly sealed: SealedState
  /** How many events the index must have for a count to use it. */
  readonly minIndexed: number
}

/** The snapshot, of which the index may be read until `latest`, as `performance.now()` counts. */
export const limited = (snapshot: Snapshot, latest: number): Snapshot => ({
  ...snapshot,
  checkTime() {
    snapshot.checkTime()
    if (performance.now() > latest) throw READ_LIMIT_EXCEEDED
  },
})

/** Opens the segments for a count. `undefined` if they have too few of all events, or too many events came late. */
export function openSealed(
  { names, snapshot, index, sealed, minIndexed }: SealedCount,
  bounds: TimeBounds,
  latest: number,
): SealedIndex | undefined {
  if (sealed.late.length > MAX_LATE) return undefined
  const coverage = index.sealed(sealed)
  // Few removed events leave gaps at their times; with many, the ranges of their segments are left out.
  const removed = sealed.removedTimes.length > MAX_REMOVED ? undefined : sealed.removedTimes
  const segments = coverage.segments.filter(
    (row) =>
      row.first <= bounds.to && row.last >= bounds.from && (removed || !sealed.changed.has(row.id)),
  )
  if (segments.reduce((sum, row) => sum + sizeWithin(row, bounds), 0) < minIndexed) return undefined
  const uncounted = uncountedRanges(sealed, segments).filter(
    ({ from, to }) => from <= to && from <= bounds.to && to >= bounds.from,
  )
  const gaps = [...sealed.late, ...(removed ?? [])]
  const { cache } = coverage
  const session = openSession({
    names,
    snapshot: limited(snapshot, latest),
    coverage: { ...coverage, segments },
    bounds,
    filter: undefined,
    timesOf: () => [],
    onDamaged: (damaged) => index.setAside(damaged),
  })
  return {
    ...session,
    open: snapshot.open.map(({ time }) => time),
    removedFrom: () => NONE_REMOVED,
    maxRest: uncounted.length > 0 ? undefined : sealed.unsealed + gaps.length,
    uncovered: [
      ...uncounted,
      ...gaps.map((time) => ({ from: time, to: time })),
      { from: sealed.sealedTo + 1, to: Infinity },
    ],
    kept: {
      nameOf: ({ shared, own, facets }) =>
        createHash('sha256')
          .update(JSON.stringify([shared, [...own], facets]))
          .digest('base64'),
      find: (one, name) => cache.figures(keyOf(one, name)),
      keep: (one, name, counts) => cache.keepFigures(keyOf(one, name), counts),
      request: ({ part, ranges }, query) => prefetchCounts(part, query, ranges),
    },
  }
}

const NONE_REMOVED = new Uint32Array(0)

/** Names all that the counts of a part depend on. */
const keyOf = ({ part, ranges }: CoveredPart, query: string): string =>
  `${part.id} ${query} ${ranges.map(({ from, to }) => `${from}-${to}`).join()}`

/** About how many events of the segment are within the bounds. */
function sizeWithin({ first, last, size }: SegmentRow, { from, to }: TimeBounds): number {
  const length = Math.min(last, to) - Math.max(first, from) + 1
  return (size * length) / (last - first + 1)
}

/**
 * The ranges of which the segments may have events that were removed, or events twice: a segment that was built anew
 * also has the late events of its range, which others may have.
 */
function uncountedRanges(
  { segments: all, removedBefore }: SealedState,
  segments: readonly SegmentRow[],
): TimeBounds[] {
  const counted = new Set(segments.map(({ id }) => id))
  const ranges = [
    { from: -Infinity, to: removedBefore - 1 },
    ...all
      .filter(({ id }) => !counted.has(id))
      .map(({ first, last }) => ({ from: first, to: last })),
  ]
  let latest = -Infinity
  for (const { first, last } of segments.toSorted((a, b) => a.first - b.first)) {
    ranges.push({ from: first, to: Math.min(last, latest) })
    latest = Math.max(last, latest)
  }
  return ranges
}
