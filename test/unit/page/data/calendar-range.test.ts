import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { CALENDAR_RANGES, calendarRange } from '../../../../adapters/page/data/calendar-range.js'
import { words } from '../../../support/words.js'

const ZONES = words(`
  UTC Europe/Berlin America/New_York America/Sao_Paulo America/St_Johns Asia/Beirut Asia/Kathmandu
  Australia/Lord_Howe Pacific/Auckland
`)

const formats = new Map(
  ZONES.map((timeZone) => [
    timeZone,
    new Intl.DateTimeFormat('en-CA', { timeZone, dateStyle: 'short', hourCycle: 'h23' }),
  ]),
)

/** The local date, read from `Intl` alone. */
const dayIn = (zone: string, time: number): string => formats.get(zone)!.format(time)

const weekdayOf = (day: string): number => (new Date(day).getUTCDay() + 6) % 7

/** The name of the period of a local date: the day, the Monday of its week, or the month. */
const PERIOD_OF: Readonly<Record<string, (day: string) => string>> = {
  day: (day) => day,
  week: (day) => new Date(Date.parse(day) - weekdayOf(day) * 86_400_000).toISOString().slice(0, 10),
  month: (day) => day.slice(0, 7),
}

const unitOf = (name: string): string => (name.includes('day') ? 'day' : name.split('-')[1]!)

describe('calendar ranges', () => {
  it('are days, weeks and months of the zone, also when clocks change', () => {
    fc.assert(
      fc.property(
        fc.constantFrom(...ZONES),
        fc.constantFrom(...CALENDAR_RANGES),
        fc.integer({ min: 1_000_000_000, max: 2_000_000_000 }),
        (zone, name, seconds) => {
          const now = seconds * 1000
          const periodOf = (time: number): string => PERIOD_OF[unitOf(name)]!(dayIn(zone, time))
          const { from, to } = calendarRange(name, new Date(now), zone)!
          const start = Date.parse(from!)
          expect(start).toBeLessThanOrEqual(now)
          expect(periodOf(start - 1)).not.toBe(periodOf(start))
          if (to === undefined) {
            expect(/^today$|^this-/.test(name)).toBe(true)
            expect(periodOf(start)).toBe(periodOf(now))
          } else {
            const end = Date.parse(to)
            expect(periodOf(end)).toBe(periodOf(now))
            expect(periodOf(end - 1)).toBe(periodOf(start))
            expect(periodOf(end)).not.toBe(periodOf(start))
          }
        },
      ),
      { numRuns: 500 },
    )
  })

  it('have the length of the day when clocks are set forward or back', () => {
    const hours = (name: string, now: string): number => {
      const { from, to } = calendarRange(name, new Date(now), 'Europe/Berlin')!
      return (Date.parse(to!) - Date.parse(from!)) / 3_600_000
    }
    expect(hours('yesterday', '2026-03-30T10:00:00Z')).toBe(23)
    expect(hours('yesterday', '2026-10-26T10:00:00Z')).toBe(25)
    expect(hours('yesterday', '2026-11-20T10:00:00Z')).toBe(24)
    expect(hours('last-week', '2026-03-30T10:00:00Z')).toBe(7 * 24 - 1)
  })

  it('start at the first moment of a day that has no midnight', () => {
    // In Beirut clocks were set forward from 00:00 to 01:00 on 27 March 2022.
    expect(calendarRange('today', new Date('2022-03-27T12:00:00Z'), 'Asia/Beirut')).toEqual({
      from: '2022-03-26T22:00:00Z',
      to: undefined,
    })
  })

  it('have no other names', () => {
    for (const name of ['tomorrow', 'constructor', '24h', ''])
      expect(calendarRange(name, new Date(), 'UTC')).toBeUndefined()
  })
})
