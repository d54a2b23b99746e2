import {
  bothOf,
  type EventQuery,
  type Grouping,
  MAX_LIMIT,
  oneCondition,
} from '../../filter/ast.js'
import { newestPosition } from '../../tail/poll.js'
import type { EndpointAudit } from './handler.js'

/** Restricts a filter to events up to a time. */
export function upTo(where: Grouping | undefined, time: string): Grouping {
  const end = oneCondition('created_at', 'lteq', [time])
  if (where?.combinator === 'and')
    return { ...where, conditions: [...where.conditions, ...end.conditions] }
  return { ...end, groupings: where ? [where] : [] }
}

/** The query for all matching events that exist now, oldest first. It does not match events that are recorded later. */
export async function existingEvents(
  audit: EndpointAudit,
  requested: Grouping | undefined,
  { visible, signal }: { readonly visible: Grouping | undefined; readonly signal: AbortSignal },
): Promise<EventQuery> {
  const newest = await newestPosition(audit, { signal })
  return {
    where: bothOf(visible, upTo(requested, newest)),
    sorts: [{ attribute: 'created_at', direction: 'asc' }],
    limit: MAX_LIMIT,
  }
}
