import type { TimeBounds } from '../../filter/bounds.js'
import type { Rounds, Slice } from './slices.js'
import type { Tally } from './tally.js'

/** The cells of a tally, each as one slice, in order of time. */
export function wholeCells({ rounds }: Pick<Tally, 'rounds'>): Slice[] {
  const cells = new Map<number, Slice>()
  for (const { cell, from, to } of rounds.flat()) {
    const known = cells.get(cell)
    cells.set(cell, {
      cell,
      from: Math.min(from, known?.from ?? from),
      to: Math.max(to, known?.to ?? to),
    })
  }
  return [...cells.values()].toSorted((a, b) => a.from - b.from)
}

/** The slices of the cells that an index covers, and the rest. */
export interface CoveredCells {
  readonly covered: readonly Slice[]
  readonly rest: readonly Slice[]
}

/** Cuts the cells, which are in order, where the uncovered ranges begin and end. */
export function cutCells(cells: readonly Slice[], uncovered: readonly TimeBounds[]): CoveredCells {
  const covered: Slice[] = []
  const rest: Slice[] = []
  const ranges = uncovered.filter(({ from, to }) => from <= to).toSorted((a, b) => a.from - b.from)
  for (const { cell, from, to } of cells) {
    let at = from
    for (const range of ranges) {
      if (range.to < at || range.from > to) continue
      if (range.from > at) covered.push({ cell, from: at, to: range.from - 1 })
      const begin = Math.max(at, range.from)
      at = Math.min(to, range.to) + 1
      rest.push({ cell, from: begin, to: at - 1 })
      if (at > to) break
    }
    if (at <= to) covered.push({ cell, from: at, to })
  }
  return { covered, rest }
}

/** The parts of the rounds that are within the slices, which do not overlap. */
export function roundsWithin(rounds: Rounds, slices: readonly Slice[]): Rounds {
  const byCell = new Map<number, Slice[]>()
  for (const slice of slices) {
    const others = byCell.get(slice.cell)
    if (others) others.push(slice)
    else byCell.set(slice.cell, [slice])
  }
  const within = ({ cell, from, to }: Slice): Slice[] =>
    (byCell.get(cell) ?? [])
      .map((slice) => ({ cell, from: Math.max(from, slice.from), to: Math.min(to, slice.to) }))
      .filter((slice) => slice.from <= slice.to)
  return rounds.map((round) => round.flatMap(within)).filter((round) => round.length > 0)
}
