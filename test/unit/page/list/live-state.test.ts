import { expect, test } from 'vitest'
import {
  isFollowed,
  liveStateIn,
  NONE_WAITING,
  retryDelay,
  type Situation,
  waitingSince,
  withWaiting,
} from '../../../../adapters/page/list/live-state.js'
import { newestFirst } from './events.js'

const NOW = new Date('2026-11-20T12:00:00Z')
const CALM: Situation = {
  isRefused: false,
  isSorted: false,
  isTooLong: false,
  to: undefined,
  isPaused: false,
  isOffline: false,
  isReading: false,
}

const stateWith = (situation: Partial<Situation>) => liveStateIn({ ...CALM, ...situation }, NOW)

test('events appear live at the top of the list with no event open', () => {
  expect(stateWith({})).toBe('live')
  expect(stateWith({ isReading: true })).toBe('held')
})

test('the reason that lasts longest is shown', () => {
  const reading = { isReading: true, isOffline: true }
  expect(stateWith(reading)).toBe('offline')
  expect(stateWith({ ...reading, isPaused: true })).toBe('paused')
  const fixed = { ...reading, isPaused: true, to: '2026-11-20T11:00:00Z' }
  expect(stateWith(fixed)).toBe('fixed')
  expect(stateWith({ ...fixed, isSorted: true })).toBe('sorted')
  expect(stateWith({ ...fixed, isSorted: true, isRefused: true })).toBe('stopped')
})

test('a query that is too long for a URL is not followed', () => {
  expect(stateWith({ isTooLong: true, isPaused: true, isReading: true })).toBe('long')
  expect(isFollowed('long')).toBe(false)
})

test('a range that ends in the future is followed', () => {
  expect(stateWith({ to: '2026-11-20T12:00:01Z' })).toBe('live')
  expect(stateWith({ to: '2026-11-20T12:00:00Z' })).toBe('fixed')
})

test('the stream stays open while events wait', () => {
  expect((['live', 'held', 'paused', 'offline'] as const).every(isFollowed)).toBe(true)
  expect((['stopped', 'fixed', 'sorted'] as const).some(isFollowed)).toBe(false)
})

const events = newestFirst(1001)

test('waiting events are kept newest first', () => {
  const waiting = withWaiting(withWaiting(NONE_WAITING, events.slice(2, 4)), events.slice(0, 2))
  expect(waiting).toEqual({ events: events.slice(0, 4), count: 4 })
})

test('beyond 1,000 only the number is kept', () => {
  const full = withWaiting(NONE_WAITING, events.slice(1))
  expect(full.events).toHaveLength(1000)
  const over = withWaiting(full, events.slice(0, 1))
  expect(over).toEqual({ events: [], count: 1001 })
  expect(waitingSince(over, events[0]!.created_at)).toBe(over)
})

test('events that the list has loaded no longer wait', () => {
  const waiting = withWaiting(NONE_WAITING, events.slice(0, 3))
  expect(waitingSince(waiting, events[2]!.created_at)).toEqual({
    events: events.slice(0, 2),
    count: 2,
  })
  expect(waitingSince(waiting, undefined)).toBe(waiting)
})

test('the delay between attempts doubles up to 30 seconds', () => {
  expect([0, 1, 2, 3, 4, 9].map(retryDelay)).toEqual([2, 4, 8, 16, 30, 30])
})
