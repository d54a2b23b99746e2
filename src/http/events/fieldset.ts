import { AuditLogError } from '../../errors.js'
import { takeParameters } from '../parameters.js'

/** JSON:API 1.1, "Sparse Fieldsets": the attributes and relationships wanted; `undefined` for all. */
export type Fieldset = ReadonlySet<string> | undefined

/** The parameter, as links and messages write it. */
export const FIELDS = 'fields[event]'

const ROOT = /^fields(?:\[|$)/

/**
 * Takes `fields[event]=type,username` from a query string; given more than once, it is the union.
 * Names that an event lacks do no harm. Throws `UNKNOWN_PARAMETER` for fields of other resource types.
 */
export function takeFieldset(query: string): { readonly fields: Fieldset; readonly rest: string } {
  if (!query.includes('fields')) return { fields: undefined, rest: query }
  const { taken, rest } = takeParameters(query, (name) => ROOT.test(name))
  const stray = taken.find(([name]) => name !== FIELDS)
  if (stray) {
    const [parameter] = stray
    throw new AuditLogError(
      'UNKNOWN_PARAMETER',
      `${parameter}: the only fields are those of ${FIELDS}`,
      { parameter, suggestion: FIELDS },
    )
  }
  if (taken.length === 0) return { fields: undefined, rest }
  const names = taken.flatMap(([, list]) => list.split(','))
  return { fields: new Set(names.filter((name) => name !== '')), rest }
}

/** The parameter of a fieldset, for links; empty without one. */
export function formatFieldset(fields: Fieldset): string {
  return fields ? `${FIELDS}=${[...fields].map(encodeURIComponent).join(',')}` : ''
}
