import { formatShort } from '../data/format.js'
import { edges, selection } from '../over-time/chart-state.js'

/** The beginning of the selected bars of the chart, else of the chart; `undefined` while the chart is empty. */
export function chartStart(): string | undefined {
  const time = edges.value[selection.value?.from ?? 0]
  return time === undefined ? undefined : new Date(time).toISOString()
}

export const shortTime = (time: string): string => formatShort(new Date(time))
