import { type Condition, type Grouping, isAlternative } from '../../filter/ast.js'
import { setsTimeBound } from '../../filter/bounds.js'
import type { CountsQuery } from '../../store/counts.js'
import { conditionsOf } from './own-conditions.js'

/** Own fields whose values many events share. */
const GROUP_FIELDS = ['type', 'username', 'system'] as const

export type GroupField = (typeof GROUP_FIELDS)[number]

/** The conditions, but for those on the time that all events of a slice fulfil. */
const untimed = (where: Grouping): Condition[] =>
  isAlternative(where)
    ? conditionsOf(where)
    : [
        ...where.conditions.filter((condition) => !setsTimeBound(condition)),
        ...where.groupings.flatMap(untimed),
      ]

/**
 * The fields, `type` among them, in which events of one slice have to be alike to be counted in one;
 * `undefined` where it depends on other things too how they count.
 */
export function groupFields({
  where,
  visible,
  facets,
  attributes,
}: Pick<CountsQuery, 'where' | 'visible' | 'facets' | 'attributes'>):
  | readonly GroupField[]
  | undefined {
  const conditions = [where, visible].flatMap((part) => (part ? untimed(part) : []))
  // The facet level is made of types; a condition on that name asks for an attribute.
  const names = new Set<string>(facets.filter((facet) => facet !== 'level'))
  for (const { attributes, joinedName } of conditions)
    for (const name of [...attributes, joinedName ?? 'type']) names.add(name)
  names.add('type')
  const fields = GROUP_FIELDS.filter((field) => names.has(field))
  return attributes || fields.length < names.size ? undefined : fields
}
