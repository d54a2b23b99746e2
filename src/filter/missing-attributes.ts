import { OWN_FIELDS, SOURCE } from '../event/own-fields.js'
import type { AuditEvent } from '../event/event.js'
import { type EventQuery, type Grouping, oneCondition } from './ast.js'
import { compileFilter } from './evaluate.js'
import { createTimeSlices } from './time-slices.js'

/** Names that every event has. */
export const KNOWN_ATTRIBUTES: readonly string[] = [...OWN_FIELDS, SOURCE]

const hasAttribute = (name: string): Grouping => oneCondition(name, 'not_null', [])

const hasAny = (names: readonly string[]): Grouping => ({
  combinator: 'or',
  conditions: [],
  groupings: names.map(hasAttribute),
})

/** The names that none of the events has. Reading an attribute may parse much JSON, so the work is sliced. */
async function withoutAny(
  names: readonly string[],
  events: readonly AuditEvent[],
): Promise<readonly string[]> {
  const slices = createTimeSlices()
  const missing = new Map(names.map((name) => [name, compileFilter(hasAttribute(name))]))
  for (const event of events) {
    if (missing.size === 0) break
    for (const [name, isIn] of missing) if (isIn(event)) missing.delete(name)
    if (slices.isOver()) await slices.next()
  }
  return [...missing.keys()]
}

/**
 * The names that no listed event has. `read` are events that the caller has read already. Each query but the last
 * finds an event with at least one of the names, so there are at most as many queries as names; mostly there is one.
 */
export async function missingAttributes(
  list: (query: EventQuery) => Promise<{ readonly events: readonly AuditEvent[] }>,
  names: readonly string[],
  read: readonly AuditEvent[],
): Promise<readonly string[]> {
  const asked = new Set(names.filter((name) => !KNOWN_ATTRIBUTES.includes(name)))
  let missing = await withoutAny([...asked], read)
  for (let queries = missing.length; queries > 0 && missing.length > 0; queries--) {
    const { events } = await list({ where: hasAny(missing), sorts: [], limit: 1 })
    if (events.length === 0) return missing
    missing = await withoutAny(missing, events)
  }
  return missing
}
