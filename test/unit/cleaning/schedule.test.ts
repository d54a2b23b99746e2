import { sub } from 'date-fns/sub'
import fc from 'fast-check'
import { afterEach, describe, expect, it } from 'vitest'
import { add, subtract } from '../../../src/event/duration.js'
import { parseTimeOfDay, nextTimeAfter } from '../../../src/cleaning/schedule.js'
import { formatTimestamp, parseTimestamp } from '../../../src/event/timestamp.js'

const zone = process.env['TZ']

afterEach(() => {
  if (zone === undefined) delete process.env['TZ']
  else process.env['TZ'] = zone
})

const time = (text: string): number => parseTimestamp(text)!

const cases = [
  ['2026-03-31T12:00:00.000001Z', { months: 1 }, '2026-02-28T12:00:00.000001Z'],
  ['2024-03-31T12:00:00Z', { months: 1 }, '2024-02-29T12:00:00.000000Z'],
  ['2024-02-29T00:00:00Z', { years: 1 }, '2023-02-28T00:00:00.000000Z'],
  ['2026-01-15T00:00:00Z', { months: 14 }, '2024-11-15T00:00:00.000000Z'],
  ['2026-03-30T01:30:00Z', { days: 1 }, '2026-03-29T01:30:00.000000Z'],
  ['2026-03-08T07:30:00.123456Z', { weeks: 1, hours: 1 }, '2026-03-01T06:30:00.123456Z'],
  ['2026-03-01T00:00:00Z', { months: 1, days: 1, minutes: 1 }, '2026-01-30T23:59:00.000000Z'],
  ['2026-03-01T00:00:00Z', { seconds: 0.25 }, '2026-02-28T23:59:59.750000Z'],
] as const

describe('a duration', () => {
  // The zones change to summer time on different days, one of them by half an hour.
  it.each([
    ['UTC', 0],
    ['Europe/Berlin', -120],
    ['America/New_York', 240],
    ['Australia/Lord_Howe', -630],
  ])('is subtracted in UTC if the host is in %s', (zone, offset) => {
    process.env['TZ'] = zone
    expect(new Date('2026-07-01').getTimezoneOffset()).toBe(offset)
    for (const [from, duration, expected] of cases)
      expect(formatTimestamp(subtract(time(from), duration))).toBe(expected)
  })

  it('is subtracted as date-fns does if the host is in UTC', () => {
    process.env['TZ'] = 'UTC'
    const count = fc.nat({ max: 40 })
    fc.assert(
      fc.property(
        fc.integer({ min: 0, max: 4_000_000_000_000 }),
        fc.record(
          { years: count, months: count, weeks: count, days: count, hours: count, seconds: count },
          { requiredKeys: [] },
        ),
        (ms, duration) => {
          expect(subtract(ms * 1000, duration)).toBe(sub(new Date(ms), duration).getTime() * 1000)
        },
      ),
    )
  })

  it('is added in UTC too', () => {
    expect(formatTimestamp(add(time('2026-01-31T10:00:00.000007Z'), { months: 1 }))).toBe(
      '2026-02-28T10:00:00.000007Z',
    )
  })
})

describe('a schedule', () => {
  it('runs next one interval after the last run', () => {
    expect(nextTimeAfter({ every: { hours: 6 } }, time('2026-03-29T00:30:00Z'))).toBe(
      time('2026-03-29T06:30:00Z'),
    )
  })

  it('runs next at the next time of day, not at the current one', () => {
    const at = parseTimeOfDay('03:30')!
    const next = (from: string): string => formatTimestamp(nextTimeAfter({ at }, time(from)))
    expect(next('2026-03-29T03:29:59.999999Z')).toBe('2026-03-29T03:30:00.000000Z')
    expect(next('2026-03-29T03:30:00Z')).toBe('2026-03-30T03:30:00.000000Z')
    expect(next('2026-12-31T23:59:00Z')).toBe('2027-01-01T03:30:00.000000Z')
  })

  it('accepts only times of day', () => {
    expect(parseTimeOfDay('00:00')).toBe(0)
    expect(parseTimeOfDay('23:59')).toBe(86_340_000_000)
    for (const text of ['24:00', '3:30', '03:60', '03:30:00', '', ' 03:30', '03-30'])
      expect(parseTimeOfDay(text)).toBeUndefined()
  })
})
