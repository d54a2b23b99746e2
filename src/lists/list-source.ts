import { setImmediate as nextTurn } from 'node:timers/promises'
import type { EventQuery } from '../filter/ast.js'
import type { Attributes } from '../filter/attributes.js'
import { firstInOrder, firstItems, type ItemPage } from '../store-kit/collect.js'
import type { AttributeTypes } from '../filter/declared.js'
import { compileWhere } from '../filter/evaluate.js'
import { topItems } from '../filter/order.js'

/*
 * Lists of the host, queried in the same language as the event feed. Items are read in the order of
 * their source. The compiled predicate decides; a table may leave out rows that cannot match.
 */

/** A database table that may leave out rows that cannot match. */
export interface ListTable<Item extends object> {
  /** Rows in the order of their ids, with a member for each attribute and `id`. */
  rows(query: EventQuery, attributes: AttributeTypes): AsyncIterable<Item>
}

export type ListSource<Item extends object> = Iterable<Item> | AsyncIterable<Item> | ListTable<Item>

// The number of items between turns of the event loop.
const SLICE = 10_000

/** The matching items: in the list's own order, or sorted with ties by `id`. */
export async function selectItems<Item extends object>(
  items: Iterable<Item> | AsyncIterable<Item>,
  attributes: Attributes<Item>,
  { where, sorts, limit }: EventQuery,
): Promise<ItemPage<Item>> {
  const matches = compileWhere(attributes, where)
  const collector =
    sorts.length === 0
      ? firstItems<Item>(limit)
      : firstInOrder(topItems(attributes, sorts, ['id'], limit + 1), limit)
  let seen = 0
  for await (const item of items) {
    if (matches(item) && collector.add(item)) break
    if (++seen % SLICE === 0) await nextTurn()
  }
  return collector.page()
}
