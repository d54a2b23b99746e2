import type { Scalar } from '../../filter/attributes.js'
import { compareScalars } from '../../filter/order.js'
import type { ReadColumn } from './block-source.js'
import { Kind, kindOf, type LineSearch, type Order, type ValueEntry } from './part.js'
import { EMPTY, listPostings, type Postings, postingsBuilder } from './postings.js'
import { type TextFilter, textFilter } from './text-filter.js'
import { valueFilter } from './value-filter.js'
import {
  addToGroup,
  type Ordinals,
  postingsOf,
  sizeOf,
  type SortedGroups,
  sortGroups,
} from './value-groups.js'

/** The index of one attribute of a block's events. */
export interface ColumnIndex {
  /** Adds the values of the events that were added since the last call. */
  catchUp(): void
  mayHave(value: Scalar): boolean
  find(value: Scalar): Postings
  values(kind: Kind, order: Order, from: Scalar | undefined): Iterable<ValueEntry>
  inAnyOrder(kind: Kind): Iterable<ValueEntry>
  search(kind: Kind, search: LineSearch): Iterable<ValueEntry | undefined>
  /** Considers only the first `size` events of the block. */
  valued(size: number): Postings
  containers(): Postings
}

export function createColumnIndex(read: ReadColumn): ColumnIndex {
  const groups = new Map<Scalar, number | number[]>()
  const containers: number[] = []
  const mayHave = valueFilter(groups)
  let sorted: readonly SortedGroups[] | undefined
  let valued: { readonly size: number; readonly postings: Postings } | undefined
  let texts: TextFilter | undefined

  const sink = {
    value(value: Scalar, ordinal: number): void {
      addToGroup(groups, value, ordinal)
      sorted = undefined
      valued = undefined
    },
    container(ordinal: number): void {
      if (containers.at(-1) !== ordinal) containers.push(ordinal)
    },
  }
  return {
    catchUp: () => read(sink),
    mayHave,
    find(value) {
      const ordinals = mayHave(value) ? groups.get(value) : undefined
      return ordinals === undefined ? EMPTY : postingsOf(ordinals)
    },
    values: (kind, order, from) => inOrder((sorted ??= sortGroups(groups))[kind]!, order, from),
    inAnyOrder: (kind) => entriesOf(groups, kind),
    *search(kind, { part }) {
      if (kind !== Kind.text) return yield* entriesOf(groups, kind)
      texts ??= textFilter(groups)
      const candidates = yield* texts(part)
      if (!candidates) return yield* entriesOf(groups, kind)
      for (const value of candidates) yield entryOf(value, groups.get(value)!)
    },
    valued(size) {
      if (valued?.size !== size) valued = { size, postings: anyValue(groups.values(), size) }
      return valued.postings
    },
    containers: () => listPostings(containers),
  }
}

const entryOf = (value: Scalar, ordinals: Ordinals): ValueEntry => ({
  value,
  size: sizeOf(ordinals),
  postings: () => postingsOf(ordinals),
})

function anyValue(groups: Iterable<Ordinals>, size: number): Postings {
  const builder = postingsBuilder(size)
  const add = (ordinal: number): void => {
    if (ordinal < size) builder.add(ordinal)
  }
  for (const ordinals of groups)
    if (typeof ordinals === 'number') add(ordinals)
    else for (const ordinal of ordinals) add(ordinal)
  return builder.build()
}

/** In insertion order, which is fast as it is mostly the order in memory. Yields the same object each time. */
function* entriesOf(
  groups: ReadonlyMap<Scalar, Ordinals>,
  kind: Kind,
): Generator<ValueEntry, void, undefined> {
  let ordinals: Ordinals = []
  const entry = {
    value: '' as Scalar,
    get size() {
      return sizeOf(ordinals)
    },
    postings: () => postingsOf(ordinals),
  }
  for (const [value, found] of groups) {
    if (kindOf(value) !== kind) continue
    entry.value = value
    ordinals = found
    yield entry
  }
}

function* inOrder(
  { values, ordinals }: SortedGroups,
  order: Order,
  from: Scalar | undefined,
): Generator<ValueEntry, void, undefined> {
  const size = values.length
  if (order === 'asc') {
    const start =
      from === undefined ? 0 : lowerBound(size, (at) => compareScalars(values[at]!, from) < 0)
    for (let index = start; index < size; index++) yield entryOf(values[index]!, ordinals[index]!)
  } else {
    const end =
      from === undefined ? size : lowerBound(size, (at) => compareScalars(values[at]!, from) <= 0)
    for (let index = end - 1; index >= 0; index--) yield entryOf(values[index]!, ordinals[index]!)
  }
}

/** The lowest index up to `size` that is not below. */
export function lowerBound(size: number, isBelow: (index: number) => boolean): number {
  let [low, high] = [0, size]
  while (low < high) {
    const middle = (low + high) >>> 1
    if (isBelow(middle)) low = middle + 1
    else high = middle
  }
  return low
}
