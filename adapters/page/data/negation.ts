import type { Combinator, Condition, Grouping } from '../../../src/filter/ast.js'
import type { PredicateName } from '../../../src/filter/predicates.js'
import { conditionOn, type Conjunct, isGrouping } from './query.js'

/** Pairs of opposite predicates about a value; the `_any` and `_all` forms are derived below. */
const VALUE_OPPOSITES = [
  ['eq', 'not_eq'],
  ['in', 'not_in'],
  ['cont', 'not_cont'],
  ['i_cont', 'not_i_cont'],
  ['start', 'not_start'],
  ['end', 'not_end'],
  ['matches', 'does_not_match'],
  ['lt', 'gteq'],
  ['gt', 'lteq'],
] as const

const OPPOSITES: readonly (readonly [PredicateName, PredicateName])[] = [
  ...VALUE_OPPOSITES.flatMap(([one, other]) => [
    [one, other] as const,
    [`${one}_any`, `${other}_all`] as const,
    [`${one}_all`, `${other}_any`] as const,
  ]),
  ['true', 'not_true'],
  ['false', 'not_false'],
  ['null', 'not_null'],
  ['blank', 'present'],
]

const opposites: ReadonlyMap<PredicateName, PredicateName> = new Map(
  OPPOSITES.flatMap(([one, other]) => [
    [one, other],
    [other, one],
  ]),
)

const NEGATIVE = /^(not_(?!null)|does_not_|null$|blank$)/

/** True if the predicate is negative, such as `not_eq`; `null` and `blank` count as negative. */
export const isNegative = (predicate: PredicateName): boolean => NEGATIVE.test(predicate)

const flipped = (combinator: Combinator): Combinator => (combinator === 'and' ? 'or' : 'and')

function negatedCondition({ attributes, combinator, predicate, values }: Condition): Condition {
  return {
    attributes,
    combinator: attributes.length > 1 ? flipped(combinator) : combinator,
    predicate: opposites.get(predicate)!,
    values,
  }
}

/** The opposite condition, for events that have the attributes. */
export function negated(conjunct: Condition): Condition
export function negated(conjunct: Conjunct): Conjunct
export function negated(conjunct: Conjunct): Conjunct {
  return isGrouping(conjunct) ? negatedGrouping(conjunct) : negatedCondition(conjunct)
}

const negatedGrouping = ({ combinator, conditions, groupings }: Grouping): Grouping => ({
  combinator: flipped(combinator),
  conditions: conditions.map(negatedCondition),
  groupings: groupings.map(negatedGrouping),
})

/** The conjunct, or the attribute is missing. */
export const orMissing = (conjunct: Conjunct): Conjunct =>
  isGrouping(conjunct)
    ? conjunct
    : {
        combinator: 'or',
        conditions: [conjunct, ...conjunct.attributes.map((name) => conditionOn(name, 'null'))],
        groupings: [],
      }
