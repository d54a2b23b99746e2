import type { AuditEvent } from '../event/event.js'
import { compareDecimals, decimalOf } from '../event/exact-numbers.js'
import type { Sort } from './ast.js'
import {
  type AttributeReader,
  type Declaration,
  eventAttributes,
  type Scalar,
  scalarsInSteps,
  someScalar,
} from './attributes.js'
import { type Decision, decideWithin, type Steps } from './steps.js'
import { compareText, isNumberText } from './values.js'

const TYPE_RANK = { boolean: 0, number: 1, string: 2 } as const

const typeRank = (value: Scalar): number =>
  TYPE_RANK[typeof value as 'boolean' | 'number' | 'string']

/** Orders booleans before numbers before text. */
export function compareScalars(left: Scalar, right: Scalar): number {
  const rank = typeRank(left) - typeRank(right)
  if (rank !== 0) return rank
  if (typeof left === 'string') return compareText(left, right as string)
  return left < right ? -1 : left > right ? 1 : 0
}

/** Orders the values of an attribute that is declared as numbers, where texts of numbers are numbers. */
function compareNumbers(left: Scalar, right: Scalar): number {
  const [isLeft, isRight] = [isNumberText(left), isNumberText(right)]
  if (!isLeft && !isRight) return compareScalars(left, right)
  const rank =
    (isLeft ? TYPE_RANK.number : typeRank(left)) - (isRight ? TYPE_RANK.number : typeRank(right))
  return rank || compareDecimals(decimalOf(String(left)), decimalOf(String(right)))
}

type Order = (left: Scalar, right: Scalar) => number

const orderOf = ({ types }: Declaration, { attribute }: Pick<Sort, 'attribute'>): Order =>
  types.get(attribute) === 'number' ? compareNumbers : compareScalars

export type SortKey = Scalar | undefined

/** The value by which an item sorts: its lowest when ascending, its highest when descending. */
function sortKey<Item>(attributes: AttributeReader<Item>, sort: Sort): (item: Item) => SortKey {
  let key: SortKey
  const order = orderOf(attributes, sort)
  const walk = attributes.walk(sort.attribute, (value) =>
    someScalar(value, (scalar) => {
      key = keyAmong(key, scalar, order, sort)
      return false
    }),
  )
  return (item) => {
    key = undefined
    walk(item)
    return key
  }
}

function keyAmong(key: SortKey, scalar: Scalar, order: Order, { direction }: Sort): Scalar {
  if (key === undefined) return scalar
  const sign = order(scalar, key)
  return (direction === 'asc' ? sign < 0 : sign > 0) ? scalar : key
}

/** The values by which an item sorts, one for each sort. */
export type SortKeys = readonly SortKey[]

/** Returns the keys of an item if they take little work to find, otherwise the whole work. */
export function sortKeys<Item>(
  attributes: AttributeReader<Item>,
  sorts: readonly Sort[],
): (item: Item) => SortKeys | Steps<SortKeys> {
  const keysOf = sorts.map((sort) => sortKey(attributes, sort))
  return decideWithin(
    (item) => keysOf.map((keyOf) => keyOf(item)),
    (item) => sortKeysInSteps(attributes, sorts, item),
  )
}

function* sortKeysInSteps<Item>(
  attributes: AttributeReader<Item>,
  sorts: readonly Sort[],
  item: Item,
): Steps<SortKeys> {
  const keys: SortKey[] = []
  for (const sort of sorts) {
    let key: SortKey
    const order = orderOf(attributes, sort)
    const values = yield* attributes.valuesInSteps(item, sort.attribute)
    for (const scalar of yield* scalarsInSteps(values)) key = keyAmong(key, scalar, order, sort)
    keys.push(key)
    yield
  }
  return keys
}

export const areFound = (keys: SortKeys | Steps<SortKeys>): keys is SortKeys => Array.isArray(keys)

/** Items without a value sort last when ascending and first when descending, like NULL in Postgres. */
function compareKeys(left: SortKey, right: SortKey, order: Order): number {
  if (left === undefined) return right === undefined ? 0 : 1
  return right === undefined ? -1 : order(left, right)
}

interface Ranked<Item> {
  readonly item: Item
  readonly keys: SortKeys
  /** The number of items added before. */
  readonly place: number
}

/** Keeps the first items of a sort order among all that are added. */
export interface TopItems<Item> {
  /** False, or the work that adds the item. */
  add(item: Item): Decision
  /** The kept items in order. */
  inOrder(): Steps<Item[]>
}

/**
 * Keeps the first `size` items in a binary heap with the last of them on top: memory for `size` items,
 * O(log size) per item. Items that are equal in all sorts are ordered by the `ties`, ascending, then by
 * the order in which they were added.
 */
export function topItems<Item>(
  attributes: AttributeReader<Item>,
  sorts: readonly Sort[],
  ties: readonly string[],
  size: number,
): TopItems<Item> {
  const keysOf = sortKeys(attributes, sorts)
  const orders = sorts.map((sort) => orderOf(attributes, sort))
  const signs = sorts.map((sort) => (sort.direction === 'asc' ? 1 : -1))
  const tiesOf = ties.map((attribute) => ({
    keyOf: sortKey(attributes, { attribute, direction: 'asc' }),
    order: orderOf(attributes, { attribute }),
  }))
  const heap: Ranked<Item>[] = []
  let added = 0

  const compare = (left: Ranked<Item>, right: Ranked<Item>): number => {
    for (const [i, sign] of signs.entries()) {
      const order = compareKeys(left.keys[i], right.keys[i], orders[i]!)
      if (order !== 0) return order * sign
    }
    for (const { keyOf, order } of tiesOf) {
      const sign = compareKeys(keyOf(left.item), keyOf(right.item), order)
      if (sign !== 0) return sign
    }
    return left.place - right.place
  }
  const swap = (a: number, b: number): void => {
    const kept = heap[a]!
    heap[a] = heap[b]!
    heap[b] = kept
  }
  const siftUp = (from: number): void => {
    for (let at = from; at > 0;) {
      const parent = (at - 1) >> 1
      if (compare(heap[at]!, heap[parent]!) <= 0) return
      swap(at, parent)
      at = parent
    }
  }
  const siftDown = (): void => {
    for (let at = 0; ;) {
      let largest = at
      for (const child of [2 * at + 1, 2 * at + 2])
        if (child < heap.length && compare(heap[child]!, heap[largest]!) > 0) largest = child
      if (largest === at) return
      swap(at, largest)
      at = largest
    }
  }
  const insert = (item: Item, keys: SortKeys): false => {
    const ranked = { item, keys, place: added++ }
    if (heap.length < size) {
      heap.push(ranked)
      siftUp(heap.length - 1)
    } else if (compare(ranked, heap[0]!) < 0) {
      heap[0] = ranked
      siftDown()
    }
    return false
  }
  function* insertInSteps(item: Item, keys: Steps<SortKeys>): Steps<boolean> {
    return insert(item, yield* keys)
  }
  return {
    add(item) {
      const keys = keysOf(item)
      return areFound(keys) ? insert(item, keys) : insertInSteps(item, keys)
    },
    inOrder: () => itemsInOrder(heap, compare),
  }
}

function* itemsInOrder<Item, Ranked extends { readonly item: Item }>(
  heap: readonly Ranked[],
  compare: Compare<Ranked>,
): Steps<Item[]> {
  const sorted = yield* sortInSteps(heap, compare)
  return sorted.map(({ item }) => item)
}

type Compare<Item> = (left: Item, right: Item) => number

/** Number of items that are sorted or merged at once. Comparing two texts of 1 MiB takes about 0.1 ms. */
const SORTED_AT_ONCE = 64

/** Merges two sorted lists. */
function* mergeInSteps<Item>(left: Item[], right: Item[], compare: Compare<Item>): Steps<Item[]> {
  const merged: Item[] = []
  for (let [l, r] = [0, 0]; l < left.length || r < right.length;) {
    const isLeft = r === right.length || (l < left.length && compare(left[l]!, right[r]!) <= 0)
    merged.push(isLeft ? left[l++]! : right[r++]!)
    if (merged.length % SORTED_AT_ONCE === 0) yield
  }
  return merged
}

/** A stable sort that can pause, except among few items. */
export function* sortInSteps<Item>(items: readonly Item[], compare: Compare<Item>): Steps<Item[]> {
  if (items.length <= SORTED_AT_ONCE) return items.toSorted(compare)
  const middle = items.length >> 1
  const left = yield* sortInSteps(items.slice(0, middle), compare)
  yield
  const right = yield* sortInSteps(items.slice(middle), compare)
  return yield* mergeInSteps(left, right, compare)
}

const MIN_ROOM = 512

/** The first `max` items of an order, as a stable sort would return them. Takes far less time than a sort for few of many items. */
export function firstInOrderOf<Item>(
  items: Iterable<Item>,
  max: number,
  compare: Compare<Item>,
): Item[] {
  const room = Math.max(MIN_ROOM, 2 * max)
  let kept: Item[] = []
  /** From here on, only items before this one can be among the first. */
  let last: Item | undefined
  const cut = (): Item[] => kept.toSorted(compare).slice(0, max)
  for (const item of items) {
    if (last !== undefined && compare(item, last) >= 0) continue
    kept.push(item)
    if (kept.length < room) continue
    kept = cut()
    last = kept.at(-1)
  }
  return cut()
}

/** Keeps the first events of a sort order, with ties in the order of `created_at`, then `id`. */
export function topEvents(sorts: readonly Sort[], size: number): TopItems<AuditEvent> {
  return topItems(eventAttributes, sorts, ['created_at', 'id'], size)
}

/**
 * The direction of a scan by time that finds the events in the requested order, so that it can stop
 * early; `desc` without sorts. `undefined` if the first sort is by another attribute: then all matches
 * are needed.
 */
export function scanDirection(sorts: readonly Sort[]): 'asc' | 'desc' | undefined {
  const [first] = sorts
  if (!first) return 'desc'
  // `created_at` is unique, so later sorts have no effect.
  return first.attribute === 'created_at' ? first.direction : undefined
}
