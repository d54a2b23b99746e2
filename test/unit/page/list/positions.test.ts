import { expect, test } from 'vitest'
import { dayTotals, rowAtTime, timeAtRow } from '../../../../adapters/page/list/row-estimate.js'
import {
  itemAt,
  itemsBetween,
  itemsOf,
  mountedItems,
  type Positions,
  positionsOf,
} from '../../../../adapters/page/list/positions.js'
import { eventOfMinute } from './events.js'

const dayOf = (time: string): string => time.slice(0, 10)

/** Two events of the 21st, then 100 of the 20th; rows are 10 high, headings 20. */
const events = [
  eventOfMinute(1441),
  eventOfMinute(1440),
  ...Array.from({ length: 100 }, (_, i) => eventOfMinute(1000 - i)),
]
const positions: Positions = positionsOf(itemsOf(events, 50, dayOf), 500, ({ kind }) =>
  kind === 'day' ? 20 : 10,
)

test('each day starts with a heading', () => {
  const { items, offsets } = positions
  expect(items.slice(0, 5)).toMatchObject([
    { kind: 'day', day: '2026-11-21' },
    { kind: 'row', row: 50 },
    { kind: 'row', row: 51 },
    { kind: 'day', day: '2026-11-20' },
    { kind: 'row', row: 52 },
  ])
  expect(offsets.slice(0, 6)).toEqual([500, 520, 530, 540, 560, 570])
  expect(offsets.at(-1)).toBe(1560)
})

test('without days there are only rows', () => {
  expect(itemsOf(events, 0).every(({ kind }) => kind === 'row')).toBe(true)
})

test('an offset belongs to the item that covers it', () => {
  expect([0, 500, 519, 520, 545, 560, 99_999].map((y) => itemAt(positions, y))).toEqual([
    0, 0, 0, 1, 3, 4, 103,
  ])
})

test('an item is in view if one pixel of it is', () => {
  expect(itemsBetween(positions, 525, 560)).toEqual([1, 3])
  expect(itemsBetween(positions, 525, 561)).toEqual([1, 4])
  expect(itemsBetween(positions, 0, 500)).toBeUndefined()
  expect(itemsBetween(positions, 1560, 1700)).toBeUndefined()
  expect(itemsBetween(positions, 0, 501)).toEqual([0, 0])
})

test('ten more items are rendered around the view, and the heading of its day', () => {
  const mounted = mountedItems(positions, [40, 60], 10, undefined)
  expect(mounted[0]).toBe(3)
  expect(mounted.slice(1)).toEqual(Array.from({ length: 41 }, (_, i) => 30 + i))
})

test('the focused row stays rendered', () => {
  expect(mountedItems(positions, [40, 42], 0, 'event-1441')).toEqual([1, 3, 40, 41, 42])
  expect(mountedItems(positions, undefined, 10, 'event-1441')).toEqual([1])
  expect(mountedItems(positions, undefined, 10, 'event-5')).toEqual([])
})

const bucket = (hour: number, total: number) => ({
  from: `2026-11-20T${String(hour).padStart(2, '0')}:00:00Z`,
  to: `2026-11-20T${String(hour + 1).padStart(2, '0')}:00:00Z`,
  total,
  levels: {},
})
const buckets = [bucket(8, 100), bucket(9, 0), bucket(10, 50)]

test('rows and times are estimated from the counts', () => {
  expect(rowAtTime(buckets, '2026-11-20T11:00:00Z')).toBe(0)
  expect(rowAtTime(buckets, '2026-11-20T10:30:00Z')).toBe(25)
  expect(rowAtTime(buckets, '2026-11-20T09:30:00Z')).toBe(50)
  expect(rowAtTime(buckets, '2026-11-20T08:00:00Z')).toBe(150)
  expect(timeAtRow(buckets, 25)).toBe('2026-11-20T10:30:00.000Z')
  expect(timeAtRow(buckets, 100)).toBe('2026-11-20T08:30:00.000Z')
  expect(timeAtRow(buckets, 1000)).toBe('2026-11-20T08:00:00Z')
  expect(timeAtRow([], 0)).toBeUndefined()
})

test('a day has a count only if no bucket spans two days', () => {
  const wide = { from: '2026-11-20T22:00:00Z', to: '2026-11-21T02:00:00Z', total: 3, levels: {} }
  expect([...dayTotals(buckets, dayOf)]).toEqual([['2026-11-20', 150]])
  expect([...dayTotals([...buckets, wide], dayOf)]).toEqual([])
  expect([...dayTotals([...buckets, { ...wide, total: 0 }], dayOf)]).toEqual([['2026-11-20', 150]])
})
