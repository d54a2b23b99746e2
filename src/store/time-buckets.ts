import { type Microseconds, parseTimestamp } from '../event/timestamp.js'
import type { BucketsQuery, TimeRange } from './counts.js'
import { type Seconds, timeZone, type TimeZone } from '../event/time-zone.js'

/*
 * The labels of a width are the local times at which its buckets begin, such as full hours or the first day of each
 * month. They are computed in local seconds, by calendar arithmetic. Only `nextEdge` and `edgeAt` handle changes of a
 * zone's offset.
 */

const MINUTE = 60
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR
const WEEK = 7 * DAY
/** The average month of the Gregorian calendar. */
const MONTH = 2_629_746
/** 1970-01-05. Weeks begin on Mondays (ISO 8601). */
const FIRST_MONDAY = 4 * DAY

interface Width {
  readonly seconds: Seconds
  /** The last label at or before a local time. */
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
  // Counts from the year 0, so that decades begin with years that end in 0.
  const first = -1970 * 12
  return {
    seconds: count * MONTH,
    label: (local) => monthStart(floorTo(monthOf(local) - first, count) + first),
    next: (label) => monthStart(monthOf(label) + count),
  }
}

/** Widths from fine to coarse. The last width contains every time that can be written. */
const WIDTHS: readonly Width[] = [
  ...[1, 2, 5, 10, 15, 30].map((seconds) => fixed(seconds)),
  ...[1, 2, 5, 10, 15, 30].map((minutes) => fixed(minutes * MINUTE)),
  ...[1, 2, 3, 6, 12].map((hours) => fixed(hours * HOUR)),
  ...[1, 2].map((days) => fixed(days * DAY)),
  fixed(WEEK, FIRST_MONDAY),
  ...[1, 3, 6].map((count) => months(count)),
  ...[1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 100_000].map((years) => months(12 * years)),
]

// Only the last change of offset before a label affects the label. No offset ever changed by more than a day. A width
// of at least FAR has at most one label within FAR.
const NEAR = 2 * DAY
const FAR = 3 * DAY

/**
 * The beginning of the next bucket. If clocks are set forward over a label, the bucket begins at the jump. If they
 * are set back over a whole bucket, such as an hour, this bucket occurs twice.
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

/** The beginning of the bucket that contains the time. */
function edgeAt(time: Seconds, width: Width, zone: TimeZone): Seconds {
  const offset = zone.offsetAt(time)
  const straight = width.label(time + offset) - offset
  if (zone.offsetAt(straight) === offset) return straight
  if (time - straight > FAR) return nextEdge(straight - NEAR, width, zone)
  const change = zone.changeBetween(straight, time)
  const isEdge = nextEdge(change - 1, width, zone) === change
  return isEdge ? change : edgeAt(change - 1, width, zone)
}

/** The edges around a range, or `undefined` for more than `max` buckets. */
function edgesOf(
  { from, to }: { readonly from: Seconds; readonly to: Seconds },
  width: Width,
  zone: TimeZone,
  max: number,
): Seconds[] | undefined {
  if ((to - from) / width.seconds > max) return undefined
  const edges = [edgeAt(from, width, zone)]
  while (edges.at(-1)! <= to) {
    if (edges.length > max) return undefined
    edges.push(nextEdge(edges.at(-1)!, width, zone))
  }
  return edges
}

/** Adjacent buckets of time. */
export interface TimeBuckets {
  /** The width of a bucket in seconds, on average. */
  readonly width: number
  readonly zone: string
  /** The beginnings of the buckets, then the end of the last bucket. Empty without a range. */
  readonly edges: readonly Microseconds[]
}

const SECOND = 1_000_000
/** Later times cannot be written. */
const END_OF_TIME = parseTimestamp('9999-12-31T23:59:59Z')!

/**
 * At most `count` buckets that contain the range, of the finest possible width, beginning at round local times of the
 * zone. Throws a `RangeError` for an unknown zone.
 */
export function timeBuckets(
  range: TimeRange | undefined,
  { count, zone: name }: BucketsQuery,
): TimeBuckets {
  const zone = timeZone(name)
  if (!range) return { width: WIDTHS[0]!.seconds, zone: name, edges: [] }
  const seconds = {
    from: Math.floor(range.from / SECOND),
    to: Math.floor(range.to / SECOND),
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
