import { formatTimestamp, parseTimestamp } from 'daybook'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { timeBuckets } from '../../../src/store/time-buckets.js'
import { words } from '../../support/words.js'

const time = (text: string): number => parseTimestamp(text)!

/** The width, and the edges without trailing zeros. */
function bucketsOf(from: string, to: string, count: number, zone = 'UTC'): unknown[] {
  const stretch = { from: time(from), to: time(to) }
  const { width, edges } = timeBuckets(stretch, { count, zone })
  return [width, ...edges.map((edge) => formatTimestamp(edge).replace(/:00\.000000Z$/, ''))]
}

const HOUR = 3600
const DAY = 24 * HOUR

describe('buckets of time', () => {
  it('have the smallest round width that does not exceed the number of buckets', () => {
    const widths = (count: number): unknown[] =>
      words(`
        2026-03-01T00:00:09.5Z 2026-03-01T00:01 2026-03-01T01:00 2026-03-02 2026-03-08 2026-04-01
        2027-03-01 2036-03-01 3026-03-01
      `).map((to) => bucketsOf('2026-03-01', to, count)[0])
    expect(widths(96)).toEqual([
      ...[1, 1, 60, 1800, 2 * HOUR, 12 * HOUR, 7 * DAY, 3 * 2_629_746],
      20 * 12 * 2_629_746,
    ])
    expect(widths(7)).toEqual([
      ...[2, 10, 600, 6 * HOUR, 2 * DAY, 7 * DAY, 3 * 2_629_746, 2 * 12 * 2_629_746],
      200 * 12 * 2_629_746,
    ])
  })

  it('begin at round times and contain both ends', () => {
    expect(bucketsOf('2026-03-01T10:07:30', '2026-03-01T10:44:59', 4)).toEqual([
      ...[900, '2026-03-01T10:00', '2026-03-01T10:15', '2026-03-01T10:30', '2026-03-01T10:45'],
    ])
    expect(bucketsOf('2026-03-01T10:00', '2026-03-01T10:45', 4)).toEqual([
      ...[900, '2026-03-01T10:00', '2026-03-01T10:15', '2026-03-01T10:30', '2026-03-01T10:45'],
      '2026-03-01T11:00',
    ])
    expect(bucketsOf('2026-03-01T10:00', '2026-03-01T10:00', 1)).toEqual([
      ...[1, '2026-03-01T10:00', '2026-03-01T10:00:01.000000Z'],
    ])
  })

  it('can be weeks from Monday, months, quarters and years', () => {
    expect(bucketsOf('2026-03-01', '2026-03-20', 4)).toEqual([
      ...[7 * DAY, '2026-02-23T00:00', '2026-03-02T00:00', '2026-03-09T00:00', '2026-03-16T00:00'],
      '2026-03-23T00:00',
    ])
    expect(bucketsOf('2026-01-31', '2026-03-20', 3)).toEqual([
      ...[2_629_746, '2026-01-01T00:00', '2026-02-01T00:00', '2026-03-01T00:00'],
      '2026-04-01T00:00',
    ])
    expect(bucketsOf('2025-12-31', '2026-03-31', 2)).toEqual([
      ...[3 * 2_629_746, '2025-10-01T00:00', '2026-01-01T00:00', '2026-04-01T00:00'],
    ])
    expect(bucketsOf('1999-12-31', '2016-03-31', 3)).toEqual([
      ...[120 * 2_629_746, '1990-01-01T00:00', '2000-01-01T00:00', '2010-01-01T00:00'],
      '2020-01-01T00:00',
    ])
  })

  it('follow the zone over short and long days', () => {
    expect(bucketsOf('2026-03-28T12:00', '2026-03-30T12:00', 3, 'Europe/Berlin')).toEqual([
      ...[DAY, '2026-03-27T23:00', '2026-03-28T23:00', '2026-03-29T22:00', '2026-03-30T22:00'],
    ])
    expect(bucketsOf('2026-10-24T12:00', '2026-10-26T12:00', 3, 'Europe/Berlin')).toEqual([
      ...[DAY, '2026-10-23T22:00', '2026-10-24T22:00', '2026-10-25T23:00', '2026-10-26T23:00'],
    ])
  })

  it('begin at the jump if the clocks skip their start, and include repeated hours', () => {
    expect(bucketsOf('2026-03-28T23:00', '2026-03-29T03:59', 3, 'Europe/Berlin')).toEqual([
      // Edges at 00:00 and 04:00, with 03:00 instead of 02:00.
      ...[2 * HOUR, '2026-03-28T23:00', '2026-03-29T01:00', '2026-03-29T02:00'],
      '2026-03-29T04:00',
    ])
    expect(bucketsOf('2026-10-25T00:00', '2026-10-25T02:59', 3, 'Europe/Berlin')).toEqual([
      // Edges at 02:00, again 02:00, and 03:00.
      ...[HOUR, '2026-10-25T00:00', '2026-10-25T01:00', '2026-10-25T02:00', '2026-10-25T03:00'],
    ])
    // The clocks go back half an hour to 01:30.
    expect(bucketsOf('2026-04-04T14:00', '2026-04-04T16:29', 3, 'Australia/Lord_Howe')).toEqual([
      ...[HOUR, '2026-04-04T14:00', '2026-04-04T15:30', '2026-04-04T16:30'],
    ])
    // 2011-12-30 was skipped.
    expect(bucketsOf('2011-12-29T12:00', '2011-12-31T09:59', 2, 'Pacific/Apia')).toEqual([
      ...[DAY, '2011-12-29T10:00', '2011-12-30T10:00', '2011-12-31T10:00'],
    ])
  })

  it('support offsets of a quarter of an hour', () => {
    expect(bucketsOf('2026-03-01T10:00', '2026-03-01T11:14', 2, 'Asia/Kathmandu')).toEqual([
      ...[HOUR, '2026-03-01T09:15', '2026-03-01T10:15', '2026-03-01T11:15'],
    ])
  })

  it('are empty for an empty range, and refuse an unknown zone', () => {
    expect(timeBuckets(undefined, { count: 5, zone: 'UTC' })).toEqual({
      width: 1,
      zone: 'UTC',
      edges: [],
    })
    expect(() => timeBuckets(undefined, { count: 5, zone: 'Nowhere' })).toThrow(RangeError)
  })

  it('begin at local midnight, unless the clocks skip it', () => {
    const clock = (zone: string): ((time: number) => string) => {
      const format = new Intl.DateTimeFormat('en-US', {
        timeZone: zone,
        hourCycle: 'h23',
        timeStyle: 'medium',
      })
      return (time) => format.format(time / 1000)
    }
    const year = { from: time('2018-01-01T12:00'), to: time('2018-12-31T12:00') }
    for (const zone of ['Europe/Berlin', 'America/Havana', 'Asia/Kathmandu', 'America/Sao_Paulo']) {
      const { width, edges } = timeBuckets(year, { count: 366, zone })
      expect(width).toBe(DAY)
      expect(edges).toHaveLength(366)
      const local = new Set(edges.map(clock(zone)))
      const jumps = zone === 'America/Sao_Paulo' || zone === 'America/Havana' ? ['01:00:00'] : []
      expect([...local].toSorted()).toEqual(['00:00:00', ...jumps])
    }
  })

  it('cover all representable times, also with one bucket', () => {
    for (const zone of ['UTC', 'Asia/Tokyo', 'America/Los_Angeles']) {
      const all = bucketsOf('1970-01-01', '9999-12-31T23:59:59', 1, zone)
      expect(all).toHaveLength(3)
      expect(all.at(-1)).toBe('9999-12-31T23:59:59.000000Z')
    }
  })

  it('ascend without gaps and within the limit, at any time in any zone', () => {
    const zone = fc.constantFrom(
      ...['UTC', 'Europe/Berlin', 'America/St_Johns', 'America/Havana', 'America/Sao_Paulo'],
      ...['Australia/Lord_Howe', 'Pacific/Apia', 'Asia/Kathmandu', 'Africa/Casablanca'],
      ...['Antarctica/Troll', 'America/New_York', 'Pacific/Kwajalein'],
    )
    const begin = fc.integer({ min: 0, max: 2_000_000_000 }).map((second) => second * 1_000_000)
    const length = fc.tuple(fc.double({ min: 0, max: 15, noNaN: true })).map(([e]) => 10 ** e)
    fc.assert(
      fc.property(
        zone,
        begin,
        length,
        fc.integer({ min: 1, max: 40 }),
        (zone, from, length, count) => {
          const to = from + Math.floor(length)
          const { edges } = timeBuckets({ from, to }, { count, zone })
          expect(edges.length - 1).toBeLessThanOrEqual(count)
          expect(edges[0]).toBeLessThanOrEqual(from)
          expect(edges[1]).toBeGreaterThan(from)
          expect(edges.at(-1)).toBeGreaterThan(to)
          expect(edges.at(-2)).toBeLessThanOrEqual(to)
          for (const [i, edge] of edges.slice(1).entries()) expect(edge).toBeGreaterThan(edges[i]!)
        },
      ),
      { numRuns: 200 },
    )
  })
})
