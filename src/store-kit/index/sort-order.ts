import type { Sort } from '../../filter/ast.js'
import type { Scalar } from '../../filter/attributes.js'
import type { TimeBounds } from '../../filter/bounds.js'
import { compareScalars } from '../../filter/order.js'
import type { Microseconds } from '../../event/timestamp.js'
import { sortedEntries } from './find-postings.js'
import { type IndexPart, mayBeCut, type Order, type ValueEntry } from './part.js'
import { allOfPostings, EMPTY, exceptPostings, type Postings } from './postings.js'
import { type PartPostings, timesOfSets } from './time-order.js'

/** An event's place in an order. */
export interface SortedTime {
  readonly time: Microseconds
  /** By which the index has put it there, as far as it has come; long texts are cut. */
  readonly keys: readonly (Scalar | undefined)[]
}

export type SortedTimes = Generator<SortedTime | undefined, void, undefined>

interface Head {
  readonly part: IndexPart
  readonly restriction: Postings
  readonly entries: Iterator<ValueEntry, void>
  entry: ValueEntry
}

interface Group {
  readonly value: Scalar
  readonly sets: readonly PartPostings[]
}

/** The values of an attribute in order, each once, with the events of all parts that have it. */
function* groups(
  sets: readonly PartPostings[],
  attribute: string,
  order: Order,
): Generator<Group, void, undefined> {
  const sign = order === 'asc' ? 1 : -1
  const heads: Head[] = []
  for (const { part, postings } of sets) {
    const entries = sortedEntries(part, attribute, order)
    const first = entries.next()
    if (!first.done) heads.push({ part, restriction: postings, entries, entry: first.value })
  }
  while (heads.length > 0) {
    let value = heads[0]!.entry.value
    for (const { entry } of heads)
      if (compareScalars(entry.value, value) * sign < 0) value = entry.value
    const met = heads.filter(({ entry }) => compareScalars(entry.value, value) === 0)
    yield {
      value,
      sets: met.map(({ part, restriction, entry }) => ({
        part,
        postings: allOfPostings([entry.postings(), restriction]),
      })),
    }
    for (const head of met) {
      const next = head.entries.next()
      if (next.done) heads.splice(heads.indexOf(head), 1)
      else head.entry = next.value
    }
  }
}

/** What a filter says of the events that have no value to sort by: none but containers can be left. */
export type Requires = (attribute: string) => boolean

function valueless(
  { part, postings }: PartPostings,
  attribute: string,
  isRequired: boolean,
): PartPostings {
  const valued = part.valued(attribute)
  if (valued.size === part.size) return { part, postings: EMPTY }
  const rest = isRequired ? part.containers(attribute) : exceptPostings(valued, part.size)
  return { part, postings: allOfPostings([postings, rest]) }
}

export interface SortOrder {
  readonly bounds: TimeBounds
  /** Says that there are enough of those that are in their place. */
  readonly isFull: () => boolean
  readonly requires: Requires
}

/**
 * The times of the events of the sets in the order of the sorts and then of their times, until there are
 * enough. An event with several values is met again at each of them. Where long texts have been cut
 * alike, all of their events come, in any order.
 */
export function* inSortOrder(
  sets: readonly PartPostings[],
  [sort, ...rest]: readonly Sort[],
  order: SortOrder,
  keys: SortedTime['keys'] = [],
): SortedTimes {
  const { bounds, isFull, requires } = order
  if (!sort || sort.attribute === 'created_at') {
    for (const time of timesOfSets(sets, sort?.direction ?? 'asc', bounds)) {
      yield time === undefined ? undefined : { time, keys }
      if (isFull()) return
    }
    return
  }
  const { attribute, direction } = sort
  const withoutValue = (): SortedTimes => {
    const isRequired = requires(attribute)
    const some = sets.map((set) => valueless(set, attribute, isRequired))
    return inSortOrder(some, rest, order, [...keys, undefined])
  }

  if (direction === 'desc') yield* withoutValue()
  if (isFull()) return
  for (const { value, sets: having } of groups(sets, attribute, direction)) {
    const below = [...keys, value]
    if (mayBeCut(value)) {
      for (const time of timesOfSets(having, 'asc', bounds))
        yield time === undefined ? undefined : { time, keys: below }
    } else yield* inSortOrder(having, rest, order, below)
    if (isFull()) return
    yield
  }
  if (direction === 'asc') yield* withoutValue()
}
