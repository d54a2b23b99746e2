import { AuditLogError } from '../../errors.js'
import { OWN_FIELDS, SOURCE } from '../../event/own-fields.js'
import type { AuditEvent } from '../../event/event.js'
import { type EventQuery, type Grouping, oneCondition } from '../../filter/ast.js'
import { compileFilter } from '../../filter/evaluate.js'
import { createTimeSlices } from '../../filter/time-slices.js'
import { didYouMean, nearest } from '../../event/nearest.js'
import type { EventsSource } from './source.js'

/** Lists what the user may see. */
type Lister = Pick<EventsSource, 'list'>

/** Part of a list's `meta.warnings`. */
export interface ListWarning {
  readonly detail: string
  readonly source: { readonly parameter: string }
}

const KNOWN: readonly string[] = [...OWN_FIELDS, SOURCE]

const hasAttribute = (name: string): Grouping => oneCondition(name, 'not_null', [])

const hasAny = (names: readonly string[]): Grouping => ({
  combinator: 'or',
  conditions: [],
  groupings: names.map(hasAttribute),
})

/** Those of the names that none of the events has. Reading an attribute may parse much JSON. */
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
 * Those of the names that no visible event has. Each query but the last finds an event that has at least
 * one of them, so there are at most as many queries as names; mostly there is one.
 */
async function missingOf(source: Lister, names: readonly string[]): Promise<readonly string[]> {
  let missing = names
  for (let queries = 0; queries < names.length && missing.length > 0; queries++) {
    const { events } = await source.list({ where: hasAny(missing), sorts: [], limit: 1 })
    if (events.length === 0) return missing
    missing = await withoutAny(missing, events)
  }
  return missing
}

/**
 * Warnings about sorts by attributes that no visible event has. They reveal nothing about other
 * events. Empty if that cannot be found out within the time limit of a query.
 */
export async function sortWarnings(
  source: Lister,
  { sorts }: EventQuery,
  listed: readonly AuditEvent[],
): Promise<readonly ListWarning[]> {
  const names = [...new Set(sorts.map(({ attribute }) => attribute))]
  const unseen = await withoutAny(
    names.filter((name) => !KNOWN.includes(name)),
    listed,
  )
  try {
    const missing = await missingOf(source, unseen)
    return missing.map((name) => {
      const suggestion = didYouMean(nearest(name, KNOWN))
      const detail = `no visible event has the attribute ${JSON.stringify(name)}${suggestion}`
      return { detail, source: { parameter: 'filter[sorts]' } }
    })
  } catch (error) {
    if (error instanceof AuditLogError && error.code === 'QUERY_TIMEOUT') return []
    throw error
  }
}
