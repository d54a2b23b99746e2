import { AuditLogError } from '../../errors.js'
import type { AuditEvent } from '../../event/event.js'
import type { EventQuery } from '../../filter/ast.js'
import { KNOWN_ATTRIBUTES, missingAttributes } from '../../filter/missing-attributes.js'
import { didYouMean, nearest } from '../../event/nearest.js'
import type { EventsSource } from './source.js'

/** Part of a list's `meta.warnings`. */
export interface ListWarning {
  readonly detail: string
  readonly source: { readonly parameter: string }
}

/**
 * Warnings about sorts by attributes that no visible event has. They reveal nothing about other
 * events. Empty if that cannot be found out within the time limit of a query.
 */
export async function sortWarnings(
  source: Pick<EventsSource, 'list'>,
  { sorts }: EventQuery,
  listed: readonly AuditEvent[],
): Promise<readonly ListWarning[]> {
  const names = sorts.map(({ attribute }) => attribute)
  try {
    const missing = await missingAttributes((wanted) => source.list(wanted), names, listed)
    return missing.map((name) => {
      const suggestion = didYouMean(nearest(name, KNOWN_ATTRIBUTES))
      const detail = `no visible event has the attribute ${JSON.stringify(name)}${suggestion}`
      return { detail, source: { parameter: 'filter[sorts]' } }
    })
  } catch (error) {
    if (error instanceof AuditLogError && error.code === 'QUERY_TIMEOUT') return []
    throw error
  }
}
