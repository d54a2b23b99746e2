import { timeZone } from '../../../src/event/time-zone.js'
import type { Edges } from './timeline.js'

const SECOND = 1000
const MINUTE = 60 * SECOND
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR

/** The precision of a label. Some include the offset from UTC. */
export type Precision = 'second' | 'minute' | 'minuteOffset' | 'day' | 'dayOffset' | 'month'

interface Step {
  readonly precision: Precision
  /** The number of the period of a local time that is given as if it were UTC. */
  readonly periodOf: (wall: number) => number
}

const every = (precision: Precision, step: number): Step => ({
  precision,
  periodOf: (wall) => Math.floor(wall / step),
})

// Weeks start on Monday; the epoch was a Thursday.
const weeks: Step = { precision: 'day', periodOf: (wall) => Math.floor((wall / DAY + 3) / 7) }

const months = (step: number): Step => ({
  precision: 'month',
  periodOf(wall) {
    const date = new Date(wall)
    return Math.floor((date.getUTCFullYear() * 12 + date.getUTCMonth()) / step)
  },
})

const STEPS: readonly Step[] = [
  ...[1, 2, 5, 10, 15, 30].map((seconds) => every('second', seconds * SECOND)),
  ...[1, 2, 5, 10, 15, 30].map((minutes) => every('minute', minutes * MINUTE)),
  ...[1, 2, 3, 6, 12].map((hours) => every('minute', hours * HOUR)),
  ...[1, 2].map((days) => every('day', days * DAY)),
  weeks,
  ...[1, 3, 6, 12, 60, 120].map(months),
]

export interface AxisLabel {
  /** The horizontal position in the chart, 0 to 1. */
  readonly place: number
  /** Milliseconds since the epoch. */
  readonly time: number
  readonly precision: Precision
}

/**
 * The least distance between a label for a change of the clocks and another label, as a part of the usual distance.
 */
const MIN_DISTANCE = 0.8

/**
 * About `max` labels at round local times, such as the first bar of an hour, a day or a month. The first bar of a day
 * is labelled with the day, and the first bar after clocks change with its offset from UTC.
 */
export function axisLabels(edges: Edges, zone: string, max: number): AxisLabel[] {
  const local = timeZone(zone)
  const times = edges.slice(0, -1)
  const offsets = times.map((time) => local.offsetAt(Math.floor(time / SECOND)) * SECOND)
  const walls = times.map((time, bar) => time + offsets[bar]!)
  const labelled = STEPS.map(({ precision, periodOf }) => ({
    precision,
    bars: walls.flatMap((wall, bar) =>
      periodOf(wall) === periodOf(walls[bar - 1] ?? wall - 1) ? [] : [bar],
    ),
  }))
  const { precision, bars } = labelled.find(({ bars }) => bars.length <= max) ?? labelled.at(-1)!
  const isClock = precision === 'second' || precision === 'minute'
  const changes = times.flatMap((_, bar) =>
    isClock && offsets[bar] !== (offsets[bar - 1] ?? offsets[bar]) ? [bar] : [],
  )
  const reach = (MIN_DISTANCE * times.length) / max
  const isFirstOfDay = (bar: number): boolean =>
    Math.floor(walls[bar]! / DAY) !== Math.floor((walls[bar - 1] ?? walls[bar]! - 1) / DAY)
  return times.flatMap((time, bar): AxisLabel[] => {
    const place = bar / times.length
    if (changes.includes(bar))
      return [{ place, time, precision: isFirstOfDay(bar) ? 'dayOffset' : 'minuteOffset' }]
    if (!bars.includes(bar) || changes.some((change) => Math.abs(change - bar) < reach)) return []
    return [
      { place, time, precision: precision === 'minute' && isFirstOfDay(bar) ? 'day' : precision },
    ]
  })
}
