import { type AuditEvent, parseQuery } from 'daybook'
import { compileFilter } from '../../src/filter/evaluate.js'

export type Filter = Readonly<Record<string, unknown>>

/** Sums over events and filters. */
export interface PushdownTotals {
  /** Events that the SQL selects. */
  selected: number
  /** Selected events that the filter rejects. */
  rejected: number
  /** Matching events that the SQL does not select; must stay empty. */
  readonly lost: string[]
}

export const noTotals = (): PushdownTotals => ({ selected: 0, rejected: 0, lost: [] })

/** Compares the events that the SQL of a filter selects with the events that the filter accepts. */
export function addSelection(
  totals: PushdownTotals,
  filter: Filter,
  events: readonly AuditEvent[],
  isSelected: (index: number) => boolean,
): void {
  const accepts = compileFilter(parseQuery({ filter }).where)
  for (const [i, event] of events.entries()) {
    const isMatch = accepts(event)
    if (isSelected(i)) totals.selected++
    if (isSelected(i) && !isMatch) totals.rejected++
    if (!isSelected(i) && isMatch)
      totals.lost.push(`${JSON.stringify(filter)} does not select ${JSON.stringify(event)}`)
  }
}

/** The share of the selected events that the filters reject. */
export const rejectedShare = ({ rejected, selected }: PushdownTotals): number => rejected / selected
