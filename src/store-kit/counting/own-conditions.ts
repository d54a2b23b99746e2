import { type Condition, type Grouping, isAlternative } from '../../filter/ast.js'
import { predicateOf } from '../../filter/predicates.js'
import { lowerAscii } from '../../filter/values.js'
import { LEVEL_PREFIXES } from '../../event/level.js'
import type { CountsQuery } from '../../store/counts.js'

/** A filter in its parts, so that a facet can be counted without its own. */
export interface FilterParts {
  /** What every figure heeds. */
  readonly shared: Grouping | undefined
  /** By facet, what all figures heed but its own. */
  readonly own: ReadonlyMap<string, Grouping>
}

const PREFIXES: ReadonlySet<string> = new Set(Object.values(LEVEL_PREFIXES).flat())

/** `type_start_any[]=error:` and its like: what asks for levels. */
function asksForLevels({ predicate, values }: Condition): boolean {
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

/** The facet of which alone these speak; `undefined` where it is none, or several. */
function facetOf(leaves: readonly Condition[]): string | undefined {
  const [name, ...others] = new Set(leaves.flatMap(({ attributes }) => attributes))
  // A joined name means an attribute of its own where an event has one.
  const isJoined = leaves.some(({ joinedName }) => joinedName !== undefined)
  if (others.length > 0 || isJoined) return undefined
  if (name === 'type' && leaves.every(asksForLevels)) return 'level'
  // The facet of this name is made of types, whatever attributes there are.
  return name === 'level' ? undefined : name
}

/** What must all hold, so far as it is of facets that are wanted. */
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
 * A facet's own are the parts which must all hold, conditions or groupings, that speak of nothing but
 * its attribute. Those that ask a type for its level are the own of `level`, and not of `type`.
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
