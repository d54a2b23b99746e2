import type { Microseconds } from '../../event/timestamp.js'
import type { TimeRange } from '../../store/counts.js'

/*
 * In which order a log is counted, so that it can be broken off: its time is divided into cells, and
 * round after round each cell is seen a little further. The first round sees a tiny share of each, every
 * later one as much as all before it.
 */

/** A part of the time that is counted as one where a sample is scaled. */
export interface Cell extends TimeRange {
  /** That it lies in; 0 where there are no buckets. */
  readonly bucket: number
}

/** A stretch of one cell, to be gone through at once. */
export interface Slice extends TimeRange {
  /** The number of the cell. */
  readonly cell: number
}

export type Rounds = readonly (readonly Slice[])[]

// What is scaled rests on at least so many places in time.
const MIN_CELLS = 64
// About as many slices as the first round's would fill all of the time.
const SHARE = 65_536
const MAX_DOUBLINGS = 10

const GOLDEN_RATIO = (1 + Math.sqrt(5)) / 2

/** Between 0 and 1; those of neighbours lie far apart, and many together everywhere alike. */
const spread = (index: number): number => (index * GOLDEN_RATIO) % 1

export const durationOf = ({ from, to }: TimeRange): Microseconds => to - from + 1

/** The cells of a stretch, each within one bucket. */
export function cellsOf(stretch: TimeRange, edges: readonly Microseconds[]): Cell[] {
  const inner = edges.slice(1, -1).filter((edge) => edge > stretch.from && edge <= stretch.to)
  const starts = [stretch.from, ...inner]
  const skipped = edges.slice(1, -1).filter((edge) => edge <= stretch.from).length
  const parts = Math.ceil(MIN_CELLS / starts.length)
  return starts.flatMap((from, i) => {
    const length = (starts[i + 1] ?? stretch.to + 1) - from
    const ends = Array.from(
      { length: parts + 1 },
      (_, k) => from + Math.floor((length * k) / parts),
    )
    return ends
      .slice(1)
      .map((end, k) => ({ bucket: skipped + i, from: ends[k]!, to: end - 1 }))
      .filter(({ from, to }) => from <= to)
  })
}

/**
 * Where in a cell a round begins differs from cell to cell, and it goes on at the cell's start when it
 * comes to its end: else what happens at full hours would be counted too much, or too little.
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

/** The rounds in which cells are seen; together they see all of them, and each time once. */
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
