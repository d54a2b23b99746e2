import type { Scalar } from '../../filter/attributes.js'
import { sortByKind } from './columns.js'
import { listPostings, type Postings, singlePosting } from './postings.js'

/** Ordinals of the events that have a value, ascending; just a number for one, the most frequent case. */
export type Ordinals = number | readonly number[]

/** The events that have each value, in the order in which the values were first added. */
export type ValueGroups = ReadonlyMap<Scalar, Ordinals>

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

export const postingsOf = (ordinals: Ordinals): Postings =>
  typeof ordinals === 'number' ? singlePosting(ordinals) : listPostings(ordinals)

export const sizeOf = (ordinals: Ordinals): number =>
  typeof ordinals === 'number' ? 1 : ordinals.length

/** The values of one type, sorted, and the events that have each. */
export interface SortedGroups {
  readonly values: readonly Scalar[]
  readonly ordinals: readonly Ordinals[]
}

/** By type (`Kind`). */
export const sortGroups = (groups: ValueGroups): readonly SortedGroups[] =>
  sortByKind(groups.keys()).map((values) => ({
    values,
    ordinals: values.map((value) => groups.get(value)!),
  }))
