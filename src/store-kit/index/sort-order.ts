import type { Sort } from '../../filter/ast.js'
import type { Scalar } from '../../filter/attributes.js'
import type { TimeBounds } from '../../filter/bounds.js'
import { compareScalars } from '../../filter/order.js'
import type { Microseconds } from '../../event/timestamp.js'
import { sortedEntries } from './find-postings.js'
import { type IndexPart, mayBeCut, type Order, type ValueEntry } from './part.js'
import { allOfPostings, EMPTY, exceptPostings, type Postings } from './postings.js'
import { type PartPostings, timesOfSets } from './time-order.js'

/** A place of an event in a sort order. */
export interface SortedTime {
  readonly time: Microseconds
  /** The indexed values it is sorted by, for the sorts that were needed; long texts are cut. */
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

/** The distinct values of an attribute, sorted, each with the events of all parts that have it. */
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
    const lowest = heads.filter(({ entry }) => compareScalars(entry.value, value) === 0)
    yield {
      value,
      sets: lowest.map(({ part, restriction, entry }) => ({
        part,
        postings: allOfPostings([entry.postings(), restriction]),
      })),
    }
    for (const head of lowest) {
      const next = head.entries.next()
      if (next.done) heads.splice(heads.indexOf(head), 1)
      else head.entry = next.value
    }
  }
}

/** True if a filter requires the attribute, so that events without a value can only have containers. */
export type RequiresAttribute = (attribute: string) => boolean

function eventsWithoutValue(
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
  /** True once enough events were found at their place. */
  readonly isFull: () => boolean
  readonly requires: RequiresAttribute
}

/**
 * The times of the sets' events in the order of the sorts, then of time, until there are enough. An event with
 * several values comes once for each. Events whose long texts were cut to the same text come in any order.
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
    const some = sets.map((set) => eventsWithoutValue(set, attribute, isRequired))
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
