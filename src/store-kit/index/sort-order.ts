import type { Sort } from '../../filter/ast.js'
import type { Scalar } from '../../filter/attributes.js'
import type { TimeBounds } from '../../filter/bounds.js'
import { compareScalars } from '../../filter/order.js'
import type { Microseconds } from '../../event/timestamp.js'
import { sortedEntries } from './find-postings.js'
import { mayBeCut, type Order, type ValueEntry } from './part.js'
import { allOfPostings, EMPTY, exceptPostings } from './postings.js'
import { type PartPostings, timesOfSets } from './time-order.js'
import { readAll, WAIT, type Wait, type Work } from './work.js'

/** A place of an event in a sort order. */
export interface SortedTime {
  readonly time: Microseconds
  /** The indexed values it is sorted by, for the sorts that were needed; long texts are cut. */
  readonly keys: readonly (Scalar | undefined)[]
}

export type SortedTimes = Generator<SortedTime | Wait | undefined, void, undefined>

interface Head extends PartPostings {
  readonly entries: Iterator<ValueEntry | Wait | undefined>
  /** `WAIT` before the next entry is read, `undefined` after the last one. */
  entry: ValueEntry | Wait | undefined
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
): Generator<Group | Wait, void, undefined> {
  const sign = order === 'asc' ? 1 : -1
  let heads = sets.map((set): Head => ({
    ...set,
    entries: sortedEntries(set.part, attribute, order),
    entry: WAIT,
  }))
  while (heads.length > 0) {
    if (moveAll(heads)) {
      yield WAIT
      continue
    }
    heads = heads.filter(({ entry }) => entry)
    if (heads.length === 0) return
    let value = heads[0]!.entry!.value
    for (const { entry } of heads)
      if (compareScalars(entry!.value, value) * sign < 0) value = entry!.value
    const having: PartPostings[] = []
    for (const head of heads) {
      const { part, postings, entry } = head
      if (compareScalars(entry!.value, value) !== 0) continue
      having.push({ part, postings: allOfPostings([entry!.postings(), postings]) })
      head.entry = WAIT
    }
    yield { value, sets: having }
  }
}

/** Reads the entries that were not read yet. True if one of them has to wait. */
function moveAll(heads: readonly Head[]): boolean {
  let waits = false
  for (const head of heads) {
    if (head.entry !== WAIT) continue
    head.entry = head.entries.next().value as Head['entry']
    waits ||= head.entry === WAIT
  }
  return waits
}

/** True if a filter requires the attribute, so that events without a value can only have containers. */
export type RequiresAttribute = (attribute: string) => boolean

function eventsWithoutValue(
  { part, postings }: PartPostings,
  attribute: string,
  isRequired: boolean,
): PartPostings | Wait {
  const valued = part.valued(attribute)
  if (valued?.size === part.size) return { part, postings: EMPTY }
  const rest = isRequired ? part.containers(attribute) : valued && exceptPostings(valued, part.size)
  return valued && rest && { part, postings: allOfPostings([postings, rest]) }
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
      yield typeof time === 'number' ? { time, keys } : time
      if (isFull()) return
    }
    return
  }
  const { attribute, direction } = sort
  const withoutValue = (): Work<readonly PartPostings[]> => {
    const isRequired = requires(attribute)
    return readAll(sets.map((set) => () => eventsWithoutValue(set, attribute, isRequired)))
  }
  const last = [...keys, undefined]

  if (direction === 'desc') yield* inSortOrder(yield* withoutValue(), rest, order, last)
  if (isFull()) return
  for (const group of groups(sets, attribute, direction)) {
    if (group === WAIT) {
      yield WAIT
      continue
    }
    const { value, sets: having } = group
    const below = [...keys, value]
    if (mayBeCut(value)) {
      for (const time of timesOfSets(having, 'asc', bounds))
        yield typeof time === 'number' ? { time, keys: below } : time
    } else yield* inSortOrder(having, rest, order, below)
    if (isFull()) return
    yield
  }
  if (direction === 'asc') yield* inSortOrder(yield* withoutValue(), rest, order, last)
}
