import { AuditLogError } from '../../errors.js'
import { OWN_FIELDS, SOURCE } from '../../event/own-fields.js'
import type { AuditEvent } from '../../event/event.js'
import { bothOf, type EventQuery, type Grouping, oneCondition } from '../../filter/ast.js'
import { compileFilter } from '../../filter/evaluate.js'
import { didYouMean, nearest } from '../../event/nearest.js'
import type { EndpointAudit } from './handler.js'

/** Part of a list's `meta.warnings`. */
export interface ListWarning {
  readonly detail: string
  readonly source: { readonly parameter: string }
}

const KNOWN: readonly string[] = [...OWN_FIELDS, SOURCE]

// The index answers within milliseconds. Where it is incomplete, a scan might take long.
const BUDGET_MS = 100

const hasAttribute = (name: string): Grouping => oneCondition(name, 'not_null', [])

/** True only if no visible event has the attribute; false also if that is not known within the budget. */
async function isMissing(
  audit: EndpointAudit,
  name: string,
  visible: Grouping | undefined,
  signal: AbortSignal,
): Promise<boolean> {
  try {
    const where = bothOf(visible, hasAttribute(name))
    const { events } = await audit.list({ where, sorts: [], limit: 1 }, { signal, lazy: true })
    return events.length === 0
  } catch (error) {
    if (error instanceof AuditLogError) return false
    throw error
  }
}

/** Warnings about sorts by attributes that no visible event has. */
export async function sortWarnings(
  audit: EndpointAudit,
  { sorts }: EventQuery,
  visible: Grouping | undefined,
  listed: readonly AuditEvent[],
): Promise<readonly ListWarning[]> {
  const names = new Set(sorts.map(({ attribute }) => attribute))
  const unseen = [...names].filter(
    (name) => !KNOWN.includes(name) && !listed.some(compileFilter(hasAttribute(name))),
  )
  if (unseen.length === 0) return []
  const signal = AbortSignal.timeout(BUDGET_MS)
  const warnings: ListWarning[] = []
  for (const name of unseen)
    if (await isMissing(audit, name, visible, signal)) {
      const suggestion = didYouMean(nearest(name, KNOWN))
      const detail = `no visible event has the attribute ${JSON.stringify(name)}${suggestion}`
      warnings.push({ detail, source: { parameter: 'filter[sorts]' } })
    }
  return warnings
}
