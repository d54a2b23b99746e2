import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  cellsOf,
  durationOf,
  roundsOf,
  type Slice,
} from '../../../../src/store-kit/counting/slices.js'

const sumOf = (slices: readonly Slice[]): number =>
  slices.reduce((sum, slice) => sum + durationOf(slice), 0)

describe('cells', () => {
  it('divide the time range, each within one bucket', () => {
    const edges = [0, 100, 200, 300, 400]
    const cells = cellsOf({ from: 150, to: 320 }, edges)
    expect(cells[0]).toEqual({ bucket: 1, from: 150, to: 151 })
    expect(cells.at(-1)).toEqual({ bucket: 3, from: 320, to: 320 })
    expect(cells.map(({ from }) => from).slice(1)).toEqual(
      cells.map(({ to }) => to + 1).slice(0, -1),
    )
    for (const { bucket, from, to } of cells) {
      expect(from).toBeLessThanOrEqual(to)
      expect(from).toBeGreaterThanOrEqual(edges[bucket]!)
      expect(to).toBeLessThan(edges[bucket + 1]!)
    }
  })

  it('are many without buckets and with few buckets', () => {
    for (const edges of [[], [0, 600_000, 1_200_000]]) {
      const { length } = cellsOf({ from: 0, to: 1_000_000 }, edges)
      expect(length).toBeGreaterThanOrEqual(64)
      expect(length).toBeLessThanOrEqual(2 * 64 + 2)
    }
    expect(cellsOf({ from: 7, to: 7 }, [])).toEqual([{ bucket: 0, from: 7, to: 7 }])
  })

  it('stay the same but for the ends while the range grows or moves a little', () => {
    const inner = (from: number, to: number) => cellsOf({ from, to }, []).slice(1, -1)
    const cells = inner(1_000_003, 2_000_003)
    expect(inner(1_000_003, 2_000_077)).toEqual(cells)
    expect(inner(1_000_077, 2_000_077)).toEqual(cells)
  })
})

describe('rounds', () => {
  const stretch = fc
    .tuple(fc.nat(1_000_000), fc.integer({ min: 0, max: 3_000_000 }))
    .map(([from, length]) => ({ from, to: from + length }))

  it('cover every time once', () => {
    fc.assert(
      fc.property(stretch, fc.integer({ min: 0, max: 50 }), (stretch, count) => {
        const width = Math.ceil(durationOf(stretch) / Math.max(1, count))
        const edges = Array.from({ length: count + 1 }, (_, i) => stretch.from + i * width)
        const cells = cellsOf(stretch, edges)
        const slices = roundsOf(cells)
          .flat()
          .toSorted((a, b) => a.from - b.from)
        expect([slices[0]!.from, slices.at(-1)!.to]).toEqual([stretch.from, stretch.to])
        const isWrong = ({ cell, from, to }: Slice, i: number): boolean =>
          (i > 0 && from !== slices[i - 1]!.to + 1) ||
          from > to ||
          from < cells[cell]!.from ||
          to > cells[cell]!.to
        expect(slices.filter(isWrong)).toEqual([])
      }),
      { numRuns: 60 },
    )
  })

  it('cover a little of each cell first, then double the coverage', () => {
    const cells = cellsOf({ from: 0, to: 2 ** 30 - 1 }, [])
    const rounds = roundsOf(cells)
    expect(rounds).toHaveLength(11)
    expect(rounds.map(sumOf)).toEqual(
      [20, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29].map((n) => 2 ** n),
    )
    for (const round of rounds)
      expect(new Set(round.map(({ cell }) => cell)).size).toBe(cells.length)
  })

  it('visit the cells so that the first ones are spread over the range', () => {
    const [first = []] = roundsOf(cellsOf({ from: 0, to: 2 ** 30 - 1 }, []))
    for (const count of [4, 8, 16]) {
      const visited = first.slice(0, count).map(({ cell }) => cell)
      const sorted = [...visited, visited.toSorted((a, b) => a - b)[0]! + 64].toSorted(
        (a, b) => a - b,
      )
      const gaps = sorted.slice(1).map((cell, i) => cell - sorted[i]!)
      expect(Math.max(...gaps)).toBeLessThanOrEqual((64 / count) * 2.7)
    }
  })

  it('sample each cell at other places than its neighbours', () => {
    const cells = cellsOf({ from: 0, to: 2 ** 30 - 1 }, [])
    const [first = []] = roundsOf(cells)
    const places = first.map(
      ({ cell, from }) => (from - cells[cell]!.from) / durationOf(cells[cell]!),
    )
    // Each tenth has the same number, so that periodic events are not sampled too often.
    const tenths = Array.from(
      { length: 10 },
      (_, i) => places.filter((place) => Math.floor(place * 10) === i).length,
    )
    for (const tenth of tenths) expect(Math.abs(tenth - 6.4)).toBeLessThan(2)
  })

  it('are empty for an empty range', () => {
    expect(roundsOf([])).toEqual([])
  })
})
