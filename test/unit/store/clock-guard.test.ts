import { expect, it } from 'vitest'
import { DAY, type Microseconds, MINUTE, SECOND } from '../../../src/event/timestamp.js'
import { type ClockDoubt, createClockGuard } from '../../../src/store/clock-guard.js'

const NOON: Microseconds = 1_800_000_000 * SECOND
const YEARS = 75 * 365 * DAY

/** A guard whose monotonic clock is `passed`, and what it has told. */
function fixture() {
  let passed: Microseconds = 0
  const guard = createClockGuard(() => passed / 1000)
  const told: ClockDoubt[] = []
  guard.watch((doubt) => told.push(doubt))
  return { guard, told, pass: (time: Microseconds) => void (passed += time) }
}

it('a jump ahead is stamped from the last reading plus the time since, and told once', () => {
  const { guard, told, pass } = fixture()
  expect(guard.judge(NOON)).toBe(NOON)
  expect(guard.doubted()).toBeUndefined()
  pass(SECOND)
  expect(guard.judge(NOON + YEARS)).toBe(NOON + SECOND)
  pass(SECOND)
  expect(guard.judge(NOON + YEARS + SECOND)).toBe(NOON + 2 * SECOND)
  expect(guard.doubted()).toBe(NOON + 2 * SECOND)
  expect(told).toEqual([{ reason: 'jump', clock: NOON + YEARS, expected: NOON + SECOND }])
})

it('a jump of 30 days is followed', () => {
  const { guard, told } = fixture()
  guard.judge(NOON)
  expect(guard.judge(NOON + 30 * DAY)).toBe(NOON + 30 * DAY)
  expect(told).toEqual([])
})

it('a long time without a reading is no jump', () => {
  const { guard, pass } = fixture()
  guard.judge(NOON)
  pass(90 * DAY)
  expect(guard.judge(NOON + 90 * DAY)).toBe(NOON + 90 * DAY)
})

it('a jump that has stood for 10 minutes is followed', () => {
  const { guard, pass } = fixture()
  guard.judge(NOON)
  guard.judge(NOON + YEARS)
  pass(10 * MINUTE - 1000)
  expect(guard.judge(NOON + YEARS)).toBe(NOON + 10 * MINUTE - 1000)
  pass(1000)
  expect(guard.judge(NOON + YEARS)).toBe(NOON + YEARS)
  expect(guard.doubted()).toBeUndefined()
})

it('a clock that is set right is followed at once, and its next jump doubted again', () => {
  const { guard, told, pass } = fixture()
  guard.judge(NOON)
  guard.judge(NOON + YEARS)
  pass(9 * MINUTE)
  expect(guard.judge(NOON + 9 * MINUTE)).toBe(NOON + 9 * MINUTE)
  pass(2 * MINUTE)
  expect(guard.judge(NOON + YEARS)).toBe(NOON + 11 * MINUTE)
  expect(told).toHaveLength(2)
})

it('accept trusts the next reading', () => {
  const { guard } = fixture()
  guard.judge(NOON)
  guard.judge(NOON + YEARS)
  guard.accept()
  expect(guard.doubted()).toBeUndefined()
  expect(guard.judge(NOON + YEARS)).toBe(NOON + YEARS)
})

it.each([YEARS, -YEARS])('a start %d microseconds from the newest event is only told', (lead) => {
  const { guard, told } = fixture()
  guard.begin(NOON)
  expect(guard.judge(NOON + lead)).toBe(NOON + lead)
  expect(guard.judge(NOON + lead)).toBe(NOON + lead)
  expect(told).toEqual([{ reason: 'start', clock: NOON + lead, expected: NOON }])
})

it('a start near the newest event, or without one, is not told', () => {
  for (const highWater of [NOON, 0]) {
    const { guard, told } = fixture()
    guard.begin(highWater)
    guard.judge(NOON + DAY)
    expect(told).toEqual([])
  }
})

it('without a monotonic clock every reading is trusted', () => {
  const guard = createClockGuard(undefined)
  guard.begin(1)
  expect([guard.judge(NOON), guard.judge(NOON + YEARS)]).toEqual([NOON, NOON + YEARS])
})

it('a handler that comes later gets the doubt', () => {
  const guard = createClockGuard(() => 0)
  guard.begin(NOON)
  guard.judge(NOON + YEARS)
  const told: ClockDoubt[] = []
  guard.watch((doubt) => told.push(doubt))()
  guard.watch((doubt) => told.push(doubt))
  expect(told).toHaveLength(1)
})
