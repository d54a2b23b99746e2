import type { Bucket } from '../../../src/store/counts.js'

/** The start of each bar and the end of the last, in milliseconds. */
export type Edges = readonly number[]

export function edgesOf(buckets: readonly Bucket[]): Edges {
  const last = buckets.at(-1)
  if (!last) return []
  return [...buckets.map(({ from }) => from), last.to].map((time) => Date.parse(time))
}

/** The horizontal position of a time, 0 to 1. All bars are drawn equally wide, even if days differ in length. */
export function positionOf(edges: Edges, time: number): number {
  const bars = edges.length - 1
  const after = edges.findIndex((edge) => edge > time)
  if (after === 0) return 0
  if (after === -1) return 1
  const [from, to] = [edges[after - 1]!, edges[after]!]
  return (after - 1 + (time - from) / (to - from)) / bars
}

/** The time at a horizontal position, 0 to 1. */
export function timeAt(edges: Edges, place: number): number {
  const bars = edges.length - 1
  const along = Math.min(1, Math.max(0, place)) * bars
  const bar = Math.min(bars - 1, Math.floor(along))
  const [from, to] = [edges[bar]!, edges[bar + 1]!]
  return from + (along - bar) * (to - from)
}

/** The index of the bar at a horizontal position. */
export function barAt(bars: number, place: number): number {
  return Math.min(bars - 1, Math.max(0, Math.floor(place * bars)))
}

/** A range of bars by index, both ends included. */
export interface BarRange {
  readonly from: number
  readonly to: number
}

export const barRange = (one: number, other: number): BarRange => ({
  from: Math.min(one, other),
  to: Math.max(one, other),
})

/** The range moved by some bars, within the chart. */
export function shiftRange({ from, to }: BarRange, by: number, bars: number): BarRange {
  const step = Math.min(bars - 1 - to, Math.max(-from, by))
  return { from: from + step, to: to + step }
}

/** The range of the same times after the bars changed; `undefined` if no bars start and end there. */
export function sameTimes({ from, to }: BarRange, old: Edges, now: Edges): BarRange | undefined {
  const [first, end] = [now.indexOf(old[from]!), now.indexOf(old[to + 1]!)]
  return first === -1 || end === -1 ? undefined : { from: first, to: end - 1 }
}
