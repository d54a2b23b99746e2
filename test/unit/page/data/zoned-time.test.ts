import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { fromWallClock, toWallClock } from '../../../../adapters/page/data/zoned-time.js'

describe('local time in a zone', () => {
  it('is that of the zone, not of the machine', () => {
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
  })
})
