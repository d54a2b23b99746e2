import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Microseconds } from '../../../src/event/timestamp.js'
import { levelOf } from '../../../src/event/level.js'
import type { TimeBounds } from '../../../src/filter/bounds.js'
import type { GroupField } from '../../../src/store-kit/counting/group-fields.js'
import type { Slice } from '../../../src/store-kit/counting/slices.js'
import type { Figure, Tally } from '../../../src/store-kit/counting/tally.js'
import {
  type GroupCount,
  groupCounts,
  type GroupName,
} from '../../../src/store-kit/index/group-counts.js'
import type { Work } from '../../../src/store-kit/index/find-postings.js'
import type { IndexPart } from '../../../src/store-kit/index/part.js'
import { DamagedSegment } from '../../../src/store-kit/index/segment-source.js'
import type { WaitOptions } from '../../../src/store/store.js'
import { runTimeSlice } from '../connection/time-slice.js'
import type { LogIndex, Sealed } from '../index/log-index.js'
import type { EventRow } from '../schema/rows.js'
import type { Tables } from '../schema/tables.js'

/** The index, and how many events it must have for a count to use it. */
export interface CountingIndex {
  readonly index: LogIndex
  readonly minIndexed: number
}

/** With fewer sealed events, GROUP BY takes as long. */
export const MIN_INDEXED = 32_768

// With more groups, reading the events takes less memory.
const MAX_GROUPS = 200_000
// With more late events, their times cut the cells into too many parts.
const MAX_LATE = 100

/** Events that are equal for the query. */
export interface Group
  extends Pick<EventRow, 'type'>, Partial<Pick<EventRow, 'username' | 'system'>> {
  readonly count: number
}

export interface FoundGroup extends Group {
  /** All times of a slice are within the bounds of the filter, so one of them stands for the group. */
  readonly slice: Slice
  /** The figure that the group belongs to; `undefined` for all. */
  readonly figure?: Figure | undefined
}

interface SegmentCount {
  readonly tables: Tables
  readonly index: CountingIndex
  readonly tally: Pick<Tally, 'groupFields' | 'separateFigures' | 'isByLevel'>
  /** In order of time, without gaps. */
  readonly cells: readonly Slice[]
  /** The time at which the count is given up, as `performance.now()` counts. */
  readonly deadline: number
  readonly options: WaitOptions
}

/** What the index has counted, and what it does not have. */
export interface SegmentCounts {
  readonly groups: readonly FoundGroup[]
  readonly covered: readonly Slice[]
  readonly rest: readonly Slice[]
}

/**
 * Counts the events of the segments by their values. A segment does not know which of its events were removed since
 * it was built, so the range of such a segment is left to the caller. `undefined` if the index has too few of the
 * events, or if time is up.
 */
export async function countSegments(count: SegmentCount): Promise<SegmentCounts | undefined> {
  const { tables, index, cells, deadline, options } = count
  const { connection } = tables
  const isLate = (): boolean => performance.now() >= deadline
  if (cells.length === 0 || isLate()) return undefined
  let isOverTime = false
  let counts: SegmentCounts | undefined
  let work: Work<SegmentCounts | undefined> | undefined
  let segments: readonly IndexPart[] = []

  const step = (isOver: () => boolean): boolean => {
    const sealed = index.index.sealed(isOver)
    if (!sealed) return true
    if (!work || !segments.every((segment) => sealed.segments.includes(segment))) {
      segments = sealed.segments
      work = countParts(count, sealed)
    }
    for (;;) {
      const next = work.next()
      if (next.done) counts = next.value
      isOverTime = isLate()
      if (next.done || isOverTime) return false
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
  return isOverTime ? undefined : counts
}

const LATE = `SELECT created_at FROM daybook_late WHERE id > ? AND created_at <= ? LIMIT ${MAX_LATE + 1}`

const REMOVED = 'SELECT removed, removed_before FROM daybook_index'

/** Begin it within a snapshot. */
function* countParts(
  { tables, index, tally, cells }: SegmentCount,
  { state, segments }: Sealed,
): Work<SegmentCounts | undefined> {
  const { statement } = tables.connection
  const { removed, removed_before } = statement(REMOVED).get() as {
    readonly removed: number
    readonly removed_before: Microseconds
  }
  const late = statement(LATE).raw(true).all(state.sealedLate, state.sealedTo) as [Microseconds][]
  const builtBefore = new Map(state.segments.map((row) => [String(row.id), row.removed]))
  const parts = segments.filter(({ id }) => builtBefore.get(id) === removed)
  const size = parts.reduce((sum, part) => sum + part.size, 0)
  if (size < index.minIndexed || late.length > MAX_LATE) return undefined
  const uncovered = [
    { from: -Infinity, to: removed_before - 1 },
    ...segments
      .filter((part) => !parts.includes(part))
      .map(({ first, last }) => ({ from: first, to: last })),
    ...late.map(([time]) => ({ from: time, to: time })),
    { from: state.sealedTo + 1, to: Infinity },
  ]
  const { covered, rest } = cutCells(cells, uncovered)
  const groups = openGroups(tables, tally.groupFields!, covered)
  for (const job of jobsOf(tally)) {
    // Only the levels are counted over time.
    const slices = job.figure === undefined || job.figure === 'levels' ? covered : joined(covered)
    for (const part of parts) {
      const counts = yield* groupCounts(part, job.names, slices)
      if (!counts || groups.length + counts.length > MAX_GROUPS) return undefined
      for (const { range, values, count } of counts) {
        const group = toGroup(job, values)
        // The segment is not what was written.
        if (!group) return undefined
        groups.push({ ...group, count, slice: slices[range]!, figure: job.figure })
      }
      yield
    }
  }
  return { groups, covered, rest }
}

interface Job {
  readonly names: readonly (GroupName & { readonly name: GroupField })[]
  /** The figure that is counted; `undefined` for all. */
  readonly figure: Figure | undefined
}

const BY_LEVEL = { name: 'type', classOf: (type: unknown) => levelOf(String(type)) } as const

function jobsOf({ groupFields, separateFigures, isByLevel }: SegmentCount['tally']): Job[] {
  const nameOf = (name: GroupField, byLevel: boolean): Job['names'][number] =>
    byLevel && name === 'type' ? BY_LEVEL : { name }
  return (
    separateFigures?.map(({ field, figure }) => ({
      names: [nameOf(field, figure === 'levels')],
      figure,
    })) ?? [{ names: groupFields!.map((field) => nameOf(field, isByLevel)), figure: undefined }]
  )
}

/** The open live events, which are in no segment. */
function openGroups(
  { connection: { statement } }: Tables,
  fields: readonly GroupField[],
  slices: readonly Slice[],
): FoundGroup[] {
  const select = `SELECT ${fields.join(', ')} FROM daybook_live WHERE created_at BETWEEN ? AND ?`
  return slices.flatMap((slice) =>
    (statement(select).all(slice.from, slice.to) as Omit<Group, 'count'>[]).map((row) => ({
      ...row,
      count: 1,
      slice,
    })),
  )
}

/** `undefined` if a value is missing that every event has. */
function toGroup({ names }: Job, values: GroupCount['values']): Omit<Group, 'count'> | undefined {
  const own = { type: '', username: null as string | null, system: 0 as 0 | 1 }
  for (const [i, { name }] of names.entries()) {
    const value = values[i]
    if (value === undefined && name !== 'username') return undefined
    if (name === 'type') own.type = String(value)
    else if (name === 'username') own.username = (value ?? null) as string | null
    else own.system = value === true ? 1 : 0
  }
  return own
}

/** Joins slices that follow each other. */
function joined(slices: readonly Slice[]): Slice[] {
  const found: Slice[] = []
  for (const slice of slices) {
    const last = found.at(-1)
    if (last && last.to + 1 === slice.from) found[found.length - 1] = { ...last, to: slice.to }
    else found.push(slice)
  }
  return found
}

/** Cuts the cells, which are in order, where the uncovered ranges begin and end. */
function cutCells(
  cells: readonly Slice[],
  uncovered: readonly TimeBounds[],
): Pick<SegmentCounts, 'covered' | 'rest'> {
  const covered: Slice[] = []
  const rest: Slice[] = []
  const ranges = uncovered.filter(({ from, to }) => from <= to).toSorted((a, b) => a.from - b.from)
  for (const { cell, from, to } of cells) {
    let at = from
    for (const range of ranges) {
      if (range.to < at || range.from > to) continue
      if (range.from > at) covered.push({ cell, from: at, to: range.from - 1 })
      const begin = Math.max(at, range.from)
      at = Math.min(to, range.to) + 1
      rest.push({ cell, from: begin, to: at - 1 })
      if (at > to) break
    }
    if (at <= to) covered.push({ cell, from: at, to })
  }
  return { covered, rest }
}
