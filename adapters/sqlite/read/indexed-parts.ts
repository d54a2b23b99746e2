import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Microseconds } from '../../../src/event/timestamp.js'
import { cutCells } from '../../../src/store-kit/counting/covered-cells.js'
import type { Slice } from '../../../src/store-kit/counting/slices.js'
import type { Work } from '../../../src/store-kit/index/find-postings.js'
import type { IndexPart } from '../../../src/store-kit/index/part.js'
import { DamagedSegment } from '../../../src/store-kit/index/segment-source.js'
import type { WaitOptions } from '../../../src/store/store.js'
import { runTimeSlice } from '../connection/time-slice.js'
import { duplicateTimes } from '../../../src/store-kit/index/duplicate-times.js'
import type { LogIndex, Sealed } from '../index/log-index.js'
import { readRemoved, removedOrdinals } from '../index/removed-events.js'
import type { Tables } from '../schema/tables.js'

/** The index, and how many events it must have for a count to use it. */
export interface CountingIndex {
  readonly index: LogIndex
  readonly minIndexed: number
}

/** With fewer sealed events, reading them takes as long. */
export const MIN_INDEXED = 32_768

// With more late events, their times cut the cells into too many parts.
const MAX_LATE = 100

/** A segment without the events that were removed since it was built. */
export interface CountedPart {
  readonly part: IndexPart
  /** The ordinals of removed events, ascending. */
  readonly removed: Uint32Array
}

/** What the segments have of the events, at one moment, and what they do not have. */
export interface IndexedParts {
  readonly parts: readonly CountedPart[]
  /** Each event in these ranges is in exactly one part, or it is in `open`. */
  readonly covered: readonly Slice[]
  readonly rest: readonly Slice[]
  /** The times of the live events that are open at that moment. */
  readonly open: readonly Microseconds[]
}

export interface IndexedCount {
  readonly tables: Tables
  readonly index: CountingIndex
  /** In order of time, without gaps. */
  readonly cells: readonly Slice[]
  /** The time at which the count is given up, as `performance.now()` counts. */
  readonly deadline: number
  readonly options: WaitOptions
}

/**
 * Counts by the segments, in time slices. `count` runs within the snapshot that it is called in at first, and later
 * in others: all of them have the same segments. `undefined` if the index has too few of the events, or if time is up.
 */
export async function countIndexed<Counts>(
  indexed: IndexedCount,
  count: (parts: IndexedParts) => Work<Counts | undefined>,
): Promise<Counts | undefined> {
  const { tables, index, cells, deadline, options } = indexed
  const { connection } = tables
  const isLate = (): boolean => performance.now() >= deadline
  if (cells.length === 0 || isLate()) return undefined
  let counts: Counts | undefined
  let work: Work<Counts | undefined> | undefined
  let segments: readonly IndexPart[] = []

  const step = (isOver: () => boolean): boolean => {
    const sealed = index.index.sealed(isOver)
    if (!sealed) return true
    if (!work || !segments.every((segment) => sealed.segments.includes(segment))) {
      segments = sealed.segments
      work = countParts(indexed, sealed, count)
    }
    for (;;) {
      const next = work.next()
      if (next.done) counts = next.value
      if (next.done || isLate()) return false
      if (isOver()) return true
    }
  }
  const slice = (): boolean => {
    try {
      return connection.snapshot(() => runTimeSlice(step, { maxSteps: 1 }))
    } catch (error) {
      work = undefined
      if (!(error instanceof DamagedSegment)) throw error
      index.index.setAside(error)
      return true
    }
  }
  while (await connection.retry(slice, options)) await nextTurn()
  return counts
}

const LATE = `SELECT created_at FROM daybook_late WHERE id > ? AND created_at <= ? LIMIT ${MAX_LATE + 1}`

/** Begin it within a snapshot. */
function* countParts<Counts>(
  { tables, index, cells }: IndexedCount,
  { state, segments }: Sealed,
  count: (parts: IndexedParts) => Work<Counts | undefined>,
): Work<Counts | undefined> {
  const { connection } = tables
  const { removed, removedBefore } = readRemoved(connection)
  const late = connection.statement(LATE).raw(true).all(state.sealedLate, state.sealedTo) as [
    Microseconds,
  ][]
  const times = { from: cells[0]!.from, to: cells.at(-1)!.to }
  const open = tables.live.timesBetween(times)
  const builtAt = new Map(state.segments.map((row) => [String(row.id), row.removed]))
  // A damaged segment has no values.
  const usable = segments.filter(({ id }) => builtAt.has(id))
  const size = usable.reduce((sum, part) => sum + part.size, 0)
  if (size < index.minIndexed || late.length > MAX_LATE) return undefined
  const parts: CountedPart[] = []
  for (const part of usable) {
    const built = builtAt.get(part.id)!
    parts.push({ part, removed: yield* removedOrdinals(connection, part, { built, now: removed }) })
  }
  const twice = yield* duplicateTimes(parts, MAX_LATE)
  if (!twice) return undefined
  const uncovered = [
    { from: -Infinity, to: removedBefore - 1 },
    ...segments
      .filter((part) => !usable.includes(part))
      .map(({ first, last }) => ({ from: first, to: last })),
    ...[...late.map(([time]) => time), ...twice].map((time) => ({ from: time, to: time })),
    { from: state.sealedTo + 1, to: Infinity },
  ]
  return yield* count({ parts, open, ...cutCells(cells, uncovered) })
}
