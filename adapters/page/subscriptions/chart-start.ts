import { formatShort } from '../data/format.js'
import { edges, selection } from '../over-time/chart-state.js'

/** Where the selected bars of the chart begin, else the chart; `undefined` while it is empty. */
export function chartStart(): string | undefined {
  const time = edges.value[selection.value?.from ?? 0]
  return time === undefined ? undefined : new Date(time).toISOString()
}

export const shortTime = (time: string): string => formatShort(new Date(time))
