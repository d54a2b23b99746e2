import { AuditLog } from 'daybook'
import { memoryStore } from 'daybook/memory'
import { sqliteStore } from 'daybook/sqlite'
import { expect, it, onTestFinished } from 'vitest'
import { tempDir } from '../../support/temp.js'
import { DAY, type Microseconds, MINUTE, SECOND } from '../../../src/event/timestamp.js'
import { type ClockDoubt, createClockGuard, guardedClock } from '../../../src/store/clock-guard.js'

const NOON: Microseconds = 1_800_000_000 * SECOND
const YEARS = 75 * 365 * DAY

/** A guard with `passed` as its monotonic clock, and the reported doubts. */
function fixture() {
  let passed: Microseconds = 0
  const guard = createClockGuard(() => passed / 1000)
  const doubts: ClockDoubt[] = []
  guard.watch((doubt) => doubts.push(doubt))
  return { guard, doubts, pass: (time: Microseconds) => void (passed += time) }
}

it('after a jump ahead, events get the last reading plus the elapsed time, and the jump is reported once', () => {
  const { guard, doubts, pass } = fixture()
  expect(guard.judge(NOON)).toBe(NOON)
  expect(guard.doubted()).toBeUndefined()
  pass(SECOND)
  expect(guard.judge(NOON + YEARS)).toBe(NOON + SECOND)
  pass(SECOND)
  expect(guard.judge(NOON + YEARS + SECOND)).toBe(NOON + 2 * SECOND)
  expect(guard.doubted()).toBe(NOON + 2 * SECOND)
  expect(doubts).toEqual([{ reason: 'jump', clock: NOON + YEARS, expected: NOON + SECOND }])
})

it('a jump of 30 days is followed', () => {
  const { guard, doubts } = fixture()
  guard.judge(NOON)
  expect(guard.judge(NOON + 30 * DAY)).toBe(NOON + 30 * DAY)
  expect(doubts).toEqual([])
})

it('a long time without a reading is not a jump', () => {
  const { guard, pass } = fixture()
  guard.judge(NOON)
  pass(90 * DAY)
  expect(guard.judge(NOON + 90 * DAY)).toBe(NOON + 90 * DAY)
})

it('a jump that has lasted for 10 minutes is followed', () => {
  const { guard, pass } = fixture()
  guard.judge(NOON)
  guard.judge(NOON + YEARS)
  pass(10 * MINUTE - 1000)
  expect(guard.judge(NOON + YEARS)).toBe(NOON + 10 * MINUTE - 1000)
  pass(1000)
  expect(guard.judge(NOON + YEARS)).toBe(NOON + YEARS)
  expect(guard.doubted()).toBeUndefined()
})

it('a corrected clock is followed at once, and its next jump is doubted again', () => {
  const { guard, doubts, pass } = fixture()
  guard.judge(NOON)
  guard.judge(NOON + YEARS)
  pass(9 * MINUTE)
  expect(guard.judge(NOON + 9 * MINUTE)).toBe(NOON + 9 * MINUTE)
  pass(2 * MINUTE)
  expect(guard.judge(NOON + YEARS)).toBe(NOON + 11 * MINUTE)
  expect(doubts).toHaveLength(2)
})

it('accept trusts the next reading', () => {
  const { guard } = fixture()
  guard.judge(NOON)
  guard.judge(NOON + YEARS)
  guard.accept()
  expect(guard.doubted()).toBeUndefined()
  expect(guard.judge(NOON + YEARS)).toBe(NOON + YEARS)
})

it.each([YEARS, -YEARS])(
  'a start %d microseconds from the newest event is only reported',
  (lead) => {
    const { guard, doubts } = fixture()
    guard.begin(NOON)
    expect(guard.judge(NOON + lead)).toBe(NOON + lead)
    expect(guard.judge(NOON + lead)).toBe(NOON + lead)
    expect(doubts).toEqual([{ reason: 'start', clock: NOON + lead, expected: NOON }])
  },
)

it('a start near the newest event, or without one, is not reported', () => {
  for (const highWater of [NOON, 0]) {
    const { guard, doubts } = fixture()
    guard.begin(highWater)
    guard.judge(NOON + DAY)
    expect(doubts).toEqual([])
  }
})

it('a start with an accepted clock is not reported', () => {
  const { guard, doubts } = fixture()
  guard.begin(NOON)
  guard.accept()
  expect(guard.judge(NOON + YEARS)).toBe(NOON + YEARS)
  expect(doubts).toEqual([])
})

it('without a monotonic clock every reading is trusted', () => {
  const guard = createClockGuard(undefined)
  guard.begin(1)
  expect([guard.judge(NOON), guard.judge(NOON + YEARS)]).toEqual([NOON, NOON + YEARS])
})

it('a handler that is added later gets the doubt', () => {
  const guard = createClockGuard(() => 0)
  guard.begin(NOON)
  guard.judge(NOON + YEARS)
  const doubts: ClockDoubt[] = []
  guard.watch((doubt) => doubts.push(doubt))()
  guard.watch((doubt) => doubts.push(doubt))
  expect(doubts).toHaveLength(1)
})

it.each([Number.NaN, -1, Infinity, 2 ** 53, undefined as unknown as number])(
  'a clock that returns %s is refused, and nothing is stored',
  async (reading) => {
    let isRight = false
    const { file, remove } = tempDir()
    onTestFinished(remove)
    const clock = (): Microseconds => (isRight ? NOON + 0.7 : reading)
    expect(() => guardedClock(clock, createClockGuard(undefined))()).toThrow('the clock returned')
    for (const store of [
      memoryStore({ clock }),
      sqliteStore({ filename: file('log.db'), clock }),
    ]) {
      isRight = false
      await using audit = new AuditLog({ store, types: {} })
      await expect(audit.recordCustom('a:b')).rejects.toMatchObject({ code: 'INVALID_OPTION' })
      isRight = true
      const event = await audit.recordCustom('a:b')
      expect((await audit.list()).events).toEqual([event])
      expect(event!.created_at).toBe('2027-01-15T08:00:00.000000Z')
    }
  },
)
