import type { Microseconds } from '../../event/timestamp.js'
import type { TimeRange } from '../../store/counts.js'

/*
 * The order in which a log is counted, so that counting can stop early. The time is divided into cells,
 * and each round counts a further part of every cell. The first round counts a small share, and each
 * later one as much as all rounds before it.
 */

/** A range of time with one scale factor. */
export interface Cell extends TimeRange {
  /** The bucket that contains it; 0 without buckets. */
  readonly bucket: number
}

/** A part of one cell that is counted at once. */
export interface Slice extends TimeRange {
  /** The number of the cell. */
  readonly cell: number
}

export type Rounds = readonly (readonly Slice[])[]

// Minimum number of cells, so that a sample covers the whole time.
const MIN_CELLS = 64
// The first round counts about 1/SHARE of the whole time.
const SHARE = 65_536
const MAX_DOUBLINGS = 10

const GOLDEN_RATIO = (1 + Math.sqrt(5)) / 2

/** A low-discrepancy sequence in 0 to 1: neighbors are far apart, and many are evenly spread. */
const spread = (index: number): number => (index * GOLDEN_RATIO) % 1

export const durationOf = ({ from, to }: TimeRange): Microseconds => to - from + 1

/** The cells of a range, each within one bucket. Most of them stay the same while the log grows at its end. */
export function cellsOf(range: TimeRange, edges: readonly Microseconds[]): Cell[] {
  const inner = edges.slice(1, -1).filter((edge) => edge > range.from && edge <= range.to)
  const starts = [range.from, ...inner]
  const skipped = edges.slice(1, -1).filter((edge) => edge <= range.from).length
  const parts = Math.ceil(MIN_CELLS / starts.length)
  return starts.flatMap((from, i) => {
    const end = starts[i + 1] ?? range.to + 1
    const cuts = parts > 1 ? cutsBetween(from, end, parts) : []
    return [from, ...cuts].map((start, k) => ({
      bucket: skipped + i,
      from: start,
      to: (cuts[k] ?? end) - 1,
    }))
  })
}

/** The multiples of a power of two that cut the range into at least the given number of parts, if it is long enough. */
function cutsBetween(from: Microseconds, end: Microseconds, parts: number): Microseconds[] {
  const width = 2 ** Math.max(0, Math.floor(Math.log2((end - from) / parts)))
  const first = (Math.floor(from / width) + 1) * width
  return Array.from(
    { length: Math.max(0, Math.ceil((end - first) / width)) },
    (_, k) => first + k * width,
  )
}

/**
 * The part of a cell that a round counts. It starts at a different place in each cell and wraps around
 * at the end, so that events at full hours are not over- or underrepresented.
 */
function slicesOf(cell: Cell, index: number, from: number, to: number): Slice[] {
  const length = durationOf(cell)
  const first = Math.floor(spread(index) * length)
  const [begin, end] = [first + Math.ceil(length * from), first + Math.ceil(length * to)]
  const parts =
    begin >= length
      ? [[begin - length, end - length]]
      : end > length
        ? [
            [begin, length],
            [0, end - length],
          ]
        : [[begin, end]]
  return parts
    .map(([a, b]) => ({ cell: index, from: cell.from + a!, to: cell.from + b! - 1 }))
    .filter(({ from, to }) => from <= to)
}

/** The rounds of counting. Together they cover every cell exactly once. */
export function roundsOf(cells: readonly Cell[]): Rounds {
  const doublings = Math.min(
    MAX_DOUBLINGS,
    Math.ceil(Math.log2(Math.max(2, SHARE / Math.max(1, cells.length)))),
  )
  const order = cells
    .map((cell, index) => ({ cell, index }))
    .toSorted((a, b) => spread(a.index) - spread(b.index))
  return Array.from({ length: doublings + 1 }, (_, round) => {
    const to = 2 ** (round - doublings)
    const from = round === 0 ? 0 : to / 2
    return order.flatMap(({ cell, index }) => slicesOf(cell, index, from, to))
  }).filter((slices) => slices.length > 0)
}

/** The slice that contains the time, of slices in order of time that do not overlap. */
export function sliceAt(slices: readonly Slice[], time: Microseconds): Slice | undefined {
  let [low, high] = [0, slices.length]
  while (low < high) {
    const middle = (low + high) >>> 1
    if (slices[middle]!.to < time) low = middle + 1
    else high = middle
  }
  const slice = slices[low]
  return slice && slice.from <= time ? slice : undefined
}
