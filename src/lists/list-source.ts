import { setImmediate as nextTurn } from 'node:timers/promises'
import type { EventQuery } from '../filter/ast.js'
import type { Attributes } from '../filter/attributes.js'
import { firstInOrder, firstItems, type ItemPage } from '../store-kit/collect.js'
import type { AttributeTypes } from '../filter/declared.js'
import { compileWhere } from '../filter/evaluate.js'
import { topItems } from '../filter/order.js'

/*
 * Lists of a host's own, asked in the same language as the event feed. They are read in the order
 * of their source; the compiled predicate decides, and a table only leaves out what it can tell.
 */

/** A table of a database that leaves out rows which cannot match. */
export interface ListTable<Item extends object> {
  /** Rows in the order of their ids, with a member for each of the attributes and `id`. */
  rows(query: EventQuery, attributes: AttributeTypes): AsyncIterable<Item>
}

export type ListSource<Item extends object> = Iterable<Item> | AsyncIterable<Item> | ListTable<Item>

// The event loop gets a turn after so many items.
const SLICE = 10_000

/** The items of a list that match: in the list's own order, or sorted and then by `id`. */
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
