import type { Scalar } from '../../filter/attributes.js'
import { sortByKind } from './columns.js'
import { listPostings, type Postings, singlePosting } from './postings.js'

/** The ordinals of the events that have a value, rising; most values have one, which needs no list. */
export type Having = number | readonly number[]

/** Values in the order in which they were first met, and those that have each. */
export type ValueGroups = ReadonlyMap<Scalar, Having>

/** Ordinals come in rising order. */
export function addToGroup(
  groups: Map<Scalar, number | number[]>,
  value: Scalar,
  ordinal: number,
): void {
  const met = groups.get(value)
  if (met === undefined) groups.set(value, ordinal)
  else if (typeof met === 'number') {
    if (met !== ordinal) groups.set(value, [met, ordinal])
  } else if (met.at(-1) !== ordinal) met.push(ordinal)
}

export const postingsOf = (having: Having): Postings =>
  typeof having === 'number' ? singlePosting(having) : listPostings(having)

export const sizeOf = (having: Having): number => (typeof having === 'number' ? 1 : having.length)

/** The values of one type in their order, and those that have each. */
export interface SortedGroups {
  readonly values: readonly Scalar[]
  readonly having: readonly Having[]
}

/** By their types (`Kind`). */
export const sortGroups = (groups: ValueGroups): readonly SortedGroups[] =>
  sortByKind(groups.keys()).map((values) => ({
    values,
    having: values.map((value) => groups.get(value)!),
  }))
