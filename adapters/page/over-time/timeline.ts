import type { Bucket } from '../../../src/store/counts.js'

/** Where bars begin, in milliseconds, and last where the last one ends. */
export type Edges = readonly number[]

export function edgesOf(buckets: readonly Bucket[]): Edges {
  const last = buckets.at(-1)
  if (!last) return []
  return [...buckets.map(({ from }) => from), last.to].map((time) => Date.parse(time))
}

/** How far along the chart a time is, 0 to 1. Bars are equally wide, also where days are not equally long. */
export function placeOf(edges: Edges, time: number): number {
  const bars = edges.length - 1
  const after = edges.findIndex((edge) => edge > time)
  if (after === 0) return 0
  if (after === -1) return 1
  const [from, to] = [edges[after - 1]!, edges[after]!]
  return (after - 1 + (time - from) / (to - from)) / bars
}

/** The time at a place. */
export function timeAt(edges: Edges, place: number): number {
  const bars = edges.length - 1
  const along = Math.min(1, Math.max(0, place)) * bars
  const bar = Math.min(bars - 1, Math.floor(along))
  const [from, to] = [edges[bar]!, edges[bar + 1]!]
  return from + (along - bar) * (to - from)
}

/** The bar at a place, by its number. */
export function barAt(bars: number, place: number): number {
  return Math.min(bars - 1, Math.max(0, Math.floor(place * bars)))
}

/** Bars from one to another, both included. */
export interface Stretch {
  readonly from: number
  readonly to: number
}

export const stretchOf = (one: number, other: number): Stretch => ({
  from: Math.min(one, other),
  to: Math.max(one, other),
})

/** The stretch moved along, as far as there are bars. */
export function moved({ from, to }: Stretch, by: number, bars: number): Stretch {
  const step = Math.min(bars - 1 - to, Math.max(-from, by))
  return { from: from + step, to: to + step }
}

/** The same time among other bars; `undefined` where it does not begin and end with bars of theirs. */
export function carried({ from, to }: Stretch, old: Edges, now: Edges): Stretch | undefined {
  const [first, end] = [now.indexOf(old[from]!), now.indexOf(old[to + 1]!)]
  return first === -1 || end === -1 ? undefined : { from: first, to: end - 1 }
}
