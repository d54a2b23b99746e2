import { levelOf } from '../../../src/event/level.js'
import type { GroupField } from '../../../src/store-kit/counting/group-fields.js'
import type { Slice } from '../../../src/store-kit/counting/slices.js'
import type { Figure, Tally } from '../../../src/store-kit/counting/tally.js'
import {
  type GroupCount,
  groupCounts,
  type GroupName,
} from '../../../src/store-kit/index/group-counts.js'
import type { Work } from '../../../src/store-kit/index/find-postings.js'
import type { EventRow } from '../schema/rows.js'
import { countIndexed, type IndexedCount, type IndexedParts } from './indexed-parts.js'

// With more groups, reading the events takes less memory.
const MAX_GROUPS = 200_000

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

interface SegmentCount extends IndexedCount {
  readonly tally: Pick<Tally, 'groupFields' | 'separateFigures' | 'isByLevel'>
}

/** What the index has counted, and what it does not have. */
export interface SegmentCounts extends Omit<IndexedParts, 'parts'> {
  readonly groups: readonly FoundGroup[]
}

/**
 * Counts the events of the segments by their values. `undefined` if the index has too few of the events, or if time is
 * up.
 */
export function countSegments(count: SegmentCount): Promise<SegmentCounts | undefined> {
  return countIndexed(count, (parts) => countParts(count, parts))
}

function* countParts(
  { tally }: SegmentCount,
  { parts, covered, ...others }: IndexedParts,
): Work<SegmentCounts | undefined> {
  const groups: FoundGroup[] = []
  for (const job of jobsOf(tally)) {
    // Only the levels are counted over time.
    const slices = job.figure === undefined || job.figure === 'levels' ? covered : joined(covered)
    for (const { part, removed } of parts) {
      const counts = yield* groupCounts(part, job.names, slices, removed)
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
  return { groups, covered, ...others }
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
