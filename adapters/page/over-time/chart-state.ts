import { computed, effect, signal } from '@preact/signals'
import type { Bucket } from '../../../src/store/counts.js'
import { changeQuery, query, search } from '../data/address.js'
import { countedRange, counts } from '../data/counts.js'
import type { Range } from '../data/query.js'
import { carried, edgesOf, type Stretch } from './timeline.js'

const NONE: readonly Bucket[] = []

export const buckets = computed(() => counts.value?.buckets?.buckets ?? NONE)

export const edges = computed(() => edgesOf(buckets.value))

/** The bar under the pointer or the arrow keys, by its number. */
export const aimed = signal<number | undefined>(undefined)

/** The bars that are selected. */
export const selection = signal<Stretch | undefined>(undefined)

export function dropSelection(): void {
  selection.value = undefined
}

/** While events come in, the bars move on: what is selected stays what it is. */
let before = edges.value
effect(() => {
  const now = edges.value
  if (selection.peek()) selection.value = carried(selection.peek()!, before, now)
  before = now
})

effect(() => {
  if (search.value === '') return
  aimed.value = undefined
  dropSelection()
})

/** What was shown before each zoom, oldest first. */
let zoomedFrom: readonly Range[] = []

const isSame = (one: Range, other: Range): boolean => JSON.stringify(one) === JSON.stringify(other)

const rangeOf = (from: number, to: number): Range => {
  const text = (time: number): string => new Date(time).toISOString().replace('.000Z', 'Z')
  return { from: text(from), to: text(to) }
}

const show = (range: Range): void => changeQuery((query) => ({ ...query, range }))

/** Both ends as times, where the query names both. */
const namedEnds = (range: Range): readonly [from: number, to: number] | undefined =>
  'last' in range || range.from === undefined || range.to === undefined
    ? undefined
    : [Date.parse(range.from), Date.parse(range.to)]

export const isZoomed = computed(() => namedEnds(query.value.range) !== undefined)

/** Shows the time of these bars and no other. */
export function zoomTo({ from, to }: Stretch): void {
  const { range } = query.value
  zoomedFrom = [...zoomedFrom, range]
  show(rangeOf(edges.value[from]!, edges.value[to + 1]!))
}

/** One step back; where none is known, as for an address that was sent, twice the time. */
export function zoomOut(): void {
  const { range } = query.value
  const ends = namedEnds(range)
  if (!ends) return
  // The browser's own back has taken steps too.
  const steps = zoomedFrom.filter((step) => !isSame(step, range))
  zoomedFrom = steps.slice(0, -1)
  const half = (ends[1] - ends[0]) / 2
  show(steps.at(-1) ?? rangeOf(ends[0] - half, ends[1] + half))
}

/** Closer to now than this part of the window nothing is gained by moving. */
const HARDLY = 1 / 50

/**
 * Moves the window by half of what it shows, and never past now; where all of time is shown there
 * is nothing to move.
 */
export function moveWindow(direction: 1 | -1): void {
  const { from, to } = countedRange.value
  if (from === undefined) return
  const now = Math.floor(Date.now() / 1000) * 1000
  const [begin, end] = [Date.parse(from), to === undefined ? now : Date.parse(to)]
  const width = end - begin
  const step = Math.min(direction * Math.ceil(width / 2000) * 1000, now - end)
  if (direction === 1 && step < width * HARDLY) return
  show(rangeOf(begin + step, end + step))
}
