import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  fromWallClock,
  isRepeated,
  offsetText,
  timesAt,
  toWallClock,
} from '../../../../adapters/page/data/zoned-time.js'

describe('local time in a zone', () => {
  it('is the time of the zone, not of the machine', () => {
    expect(toWallClock('2026-11-20T13:06:05Z', 'Europe/Berlin')).toBe('2026-11-20T14:06:05')
    expect(toWallClock('2026-07-20T13:06:05.123456Z', 'America/New_York')).toBe(
      '2026-07-20T09:06:05',
    )
    expect(toWallClock('never', 'UTC')).toBe('')
  })

  it('converts back to the same time', () => {
    const zones = ['UTC', 'Europe/Berlin', 'Asia/Kolkata', 'Pacific/Apia', 'America/St_Johns']
    fc.assert(
      fc.property(
        fc.constantFrom(...zones),
        fc.integer({ min: 1_500_000_000, max: 1_900_000_000 }),
        (zone, seconds) => {
          const wall = toWallClock(new Date(seconds * 1000), zone)
          expect(toWallClock(fromWallClock(wall, zone)!, zone)).toBe(wall)
        },
      ),
      { numRuns: 200 },
    )
  })

  it('converts to a time when clocks are set back or forward', () => {
    const read = (wall: string): string | undefined => fromWallClock(wall, 'Europe/Berlin')
    expect(read('2026-10-25T02:30')).toBe('2026-10-25T00:30:00Z')
    expect(read('2026-10-25T03:30')).toBe('2026-10-25T02:30:00Z')
    expect(read('2026-03-29T02:30')).toBe('2026-03-29T01:30:00Z')
    expect(read('')).toBeUndefined()
    expect(fromWallClock('2026-10-25T02:30', 'Europe/Berlin', 1)).toBe('2026-10-25T01:30:00Z')
    expect(fromWallClock('2026-10-25T12:30', 'Europe/Berlin', 1)).toBe('2026-10-25T11:30:00Z')
  })

  it.each([
    ['an hour', 'America/New_York', '2026-11-01T01:30', ['05:30', '06:30']],
    ['half an hour', 'Australia/Lord_Howe', '2026-04-05T01:45', ['14:45', '15:15']],
    ['an hour, without summer time', 'Asia/Almaty', '2024-02-29T23:30', ['17:30', '18:30']],
    ['the hour before midnight', 'America/Santiago', '2026-04-04T23:30', ['02:30', '03:30']],
  ])('occurs twice where clocks are set back by %s', (_name, zone, wall, times) => {
    const found = timesAt(Date.parse(`${wall}Z`), zone)
    expect(found.map((time) => new Date(time).toISOString().slice(11, 16))).toEqual(times)
    expect(found.map((time) => isRepeated(time, zone))).toEqual([true, true])
    const ends = [found[0]! - 3_600_000, found[1]! + 3_600_000]
    expect(ends.map((time) => isRepeated(time, zone))).toEqual([false, false])
    for (const [nth, time] of found.entries())
      expect(Date.parse(fromWallClock(wall, zone, nth)!)).toBe(time)
  })

  it.each([
    ['America/New_York', '2026-03-08T02:30'],
    ['Australia/Lord_Howe', '2026-10-04T02:15'],
    ['Asia/Pyongyang', '2018-05-04T23:45'],
    ['Pacific/Apia', '2011-12-30T12:00'],
    ['America/Santiago', '2026-09-06T00:30'],
  ])('never occurs where clocks are set forward: %s, %s', (zone, wall) => {
    expect(timesAt(Date.parse(`${wall}Z`), zone)).toEqual([])
  })

  it('has an offset', () => {
    expect(offsetText('2026-07-01T00:00:00.500Z', 'Europe/Berlin')).toBe('UTC+2')
    expect(offsetText('2026-07-01T00:00:00Z', 'Asia/Kathmandu')).toBe('UTC+5:45')
    expect(offsetText('2026-01-01T00:00:00Z', 'America/St_Johns')).toBe('UTC−3:30')
    expect(offsetText('2026-11-01T05:59:59Z', 'America/New_York')).toBe('UTC−4')
    expect(offsetText('2026-11-01T06:00:00Z', 'America/New_York')).toBe('UTC−5')
    expect(offsetText('2015-08-14T14:59:59Z', 'Asia/Pyongyang')).toBe('UTC+9')
    expect(offsetText('2015-08-14T15:00:00Z', 'Asia/Pyongyang')).toBe('UTC+8:30')
    expect(offsetText(new Date(), 'UTC')).toBe('UTC')
    for (const time of ['0000-01-01T00:00:00Z', '0001-01-01T00:00:00Z', '9999-12-31T23:59:59Z']) {
      expect(offsetText(time, 'Asia/Tokyo')).toMatch(/^UTC\+9/)
      expect(isRepeated(Date.parse(time), 'America/New_York')).toBe(false)
    }
  })
})
