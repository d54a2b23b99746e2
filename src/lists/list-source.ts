import { setImmediate as nextTurn } from 'node:timers/promises'
import type { EventQuery } from '../filter/ast.js'
import type { AttributeReader } from '../filter/attributes.js'
import { firstInOrder, firstItems, type ItemPage } from '../store-kit/collect.js'
import type { AttributeTypes } from '../filter/attribute-types.js'
import { compileWhereInSteps } from '../filter/evaluate.js'
import { topItems } from '../filter/order.js'
import { createTimeSlices } from '../filter/time-slices.js'

/*
 * Lists of the host, queried in the same language as the event feed. Items are read in the order of their source. The
 * compiled filter decides which items match; a table may leave out rows that cannot match.
 */

/** A database table that may leave out rows that cannot match. */
export interface ListTable<Item extends object> {
  /** Rows in the order of their ids, with a member for each attribute and `id`. */
  rows(query: EventQuery, attributes: AttributeTypes): AsyncIterable<Item>
}

export type ListSource<Item extends object> = Iterable<Item> | AsyncIterable<Item> | ListTable<Item>

/** Items between two readings of the clock. */
const CLOCK_STRIDE = 16

/**
 * The matching items: in the list's own order, or sorted with ties by `id`. `check` is called between items and
 * whenever the event loop turns; it throws to end the list.
 */
export async function selectItems<Item extends object>(
  items: Iterable<Item> | AsyncIterable<Item>,
  attributes: AttributeReader<Item>,
  { where, sorts, limit }: EventQuery,
  check: () => void = () => {},
): Promise<ItemPage<Item>> {
  const matches = compileWhereInSteps(attributes, where)
  const collector =
    sorts.length === 0
      ? firstItems<Item>(limit)
      : firstInOrder(topItems(attributes, sorts, ['id'], limit + 1), limit)
  const slices = createTimeSlices(async () => {
    await nextTurn()
    check()
  })
  let seen = 0
  for await (const item of items) {
    check()
    const decision = matches(item)
    const isMatch = typeof decision === 'boolean' ? decision : await slices.finish(decision)
    const added = isMatch && collector.add(item)
    if (typeof added === 'boolean' ? added : await slices.finish(added)) break
    if (++seen % CLOCK_STRIDE === 0 && slices.isOver()) await slices.next()
  }
  return slices.finish(collector.page())
}
