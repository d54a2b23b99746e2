import type { AuditEvent, JsonValue } from '../../../src/event/event.js'
import { MAX_LIMIT } from '../../../src/filter/ast.js'
import type { Checkup } from '../../../src/store/checkup.js'

/*
 * Attributes that mostly have one value and sometimes several, such as a tenant. A positive condition of `visible` holds only if every
 * value passes, so it hides the events with several.
 */

/** How many of the newest events are read. */
export const READ_EVENTS = MAX_LIMIT
const MAX_NAMES = 3
const MAX_DEPTH = 4

type Values = Map<string, Set<JsonValue>>

/** Adds the values of an attribute, and of its members by their joined names, as filters find them. */
function addValues(values: Values, name: string, value: JsonValue, depth: number): void {
  if (value === null || depth > MAX_DEPTH) return
  if (Array.isArray(value)) {
    for (const element of value) addValues(values, name, element, depth + 1)
  } else if (typeof value === 'object') {
    for (const [key, member] of Object.entries(value))
      addValues(values, `${name}_${key}`, member, depth + 1)
  } else values.set(name, (values.get(name) ?? new Set()).add(value))
}

function valuesOf({ attributes }: AuditEvent): Values {
  const values: Values = new Map()
  for (const [name, value] of Object.entries(attributes)) addValues(values, name, value, 1)
  return values
}

/** A checkup for each attribute that has one value in at least half of the events, and several in others. */
export function sharedValues(events: readonly AuditEvent[]): Checkup[] {
  const found = new Map<string, { single: number; shared: string[] }>()
  for (const event of events)
    for (const [name, { size }] of valuesOf(event)) {
      const attribute = found.get(name) ?? { single: 0, shared: [] }
      found.set(name, attribute)
      if (size === 1) attribute.single++
      else attribute.shared.push(event.id)
    }
  return [...found]
    .filter(([, { single, shared }]) => shared.length > 0 && single * 2 >= events.length)
    .slice(0, MAX_NAMES)
    .map(([name, { shared }]) => ({
      name: 'visible',
      status: 'warn',
      found: `${name} has several values in ${shared.length} of the newest ${events.length} events, such as ${shared.at(-1)!}; a condition of visible on ${name} hides an event unless every value passes`,
      remedy: `if each of the users should see such an event, record it once for each value, or mark it and return { m: 'or', ${name}_eq: …, shared_true: true }`,
    }))
}
