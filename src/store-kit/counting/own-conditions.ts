import { type Condition, type Grouping, isAlternative } from '../../filter/ast.js'
import { predicateOf } from '../../filter/predicates.js'
import { lowerAscii } from '../../filter/values.js'
import { LEVEL_PREFIXES } from '../../event/level.js'
import type { CountsQuery } from '../../store/counts.js'

/** A filter in parts, so that each facet can be counted without its own conditions. */
export interface FilterParts {
  /** Applies to every figure. */
  readonly shared: Grouping | undefined
  /** By facet: applies to every figure except the facet's own. */
  readonly own: ReadonlyMap<string, Grouping>
}

const PREFIXES: ReadonlySet<string> = new Set(Object.values(LEVEL_PREFIXES).flat())

/** True for conditions such as `type_start_any[]=error:`, which select levels. */
function selectsLevels({ predicate, values }: Condition): boolean {
  return (
    predicateOf(predicate).test === 'start' &&
    values.every((value) => PREFIXES.has(lowerAscii(value)))
  )
}

/** All conditions of a filter. */
export const conditionsOf = ({ conditions, groupings }: Grouping): Condition[] => [
  ...conditions,
  ...groupings.flatMap(conditionsOf),
]

/** The one facet that all of these conditions concern; `undefined` for none or several. */
function facetOf(leaves: readonly Condition[]): string | undefined {
  const [name, ...others] = new Set(leaves.flatMap(({ attributes }) => attributes))
  // On some events a joined name is an attribute of its own.
  const isJoined = leaves.some(({ joinedName }) => joinedName !== undefined)
  if (others.length > 0 || isJoined) return undefined
  if (name === 'type' && leaves.every(selectsLevels)) return 'level'
  // The facet `level` comes from types, not from an attribute of that name.
  return name === 'level' ? undefined : name
}

/** The conjuncts of a filter whose facet is wanted. */
function conjunctsOf(
  where: Grouping,
  isWanted: (facet: string | undefined) => boolean,
): Pick<Grouping, 'conditions' | 'groupings'> {
  if (isAlternative(where))
    return { conditions: [], groupings: isWanted(facetOf(conditionsOf(where))) ? [where] : [] }
  return {
    conditions: where.conditions.filter((condition) => isWanted(facetOf([condition]))),
    groupings: where.groupings.filter((grouping) => isWanted(facetOf(conditionsOf(grouping)))),
  }
}

/**
 * Splits a filter. A facet's own part consists of the conjuncts, conditions or groupings, that concern
 * only its attribute. Conditions that select levels by type belong to `level` and not to `type`.
 */
export function filterParts({
  where,
  visible,
  facets,
}: Pick<CountsQuery, 'where' | 'visible' | 'facets'>): FilterParts {
  const part = (
    isWanted: (facet: string | undefined) => boolean,
    always: readonly Grouping[],
  ): Grouping | undefined => {
    const { conditions, groupings } = where
      ? conjunctsOf(where, isWanted)
      : { conditions: [], groupings: [] }
    if (conditions.length + groupings.length + always.length === 0) return undefined
    return { combinator: 'and', conditions, groupings: [...always, ...groupings] }
  }
  const isCounted = new Set<string | undefined>(facets)
  const own = new Map<string, Grouping>()
  for (const facet of facets) {
    const conjuncts = part((owner) => owner === facet, [])
    if (conjuncts) own.set(facet, conjuncts)
  }
  return { shared: part((owner) => !isCounted.has(owner), visible ? [visible] : []), own }
}
