import { expect, test } from 'vitest'
import {
  type LoadedWindow,
  windowAround,
  EMPTY_WINDOW,
  rowsAfter,
  withChanged,
  withNewest,
  withNext,
  withPrevious,
} from '../../../../adapters/page/list/loaded-window.js'
import { eventOfMinute, newestFirst } from './events.js'

const names = ({ events }: LoadedWindow): string[] => events.map(({ id }) => id)

const all = newestFirst(3000)
const firstOf = (count: number): LoadedWindow => withNext(EMPTY_WINDOW, all.slice(0, count), true)

test('a page is appended, and may be the last', () => {
  const held = withNext(firstOf(2), all.slice(2, 4), false)
  expect(names(held)).toEqual(['event-3000', 'event-2999', 'event-2998', 'event-2997'])
  expect(held).toMatchObject({ before: 0, hasFirst: true, hasLast: true })
})

test('beyond 2,000 rows the first rows are dropped, but keep their space', () => {
  const held = withNext(firstOf(1900), all.slice(1900, 2100), true)
  expect(held.events).toHaveLength(2000)
  expect(held.events[0]!.id).toBe('event-2900')
  expect(held).toMatchObject({ before: 100, hasFirst: false, hasLast: false })
})

test('rows prepended to a full window drop the last ones', () => {
  const later = withNext(firstOf(2000), all.slice(2000, 2200), false)
  const held = withPrevious(later, all.slice(0, 200), false)
  expect(held.events).toHaveLength(2000)
  expect(held.events[0]!.id).toBe('event-3000')
  expect(held.events.at(-1)!.id).toBe('event-1001')
  expect(held).toMatchObject({ before: 0, hasFirst: true, hasLast: false })
})

test('there is space to scroll into while earlier rows exist', () => {
  const held: LoadedWindow = {
    events: all.slice(200, 300),
    before: 30,
    hasFirst: false,
    hasLast: false,
  }
  expect(withPrevious(held, all.slice(100, 200), true).before).toBe(20)
  expect(withPrevious({ ...held, before: 500 }, all.slice(100, 200), true).before).toBe(400)
})

test('new events that are already loaded are not added twice', () => {
  const held = withNewest(firstOf(2), [eventOfMinute(3001), all[0]!, all[1]!])
  expect(names(held)).toEqual(['event-3001', 'event-3000', 'event-2999'])
  expect(withNewest(held, [all[0]!])).toBe(held)
})

test('new events in a full window drop the oldest', () => {
  const held = withNewest({ ...firstOf(2000), hasLast: true }, [eventOfMinute(3001)])
  expect(held.events).toHaveLength(2000)
  expect(held).toMatchObject({ hasFirst: true, hasLast: false })
})

test("a window around a row starts at that row's position", () => {
  const previous = { events: all.slice(400, 500), more: true }
  const next = { events: all.slice(500, 700), more: true }
  expect(windowAround(500, previous, next)).toMatchObject({
    before: 400,
    hasFirst: false,
    hasLast: false,
  })
  expect(windowAround(70, previous, next).before).toBe(20)
  expect(windowAround(500, { ...previous, more: false }, next)).toMatchObject({
    before: 0,
    hasFirst: true,
  })
})

test('a changed event stays in place', () => {
  const changed = eventOfMinute(2999, { attributes: { progress: '40 %' } })
  expect(withChanged(firstOf(3), changed).events[1]).toBe(changed)
  const held = firstOf(1)
  expect(withChanged(held, changed)).toBe(held)
})

test('rows after the window get the remaining space of the total', () => {
  expect(rowsAfter(firstOf(100), 2163)).toBe(2063)
  expect(rowsAfter(firstOf(100), 50)).toBe(20)
  expect(rowsAfter(firstOf(100), undefined)).toBe(20)
  expect(rowsAfter({ ...firstOf(100), hasLast: true }, 2163)).toBe(0)
  expect(rowsAfter(firstOf(100), 10_000_000)).toBe(399_900)
})
