import { type Microseconds, parseTimestamp } from '../../event/timestamp.js'
import type { BucketsQuery, TimeRange } from '../../store/counts.js'
import { type Seconds, timeZone, type TimeZone } from '../../event/time-zone.js'

/*
 * A width has labels: the local times at which its buckets begin, such as full hours, or the first of
 * each month. Counted in local seconds they are plain calendar arithmetic; what the clocks of a zone
 * make of them is said in one place, `nextEdge`.
 */

const MINUTE = 60
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR
const WEEK = 7 * DAY
/** The mean one of the Gregorian calendar. */
const MONTH = 2_629_746
/** 1970-01-05, as weeks begin on Mondays (ISO 8601). */
const FIRST_MONDAY = 4 * DAY

interface Width {
  readonly seconds: Seconds
  /** The label of a local time: the last one that is not after it. */
  label(local: Seconds): Seconds
  /** The label after this one. */
  next(label: Seconds): Seconds
}

const floorTo = (value: number, step: number): number => Math.floor(value / step) * step

const fixed = (seconds: Seconds, first: Seconds = 0): Width => ({
  seconds,
  label: (local) => floorTo(local - first, seconds) + first,
  next: (label) => label + seconds,
})

const monthStart = (month: number): Seconds => Date.UTC(1970, month) / 1000

function months(count: number): Width {
  const monthOf = (local: Seconds): number => {
    const date = new Date(local * 1000)
    return (date.getUTCFullYear() - 1970) * 12 + date.getUTCMonth()
  }
  // Counted from the year 0, so that decades begin with years that end in 0.
  const first = -1970 * 12
  return {
    seconds: count * MONTH,
    label: (local) => monthStart(floorTo(monthOf(local) - first, count) + first),
    next: (label) => monthStart(monthOf(label) + count),
  }
}

/** From fine to coarse; the last one holds all times that can be written. */
const WIDTHS: readonly Width[] = [
  ...[1, 2, 5, 10, 15, 30].map((seconds) => fixed(seconds)),
  ...[1, 2, 5, 10, 15, 30].map((minutes) => fixed(minutes * MINUTE)),
  ...[1, 2, 3, 6, 12].map((hours) => fixed(hours * HOUR)),
  ...[1, 2].map((days) => fixed(days * DAY)),
  fixed(WEEK, FIRST_MONDAY),
  ...[1, 3, 6].map((count) => months(count)),
  ...[1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 100_000].map((years) => months(12 * years)),
]

// Of the changes of clocks only the last one before a label matters to it. No clock was ever changed by
// more than a day, and what is as wide as FAR has one label within it at most.
const NEAR = 2 * DAY
const FAR = 3 * DAY

/**
 * When the next bucket begins. Clocks that are set forward over a label leave its bucket the moment at
 * which they jump; those that are set back over a whole bucket, such as an hour, give one to each time.
 */
function nextEdge(time: Seconds, width: Width, zone: TimeZone): Seconds {
  const offset = zone.offsetAt(time)
  const label = width.next(width.label(time + offset))
  const straight = label - offset
  if (zone.offsetAt(straight) === offset) return straight
  if (straight - time > FAR) return nextEdge(straight - NEAR, width, zone)
  const change = zone.changeBetween(time, straight)
  const changed = zone.offsetAt(change)
  const local = change + changed
  const isTwice = offset - changed >= width.seconds && width.label(local) === local
  return local >= label || isTwice ? change : nextEdge(change, width, zone)
}

/** When the bucket began in which the time lies. */
function edgeAt(time: Seconds, width: Width, zone: TimeZone): Seconds {
  const offset = zone.offsetAt(time)
  const straight = width.label(time + offset) - offset
  if (zone.offsetAt(straight) === offset) return straight
  if (time - straight > FAR) return nextEdge(straight - NEAR, width, zone)
  const change = zone.changeBetween(straight, time)
  const isEdge = nextEdge(change - 1, width, zone) === change
  return isEdge ? change : edgeAt(change - 1, width, zone)
}

/** The edges around a stretch, or `undefined` where more than so many buckets lie between them. */
function edgesOf(
  { from, to }: { readonly from: Seconds; readonly to: Seconds },
  width: Width,
  zone: TimeZone,
  most: number,
): Seconds[] | undefined {
  if ((to - from) / width.seconds > most) return undefined
  const edges = [edgeAt(from, width, zone)]
  while (edges.at(-1)! <= to) {
    if (edges.length > most) return undefined
    edges.push(nextEdge(edges.at(-1)!, width, zone))
  }
  return edges
}

/** Buckets of time, the one beginning where the one before it ends. */
export interface TimeBuckets {
  /** Of one, in seconds, as the calendar has it on average. */
  readonly width: number
  readonly zone: string
  /** Where each begins and, last, where the last one ends; empty for no stretch of time. */
  readonly edges: readonly Microseconds[]
}

const SECOND = 1_000_000
/** Later times have no text. */
const END_OF_TIME = parseTimestamp('9999-12-31T23:59:59Z')!

/**
 * The finest buckets of a round width that begin at round local times of the zone and hold the stretch,
 * not more than `count`. Throws a `RangeError` for an unknown zone.
 */
export function timeBuckets(
  stretch: TimeRange | undefined,
  { count, zone: name }: BucketsQuery,
): TimeBuckets {
  const zone = timeZone(name)
  if (!stretch) return { width: WIDTHS[0]!.seconds, zone: name, edges: [] }
  const seconds = {
    from: Math.floor(stretch.from / SECOND),
    to: Math.floor(stretch.to / SECOND),
  }
  let coarseness = 0
  let edges: readonly Seconds[] | undefined
  while (!(edges = edgesOf(seconds, WIDTHS[coarseness]!, zone, count))) coarseness++
  return {
    width: WIDTHS[coarseness]!.seconds,
    zone: name,
    edges: edges.map((edge) => Math.min(edge * SECOND, END_OF_TIME)),
  }
}
