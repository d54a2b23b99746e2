import type { AuditEvent } from '../../../src/event/event.js'

/** An item of the list: the row of an event, or the heading of a day. */
export type Item =
  | {
      readonly kind: 'row'
      readonly event: AuditEvent
      readonly row: number
      /** Another event that has no separate row. */
      readonly twin?: AuditEvent | undefined
    }
  | { readonly kind: 'day'; readonly day: string; readonly time: string }

/** Items and their offsets. The additional last offset is the end of the last item. */
export interface Positions {
  readonly items: readonly Item[]
  readonly offsets: readonly number[]
  readonly indexById: ReadonlyMap<string, number>
}

/** Events without a row, by the id of the event whose row shows both. */
export type Twins = ReadonlyMap<string, AuditEvent>

/** The items for events that start at row `before`. Without `dayOf` there are no day headings. */
export function itemsOf(
  events: readonly AuditEvent[],
  before: number,
  dayOf?: (time: string) => string,
  twins?: Twins,
): readonly Item[] {
  const items: Item[] = []
  const hidden = new Set(twins?.values())
  let day: string | undefined
  for (const [i, event] of events.entries()) {
    if (hidden.has(event)) continue
    const own = dayOf?.(event.created_at)
    if (own !== undefined && own !== day)
      items.push({ kind: 'day', day: own, time: event.created_at })
    day = own
    items.push({ kind: 'row', event, row: before + i, twin: twins?.get(event.id) })
  }
  return items
}

export function positionsOf(
  items: readonly Item[],
  start: number,
  heightOf: (item: Item) => number,
): Positions {
  const offsets = [start]
  const indexById = new Map<string, number>()
  for (const [i, item] of items.entries()) {
    offsets.push(offsets[i]! + heightOf(item))
    if (item.kind === 'row')
      for (const event of [item.event, item.twin]) if (event) indexById.set(event.id, i)
  }
  return { items, offsets, indexById }
}

/** The index of the item at an offset, else of the nearest item. */
export function itemAt({ items, offsets }: Positions, offset: number): number {
  let [low, high] = [0, items.length - 1]
  while (low < high) {
    const middle = (low + high + 1) >> 1
    if (offsets[middle]! <= offset) low = middle
    else high = middle - 1
  }
  return Math.max(0, low)
}

/** The indexes of the first and last item between two offsets; `undefined` without items. */
export function itemsBetween(
  positions: Positions,
  top: number,
  bottom: number,
): readonly [first: number, last: number] | undefined {
  const { items, offsets } = positions
  if (items.length === 0 || bottom <= offsets[0]! || top >= offsets.at(-1)!) return undefined
  return [itemAt(positions, top), itemAt(positions, Math.max(top, bottom - 1))]
}

/**
 * The indexes of the items to render: items in view with `spare` more on each side, the heading of the first day in
 * view, and the row of the event `keep`.
 */
export function mountedItems(
  positions: Positions,
  view: readonly [first: number, last: number] | undefined,
  spare: number,
  keep: string | undefined,
): readonly number[] {
  const { items, indexById } = positions
  const kept = keep === undefined ? undefined : indexById.get(keep)
  if (!view) return kept === undefined ? [] : [kept]
  const from = Math.max(0, view[0] - spare)
  const to = Math.min(items.length - 1, view[1] + spare)
  const shown = Array.from({ length: to - from + 1 }, (_, i) => from + i)
  const heading = items.findLastIndex(({ kind }, i) => kind === 'day' && i <= view[0])
  const others = [heading, kept ?? -1].filter((i) => i >= 0 && (i < from || i > to))
  return [...new Set([...others, ...shown])].toSorted((a, b) => a - b)
}
