import { AuditLogError } from '../../errors.js'
import { FIELDS } from '../openapi/parameters.js'
import { extractParameters } from '../parameters.js'

/** JSON:API 1.1, "Sparse Fieldsets": the selected attributes and relationships; `undefined` for all. */
export type Fieldset = ReadonlySet<string> | undefined

export { FIELDS }

/** Each has one name, which may contain commas. */
const LIST = `${FIELDS}[]`

const ROOT = /^fields(?:\[|$)/

/**
 * Removes `fields[event]=type,username` and `fields[event][]=name` from a query string and parses them; repeated parameters are
 * joined.
 * Unknown names are ignored. Throws `UNKNOWN_PARAMETER` for fields of other resource types.
 */
export function extractFieldset(query: string): {
  readonly fields: Fieldset
  readonly rest: string
} {
  if (!query.includes('fields')) return { fields: undefined, rest: query }
  const { extracted, rest } = extractParameters(query, (name) => ROOT.test(name))
  const stray = extracted.find(([name]) => name !== FIELDS && name !== LIST)
  if (stray) {
    const [parameter] = stray
    throw new AuditLogError(
      'UNKNOWN_PARAMETER',
      `${parameter}: the only resource type here is that of ${FIELDS}`,
      { parameter, suggestion: FIELDS },
    )
  }
  if (extracted.length === 0) return { fields: undefined, rest }
  const names = extracted.flatMap(([name, list]) => (name === LIST ? [list] : list.split(',')))
  return { fields: new Set(names.filter((name) => name !== '')), rest }
}

/** The parameter of a fieldset for links; empty for `undefined`. */
export function formatFieldset(fields: Fieldset): string {
  if (!fields) return ''
  const names = Array.from(fields, encodeURIComponent)
  return [...fields].some((name) => name.includes(','))
    ? names.map((name) => `${LIST}=${name}`).join('&')
    : `${FIELDS}=${names.join(',')}`
}
