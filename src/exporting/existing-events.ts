import { bothOf, type EventQuery, type Grouping, MAX_LIMIT, oneCondition } from '../filter/ast.js'
import type { ReadOptions } from '../store/store.js'
import { BEGINNING, type EventLister } from '../tail/poll.js'

/** Restricts a filter to events up to a time. */
export function upTo(where: Grouping | undefined, time: string): Grouping {
  const end = oneCondition('created_at', 'lteq', [time])
  if (where?.combinator === 'and')
    return { ...where, conditions: [...where.conditions, ...end.conditions] }
  return { ...end, groupings: where ? [where] : [] }
}

/** The query for all matching events, oldest first. */
export const oldestFirst = (where: Grouping | undefined): EventQuery => ({
  where,
  sorts: [{ attribute: 'created_at', direction: 'asc' }],
  limit: MAX_LIMIT,
})

/** All matching events that exist at a time. */
export interface ExistingEvents {
  /** Oldest first. It does not match events that are recorded later. */
  readonly query: EventQuery
  /** `created_at` of the newest event that the user may see, whether it matches or not. */
  readonly until: string
}

/** The query for all matching events that exist now. `visible` limits what the user may see. */
export async function existingEvents(
  log: EventLister,
  requested: Grouping | undefined,
  { visible, ...options }: ReadOptions & { readonly visible?: Grouping | undefined } = {},
): Promise<ExistingEvents> {
  const reading = { ...options, personal: 'stored' } as const
  const newest = await log.list({ where: visible, sorts: [], limit: 1 }, reading)
  const until = newest.events[0]?.created_at ?? BEGINNING
  return { query: oldestFirst(bothOf(visible, upTo(requested, until))), until }
}
