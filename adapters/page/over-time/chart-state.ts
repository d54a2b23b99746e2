import { computed, effect, signal } from '@preact/signals'
import type { Bucket } from '../../../src/store/counts.js'
import { changeQuery, query, search } from '../data/address.js'
import { countedRange, counts, recountSoon } from '../data/counts.js'
import type { Range } from '../data/query.js'
import { sameTimes, edgesOf, type BarRange } from './timeline.js'

const NONE: readonly Bucket[] = []

export const buckets = computed(() => counts.value?.buckets?.buckets ?? NONE)

export const edges = computed(() => edgesOf(buckets.value))

/** True if the chart ends with the present: its range has no end, and no event is in the future. */
export const endsNow = computed(
  () =>
    edges.value.length > 1 &&
    countedRange.value.to === undefined &&
    edges.value.at(-2)! <= Date.now(),
)

const MINUTE_MS = 60_000

/** Counts again once the present is later than the last bar. Returns a function that ends this. */
export function followPresent(): () => void {
  const timer = setInterval(() => {
    if (endsNow.value && edges.value.at(-1)! < Date.now()) recountSoon()
  }, MINUTE_MS)
  return () => clearInterval(timer)
}

/** The index of the bar under the pointer or the arrow keys. */
export const highlightedBar = signal<number | undefined>(undefined)

/** The selected bars. */
export const selection = signal<BarRange | undefined>(undefined)

export function dropSelection(): void {
  selection.value = undefined
}

/** New events shift the bars. The selection keeps its times. */
let before = edges.value
effect(() => {
  const now = edges.value
  if (selection.peek()) selection.value = sameTimes(selection.peek()!, before, now)
  before = now
})

effect(() => {
  if (search.value === '') return
  highlightedBar.value = undefined
  dropSelection()
})

/** The ranges before each zoom, oldest first. */
let zoomedFrom: readonly Range[] = []

const isSame = (one: Range, other: Range): boolean => JSON.stringify(one) === JSON.stringify(other)

const rangeOf = (from: number, to: number): Range => {
  const text = (time: number): string => new Date(time).toISOString().replace('.000Z', 'Z')
  return { from: text(from), to: text(to) }
}

const show = (range: Range): void => changeQuery((query) => ({ ...query, range }))

/** Both ends as times, if the range has two absolute ends. */
const namedEnds = (range: Range): readonly [from: number, to: number] | undefined =>
  'last' in range || range.from === undefined || range.to === undefined
    ? undefined
    : [Date.parse(range.from), Date.parse(range.to)]

export const isZoomed = computed(() => namedEnds(query.value.range) !== undefined)

/** Sets the range to the time of the bars. */
export function zoomTo({ from, to }: BarRange): void {
  const { range } = query.value
  zoomedFrom = [...zoomedFrom, range]
  show(rangeOf(edges.value[from]!, edges.value[to + 1]!))
}

/**
 * Returns to the range before the last zoom. Without an earlier range, for example after opening a shared link,
 * doubles the range.
 */
export function zoomOut(): void {
  const { range } = query.value
  const ends = namedEnds(range)
  if (!ends) return
  // The browser's Back may have undone zooms too.
  const steps = zoomedFrom.filter((step) => !isSame(step, range))
  zoomedFrom = steps.slice(0, -1)
  const half = (ends[1] - ends[0]) / 2
  show(steps.at(-1) ?? rangeOf(ends[0] - half, ends[1] + half))
}

/** The smallest useful move, as a fraction of the window. */
const MIN_MOVE = 1 / 50

/**
 * Moves the window by half its width, but not past the present. Does nothing while all time is shown.
 */
export function moveWindow(direction: 1 | -1): void {
  const { from, to } = countedRange.value
  if (from === undefined) return
  const now = Math.floor(Date.now() / 1000) * 1000
  const [begin, end] = [Date.parse(from), to === undefined ? now : Date.parse(to)]
  const width = end - begin
  const step = Math.min(direction * Math.ceil(width / 2000) * 1000, now - end)
  if (direction === 1 && step < width * MIN_MOVE) return
  show(rangeOf(begin + step, end + step))
}
