import { describe, expect, test } from 'vitest'
import { axisLabels } from '../../../../adapters/page/over-time/axis.js'
import {
  highestOf,
  roundBelow,
  segmentsOf,
} from '../../../../adapters/page/over-time/bar-segments.js'
import {
  barAt,
  sameTimes,
  edgesOf,
  shiftRange,
  positionOf,
  barRange,
  timeAt,
} from '../../../../adapters/page/over-time/timeline.js'
import type { Bucket } from '../../../../src/store/counts.js'

describe('a bar', () => {
  test('stacks the levels from the baseline in their order', () => {
    const bar = segmentsOf({ api: 30, error: 10, custom: 10 }, 1, 74)
    expect(bar.map(({ level }) => level)).toEqual(['error', 'api', 'custom'])
    const [error, api, custom] = bar
    expect(error!.y + error!.height).toBeCloseTo(74)
    expect(error!.y - (api!.y + api!.height)).toBeCloseTo(0.8)
    expect(api!.y - (custom!.y + custom!.height)).toBeCloseTo(0.8)
    expect(api!.height / error!.height).toBeCloseTo(3)
    // Gaps are part of the bar, so its top is at the height of 50 events.
    expect(custom!.y).toBeCloseTo(24)
  })

  test('shows one event among thousands, with the correct total height', () => {
    const [error, api] = segmentsOf({ error: 1, api: 5000 }, 66 / 5001, 74)
    expect(error!.height).toBeCloseTo(1)
    expect(api!.y).toBeCloseTo(8)
  })

  test.each([24, 4, 2, 1, 0])(
    'of %d pixels draws few events much lower than many, and is only as high as its events require',
    (height) => {
      const [error, api] = segmentsOf({ error: 334, api: 5629 }, height / 5963, 30)
      expect(api!.height / error!.height).toBeGreaterThan(3.9)
      expect(30 - api!.y).toBeCloseTo(Math.max(1.5, height))
    },
  )

  test('has room for six levels of one event each', () => {
    const one = { error: 1, warn: 1, audit: 1, info: 1, api: 1, custom: 1 }
    const heights = segmentsOf(one, 0.01, 74).map((segment) => segment.height)
    expect(new Set(heights.map((height) => height.toFixed(6))).size).toBe(1)
    expect(heights[0]).toBeGreaterThan(0.15)
  })

  test('has no segments without events', () => {
    expect(segmentsOf({}, 1, 74)).toEqual([])
    expect(segmentsOf({ error: 0 }, 1, 74)).toEqual([])
  })
})

test.each([
  [4, 4],
  [7, 6],
  [9, 8],
  [14, 10],
  [19, 15],
  [63, 60],
  [119, 100],
  [660, 600],
  [2163, 2000],
  [2600, 2500],
])('of %d events, the upper grid line is at %d', (max, line) => {
  expect(roundBelow(max)).toBe(line)
})

const MINUTE = 60_000

const bucketsFrom = (start: string, widths: readonly number[], total = 0): Bucket[] => {
  let time = Date.parse(start)
  return widths.map((width) => {
    const from = new Date(time).toISOString()
    time += width
    return { from, to: new Date(time).toISOString(), total, levels: {} }
  })
}

test('the highest bar is the first of the highest', () => {
  const [one, two, three] = bucketsFrom('2026-11-20T00:00:00Z', [MINUTE, MINUTE, MINUTE])
  const bars = [one!, { ...two!, total: 5 }, { ...three!, total: 5 }]
  expect(highestOf(bars)).toBe(bars[1])
  expect(highestOf([one!])).toBeUndefined()
})

describe('time along the chart', () => {
  const start = Date.parse('2026-11-20T00:00:00Z')
  // A bar of twice the duration is drawn as wide as the others.
  const edges = edgesOf(bucketsFrom('2026-11-20T00:00:00Z', [MINUTE, 2 * MINUTE, MINUTE, MINUTE]))

  test.each([
    [0, 0],
    [0.5, 0.125],
    [1, 0.25],
    [2, 0.375],
    [3, 0.5],
    [5, 1],
  ])('minute %d is at %d, and back', (minute, place) => {
    expect(positionOf(edges, start + minute * MINUTE)).toBeCloseTo(place)
    expect(timeAt(edges, place)).toBeCloseTo(start + minute * MINUTE)
  })

  test('times outside of the chart are at its ends', () => {
    expect(positionOf(edges, start - 1)).toBe(0)
    expect(positionOf(edges, start + 9 * MINUTE)).toBe(1)
    expect(timeAt(edges, -1)).toBe(start)
    expect(timeAt(edges, 2)).toBe(start + 5 * MINUTE)
  })

  test('a position belongs to a bar', () => {
    expect([-0.1, 0, 0.24, 0.25, 0.99, 1, 1.3].map((place) => barAt(4, place))).toEqual([
      0, 0, 0, 1, 3, 3, 3,
    ])
  })

  test('without bars there are no edges', () => {
    expect(edgesOf([])).toEqual([])
  })
})

describe('the selection', () => {
  test('is the same from either end', () => {
    expect(barRange(3, 5)).toEqual({ from: 3, to: 5 })
    expect(barRange(5, 3)).toEqual({ from: 3, to: 5 })
  })

  test('moves only within the chart', () => {
    expect(shiftRange({ from: 3, to: 5 }, 2, 10)).toEqual({ from: 5, to: 7 })
    expect(shiftRange({ from: 3, to: 5 }, 9, 10)).toEqual({ from: 7, to: 9 })
    expect(shiftRange({ from: 3, to: 5 }, -9, 10)).toEqual({ from: 0, to: 2 })
  })

  test('keeps its time when the bars shift', () => {
    const old = [0, 1, 2, 3, 4]
    expect(sameTimes({ from: 2, to: 2 }, old, [1, 2, 3, 4, 5])).toEqual({ from: 1, to: 1 })
    expect(sameTimes({ from: 0, to: 2 }, old, [1, 2, 3, 4, 5])).toBeUndefined()
    expect(sameTimes({ from: 0, to: 3 }, old, [0, 2, 4])).toEqual({ from: 0, to: 1 })
  })
})

describe('labels of the axis', () => {
  const labelled = (start: string, widths: readonly number[], zone = 'UTC', max = 10) =>
    axisLabels(edgesOf(bucketsFrom(start, widths)), zone, max).map(
      ({ time, precision }) => `${new Date(time).toISOString().slice(5, 19)} ${precision}`,
    )
  const bars = (count: number, width: number): number[] =>
    Array.from({ length: count }, () => width)
  const HOUR = 60 * MINUTE

  test('a day of 15-minute bars has one every three hours, and midnight shows the day', () => {
    expect(labelled('2026-11-19T14:00:00Z', bars(97, 15 * MINUTE))).toEqual([
      '11-19T15:00:00 minute',
      '11-19T18:00:00 minute',
      '11-19T21:00:00 minute',
      '11-20T00:00:00 day',
      '11-20T03:00:00 minute',
      '11-20T06:00:00 minute',
      '11-20T09:00:00 minute',
      '11-20T12:00:00 minute',
    ])
  })

  test('are at round times in the zone', () => {
    expect(labelled('2026-11-19T18:30:00Z', bars(48, 30 * MINUTE), 'Asia/Kolkata', 5)).toEqual([
      '11-19T18:30:00 day',
      '11-20T00:30:00 minute',
      '11-20T06:30:00 minute',
      '11-20T12:30:00 minute',
    ])
  })

  test('are at round times on a day when the clocks change', () => {
    // 26 October 2025 had 25 hours in Berlin.
    expect(labelled('2025-10-25T22:00:00Z', bars(25, HOUR), 'Europe/Berlin')).toEqual([
      '10-25T22:00:00 day',
      '10-26T01:00:00 minuteOffset',
      '10-26T05:00:00 minute',
      '10-26T08:00:00 minute',
      '10-26T11:00:00 minute',
      '10-26T14:00:00 minute',
      '10-26T17:00:00 minute',
      '10-26T20:00:00 minute',
    ])
  })

  test.each([
    // The second 01:00.
    ['set back', 'America/New_York', '2026-11-01T04:00:00Z', 15, '11-01T06:00:00 minuteOffset'],
    // 02:00 is missing.
    ['set forward', 'America/New_York', '2026-03-08T05:00:00Z', 60, '03-08T07:00:00 minuteOffset'],
    [
      'set back half an hour',
      'Australia/Lord_Howe',
      '2026-04-04T13:00:00Z',
      30,
      '04-04T15:00:00 minuteOffset',
    ],
    [
      'changed for good',
      'Asia/Pyongyang',
      '2015-08-14T12:00:00Z',
      30,
      '08-14T15:00:00 minuteOffset',
    ],
    // The day begins at 01:00.
    [
      'set forward at midnight',
      'America/Santiago',
      '2026-09-06T00:00:00Z',
      60,
      '09-06T04:00:00 dayOffset',
    ],
  ])('have an offset where clocks are %s', (_name, zone, start, minutes, label) => {
    const labels = labelled(start, bars(480 / minutes, minutes * MINUTE), zone)
    expect(labels.filter((text) => text.endsWith('Offset'))).toEqual([label])
    // Labels must not overlap.
    expect(labels.length).toBeLessThanOrEqual(10)
  })

  test('show a day at its first bar, also for a day without midnight', () => {
    const labels = labelled('2026-09-05T04:00:00Z', bars(12, 6 * HOUR), 'America/Santiago')
    expect(labels.filter((text) => / day/.test(text))).toEqual([
      '09-05T04:00:00 day',
      '09-06T04:00:00 dayOffset',
      '09-07T04:00:00 day',
    ])
  })

  test.each([
    ['seconds', '2026-11-20T10:00:03Z', bars(60, 1000), 6, '11-20T10:00:10 second'],
    ['days', '2026-11-01T00:00:00Z', bars(30, 24 * HOUR), 5, '11-02T00:00:00 day'],
    ['months', '2026-01-01T00:00:00Z', bars(360, 24 * HOUR), 4, '01-01T00:00:00 month'],
  ])('over %s', (_name, start, widths, count, first) => {
    const labels = labelled(start, widths)
    expect(labels).toHaveLength(count)
    expect(labels[0]).toBe(first)
  })

  test('weeks are labelled by month', () => {
    expect(labelled('2026-10-05T00:00:00Z', bars(20, 7 * 24 * HOUR))).toEqual([
      '11-02T00:00:00 month',
      '12-07T00:00:00 month',
      '01-04T00:00:00 month',
      '02-01T00:00:00 month',
    ])
  })

  test('are between one and the maximum', () => {
    const widths = [1, 5, 30].flatMap((n) => [n * 1000, n * MINUTE, n * HOUR])
    for (const width of [...widths, 24 * HOUR, 7 * 24 * HOUR])
      for (const count of [48, 77, 120]) {
        const labels = labelled('2026-11-19T14:00:03Z', bars(count, width), 'UTC', 10)
        expect(labels.length).toBeLessThanOrEqual(10)
        expect(labels.length).toBeGreaterThan(0)
      }
  })
})
