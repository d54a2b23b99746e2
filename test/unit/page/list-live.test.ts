import { expect, test } from 'vitest'
import {
  isFollowed,
  liveStateIn,
  NONE_WAITING,
  retryDelay,
  type Situation,
  waitingSince,
  withWaiting,
} from '../../../adapters/page/list/live-state.js'
import { newestFirst } from './list-events.js'

const NOW = new Date('2026-11-20T12:00:00Z')
const CALM: Situation = {
  isRefused: false,
  isSorted: false,
  to: undefined,
  isPaused: false,
  isOffline: false,
  isReading: false,
}

const stateWith = (situation: Partial<Situation>) => liveStateIn({ ...CALM, ...situation }, NOW)

test('at the top with nothing open events come in live', () => {
  expect(stateWith({})).toBe('live')
  expect(stateWith({ isReading: true })).toBe('held')
})

test('the reason that lasts longest is the one that is told', () => {
  const reading = { isReading: true, isOffline: true }
  expect(stateWith(reading)).toBe('offline')
  expect(stateWith({ ...reading, isPaused: true })).toBe('paused')
  const fixed = { ...reading, isPaused: true, to: '2026-11-20T11:00:00Z' }
  expect(stateWith(fixed)).toBe('fixed')
  expect(stateWith({ ...fixed, isSorted: true })).toBe('sorted')
  expect(stateWith({ ...fixed, isSorted: true, isRefused: true })).toBe('stopped')
})

test('a range that ends later is still followed', () => {
  expect(stateWith({ to: '2026-11-20T12:00:01Z' })).toBe('live')
  expect(stateWith({ to: '2026-11-20T12:00:00Z' })).toBe('fixed')
})

test('events are followed while they wait', () => {
  expect((['live', 'held', 'paused', 'offline'] as const).every(isFollowed)).toBe(true)
  expect((['stopped', 'fixed', 'sorted'] as const).some(isFollowed)).toBe(false)
})

const events = newestFirst(1001)

test('what waits is kept newest first', () => {
  const waiting = withWaiting(withWaiting(NONE_WAITING, events.slice(2, 4)), events.slice(0, 2))
  expect(waiting).toEqual({ events: events.slice(0, 4), count: 4 })
})

test('of more than 1,000 only the number is kept', () => {
  const full = withWaiting(NONE_WAITING, events.slice(1))
  expect(full.events).toHaveLength(1000)
  const over = withWaiting(full, events.slice(0, 1))
  expect(over).toEqual({ events: [], count: 1001 })
  expect(waitingSince(over, events[0]!.created_at)).toBe(over)
})

test('what the list has come to hold no longer waits', () => {
  const waiting = withWaiting(NONE_WAITING, events.slice(0, 3))
  expect(waitingSince(waiting, events[2]!.created_at)).toEqual({
    events: events.slice(0, 2),
    count: 2,
  })
  expect(waitingSince(waiting, undefined)).toBe(waiting)
})

test('tries grow rarer, and no rarer than every half minute', () => {
  expect([0, 1, 2, 3, 4, 9].map(retryDelay)).toEqual([2, 4, 8, 16, 30, 30])
})
