import { type Condition, type Grouping, isAlternative } from '../../filter/ast.js'
import { setsTimeBound } from '../../filter/bounds.js'
import type { CountsQuery } from '../../store/counts.js'
import { conditionsOf } from './own-conditions.js'

/** Own fields with few distinct values. */
const GROUP_FIELDS = ['type', 'username', 'system'] as const

export type GroupField = (typeof GROUP_FIELDS)[number]

/** The conditions without time bounds, which all events of a slice fulfill. */
const untimed = (where: Grouping): Condition[] =>
  isAlternative(where)
    ? conditionsOf(where)
    : [
        ...where.conditions.filter((condition) => !setsTimeBound(condition)),
        ...where.groupings.flatMap(untimed),
      ]

type FieldsQuery = Pick<CountsQuery, 'where' | 'visible' | 'facets' | 'attributes'>

/** The attributes on which the counts depend, apart from levels. */
function neededNames({ where, visible, facets }: FieldsQuery): Set<string> {
  const conditions = [where, visible].flatMap((part) => (part ? untimed(part) : []))
  // The facet `level` comes from types; a condition on `level` means an attribute.
  const names = new Set<string>(facets.filter((facet) => facet !== 'level'))
  for (const { attributes, joinedName } of conditions) {
    for (const name of attributes) names.add(name)
    if (joinedName !== undefined) names.add(joinedName)
  }
  return names
}

/**
 * The fields, always with `type`, by which a store may group the events of a slice and count each group
 * as one. `undefined` if the counts depend on other attributes too.
 */
export function groupFields(query: FieldsQuery): readonly GroupField[] | undefined {
  const names = neededNames(query).add('type')
  const fields = GROUP_FIELDS.filter((field) => names.has(field))
  return query.attributes || fields.length < names.size ? undefined : fields
}
