import type { Scalar } from '../../filter/attributes.js'
import { sortByKind } from './columns.js'
import { listPostings, type Postings, singlePosting } from './postings.js'

/** Ordinals of the events that have a value, ascending; just a number for one, the most frequent case. */
export type Having = number | readonly number[]

/** The events that have each value, in the order in which the values were first added. */
export type ValueGroups = ReadonlyMap<Scalar, Having>

/** Call it with ascending ordinals. */
export function addToGroup(
  groups: Map<Scalar, number | number[]>,
  value: Scalar,
  ordinal: number,
): void {
  const found = groups.get(value)
  if (found === undefined) groups.set(value, ordinal)
  else if (typeof found === 'number') {
    if (found !== ordinal) groups.set(value, [found, ordinal])
  } else if (found.at(-1) !== ordinal) found.push(ordinal)
}

export const postingsOf = (having: Having): Postings =>
  typeof having === 'number' ? singlePosting(having) : listPostings(having)

export const sizeOf = (having: Having): number => (typeof having === 'number' ? 1 : having.length)

/** The values of one type, sorted, and the events that have each. */
export interface SortedGroups {
  readonly values: readonly Scalar[]
  readonly having: readonly Having[]
}

/** By type (`Kind`). */
export const sortGroups = (groups: ValueGroups): readonly SortedGroups[] =>
  sortByKind(groups.keys()).map((values) => ({
    values,
    having: values.map((value) => groups.get(value)!),
  }))
