import { AuditLogError } from '../../errors.js'
import { takeParameters } from '../parameters.js'

/** JSON:API 1.1, "Sparse Fieldsets": the attributes and relationships wanted; `undefined` for all. */
export type Fieldset = ReadonlySet<string> | undefined

const ROOT = /^fields(?:\[|$)/

/**
 * Takes `fields[event]=type,username` from a query string. Names that an event lacks do no harm. Throws
 * `UNKNOWN_PARAMETER` for fields of other resource types.
 */
export function takeFieldset(query: string): { readonly fields: Fieldset; readonly rest: string } {
  if (!query.includes('fields')) return { fields: undefined, rest: query }
  const { taken, rest } = takeParameters(query, (name) => ROOT.test(name))
  const stray = taken.find(([name]) => name !== 'fields[event]')
  if (stray) {
    const [parameter] = stray
    throw new AuditLogError(
      'UNKNOWN_PARAMETER',
      `${parameter}: the only fields are those of event`,
      {
        parameter,
        suggestion: 'fields[event]',
      },
    )
  }
  if (taken.length === 0) return { fields: undefined, rest }
  return { fields: new Set(taken.flatMap(([, names]) => names.split(','))), rest }
}

/** The parameter of a fieldset, for links; empty without one. */
export function formatFieldset(fields: Fieldset): string {
  return fields ? `fields[event]=${[...fields].map(encodeURIComponent).join(',')}` : ''
}
