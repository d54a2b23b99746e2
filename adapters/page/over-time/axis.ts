import { timeZone } from '../../../src/event/time-zone.js'
import type { Edges } from './timeline.js'

const SECOND = 1000
const MINUTE = 60 * SECOND
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR

/** The precision of a label. */
export type Precision = 'second' | 'minute' | 'day' | 'month'

interface Step {
  readonly precision: Precision
  /** The number of the period that contains a local time, given as if it were UTC. */
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
 * At most `max` labels at round local times, such as the first bar of an hour, a day or a month.
 * Midnight is labelled with the day.
 */
export function axisLabels(edges: Edges, zone: string, max: number): AxisLabel[] {
  const local = timeZone(zone)
  const times = edges.slice(0, -1)
  const walls = times.map((time) => time + local.offsetAt(time / SECOND) * SECOND)
  const labelled = STEPS.map(({ precision, periodOf }) => ({
    precision,
    bars: walls.flatMap((wall, bar) =>
      periodOf(wall) === periodOf(walls[bar - 1] ?? wall - 1) ? [] : [bar],
    ),
  }))
  const { precision, bars } = labelled.find(({ bars }) => bars.length <= max) ?? labelled.at(-1)!
  return bars.map((bar) => ({
    place: bar / times.length,
    time: times[bar]!,
    precision: precision === 'minute' && walls[bar]! % DAY === 0 ? 'day' : precision,
  }))
}
