import { describe, expect, it } from 'vitest'
import {
  EARLY_LEVEL,
  isMergeOverdue,
  mergedLevel,
  nextToMerge,
} from '../../../../src/store-kit/index-builder/segment-levels.js'

const tuning = { segmentSize: 100, fanOut: 3 }

interface Segment {
  readonly level: number
  readonly size: number
}

/** Full segments by their levels. Early segments are written as `e` and their size. */
const read = (text: string): readonly Segment[] =>
  text.split(' ').map((one) => {
    const isEarly = one.startsWith('e')
    return {
      level: isEarly ? EARLY_LEVEL : Number(one),
      size: isEarly ? Number(one.slice(1)) : 100 * 3 ** Number(one),
    }
  })

const placesOf = (segments: readonly Segment[], some: readonly Segment[] | undefined) =>
  some?.map((one) => segments.indexOf(one))

describe('the segments to merge', () => {
  it.each([
    ['0 0', undefined],
    ['0 0 0', [0, 1, 2]],
    ['1 0 1 0', undefined],
    ['1 1 1 0 0 0', [3, 4, 5]],
    ['1 1 1 0', [0, 1, 2]],
    ['2 2 2', undefined],
    ['1 1 1 1 1 0 0 0', [5, 6, 7]],
    ['1 1 1 1 1 1 0 0 0', [0, 1, 2]],
    ['1 1 1 1 1 1 0 0 0 0 0 0', [0, 1, 2]],
  ])('of %s are %o', (text, places) => {
    const segments = read(text)
    expect(placesOf(segments, nextToMerge(segments, tuning))).toEqual(places)
  })

  it.each([
    ['0 e99', undefined],
    ['e50 e40', undefined],
    ['e50 e49 e1', [0, 1, 2]],
    ['e9 0 e1 e1 e1 e1 e1 e1 e1', undefined],
    ['e9 0 e1 e1 e1 e1 e1 e1 e1 e1', [2, 3, 4, 5, 6, 7, 8, 9]],
    ['e15 e1 e1 e1 e1 e1 e1 e1', [1, 2, 3, 4, 5, 6, 7]],
    ['e14 e1 e1 e1 e1 e1 e1 e1', [0, 1, 2, 3, 4, 5, 6, 7]],
    ['e9 e9 e9 e9 e9 e9 e2 e1', [6, 7]],
    ['0 e60 0 e60', undefined],
  ])('that were sealed early, of %s, are %o', (text, places) => {
    const segments = read(text)
    expect(placesOf(segments, nextToMerge(segments, tuning))).toEqual(places)
  })

  it.each([
    ['1 e5 0 e6 e7 0 0 e8', [1, 2, 3, 4, 5, 6]],
    ['0 1 0 e3 0', [0, 2, 3, 4]],
    ['e1 1 1 e2 1 e3', [0, 1, 2, 3, 4]],
  ])('of %s, with early ones among them, are %o', (text, places) => {
    const segments = read(text)
    expect(placesOf(segments, nextToMerge(segments, tuning))).toEqual(places)
  })
})

it.each([
  ['1 1 1 0 0 0', [3, 4, 5]],
  ['1 1 1 0 0', undefined],
  ['1 1 1 1 1 1 0 0 0', [6, 7, 8]],
])('the segments to merge of %s, below level 1, are %o', (text, places) => {
  const segments = read(text)
  expect(placesOf(segments, nextToMerge(segments, tuning, 1))).toEqual(places)
})

it.each([
  ['0 0 0 0 0', false],
  ['0 0 0 0 0 0', true],
  ['1 0 1 0 1 0 1 0 1 0', false],
  ['1 1 1 1 1 1 0', true],
  ['2 2 2 2 2 2 2', false],
])('with the segments %s merging is overdue: %s', (text, isOverdue) => {
  expect(isMergeOverdue(read(text), tuning)).toBe(isOverdue)
})

it.each([
  ['0 0 0', 1],
  ['e5 1 e5 1 1', 2],
  ['e50 e49', EARLY_LEVEL],
  ['e50 e50', 0],
])('the level of the segment merged from %s is %i', (text, level) => {
  expect(mergedLevel(read(text), tuning)).toBe(level)
})

/** Merges while there is something to merge; `onMerge` receives the size of each merged segment. */
function mergeAll(segments: Segment[], onMerge: (size: number) => void): void {
  for (;;) {
    const some = nextToMerge(segments, tuning)
    if (!some) return
    const size = some.reduce((sum, one) => sum + one.size, 0)
    onMerge(size)
    const at = segments.indexOf(some[0]!)
    const rest = segments.filter((one) => !some.includes(one))
    rest.splice(at, 0, { level: mergedLevel(some, tuning), size })
    segments.splice(0, Infinity, ...rest)
  }
}

it.each([[[1]], [[30]], [[99]], [[1, 99]], [[7, 100, 40]], [[100, 30, 100]]])(
  'few segments remain, and no event is merged often, if %o events are sealed in turn',
  (sizes) => {
    const segments: Segment[] = []
    let [sealed, merged] = [0, 0]
    for (let i = 0; i < 600; i++) {
      const size = sizes[i % sizes.length]!
      sealed += size
      segments.push({ size, level: size < tuning.segmentSize ? EARLY_LEVEL : 0 })
      mergeAll(segments, (merges) => (merged += merges))
    }
    expect(segments.reduce((sum, { size }) => sum + size, 0)).toBe(sealed)
    expect(merged / sealed).toBeLessThan(6)
    const full = segments.filter(({ level }) => level === 0 || level === 1)
    expect(full.length).toBeLessThanOrEqual(2 * (tuning.fanOut - 1))
    const early = segments.filter(({ level }) => level === EARLY_LEVEL)
    expect(early.length).toBeLessThanOrEqual(7 + 2 * tuning.fanOut)
  },
)
