import type { Combinator, Condition } from '../../../src/filter/ast.js'
import { type PredicateName, predicateOf, predicates } from '../../../src/filter/predicates.js'
import type { Level } from '../../../src/event/level.js'
import { isNegative } from '../data/negation.js'
import { singlePredicate, valuesJoin } from '../data/phrases.js'
import {
  type Conjunct,
  conditionOn,
  isGrouping,
  levelChoice,
  levelConjunct,
} from '../data/query.js'

/** A condition as it is edited: it may lack what it needs. */
export interface Row {
  readonly id: number
  /** `level` is ours: prefixes of the type. Empty where no attribute is chosen yet. */
  readonly attribute: string
  readonly isLevel: boolean
  /** About one value. */
  readonly predicate: PredicateName
  readonly values: readonly string[]
  /** Of several values, whether one is enough. */
  readonly join: 'any' | 'all'
  /** What the row was read from, as long as it is not changed. */
  readonly source?: Conjunct
}

/** Rows and further groups, joined by one word. */
export interface Group {
  readonly id: number
  readonly combinator: Combinator
  readonly members: readonly Member[]
}

export type Member = Row | Group

export const isGroup = (member: Member): member is Group => 'members' in member

let lastId = 0

export const emptyRow = (): Row => ({
  id: ++lastId,
  attribute: '',
  isLevel: false,
  predicate: 'eq',
  values: [],
  join: 'any',
})

export const groupOf = (combinator: Combinator, members: readonly Member[]): Group => ({
  id: ++lastId,
  combinator,
  members,
})

function rowOf(condition: Condition): Row {
  const { attributes, combinator, predicate, values } = condition
  return {
    id: ++lastId,
    attribute: attributes.join(`_${combinator}_`),
    isLevel: false,
    predicate: singlePredicate(predicate),
    values,
    join: valuesJoin(predicate) ?? 'any',
    source: condition,
  }
}

function memberOf(conjunct: Conjunct): Member {
  const choice = levelChoice(conjunct)
  if (choice) {
    const { levels: values, not } = choice
    const predicate = not ? 'not_eq' : 'eq'
    return { ...emptyRow(), attribute: '', isLevel: true, predicate, values, source: conjunct }
  }
  if (!isGrouping(conjunct)) return rowOf(conjunct)
  const { combinator, conditions, groupings } = conjunct
  return groupOf(combinator, [...conditions, ...groupings].map(memberOf))
}

/** The query's filters as rows. */
export function readGroup(where: readonly Conjunct[]): Group {
  const members = where.map(memberOf)
  const [only] = members
  return members.length === 1 && isGroup(only!) ? only : groupOf('and', members)
}

/** The predicate for the row's values: `cont_any`, `in`. */
export function predicateFor({ predicate, values, join }: Row): PredicateName {
  if (values.length < 2) return predicate
  if (join === 'any' && predicate === 'eq') return 'in'
  if (join === 'any' && predicate === 'not_eq') return 'not_in'
  const isAny = (join === 'any') !== isNegative(predicate)
  return `${predicate}_${isAny ? 'any' : 'all'}` as PredicateName
}

export const takesValue = (predicate: PredicateName): boolean =>
  predicateOf(predicate).takes !== 'flag'

/** Whether the row has all that it needs to be asked. */
export function isFinished({ attribute, isLevel, predicate, values }: Row): boolean {
  if (isLevel) return values.length > 0
  return attribute.trim() !== '' && (values.length > 0 || !takesValue(predicate))
}

function conjunctOf(row: Row): Conjunct {
  if (row.source) return row.source
  if (row.isLevel)
    return levelConjunct({
      levels: row.values as readonly Level[],
      not: row.predicate === 'not_eq',
    })
  const values = takesValue(row.predicate) ? row.values : []
  return conditionOn(row.attribute.trim(), predicateFor(row), values)
}

function conjunctsIn(group: Group): readonly Conjunct[] {
  const all = group.members.flatMap((member): readonly Conjunct[] => {
    if (!isGroup(member)) return isFinished(member) ? [conjunctOf(member)] : []
    const inner = conjunctsIn(member)
    if (inner.length < 2 || member.combinator === group.combinator) return inner
    return [groupingWith(member.combinator, inner)]
  })
  // The order in which the API's text keeps them.
  return [...all.filter((part) => !isGrouping(part)), ...all.filter(isGrouping)]
}

const groupingWith = (combinator: Combinator, parts: readonly Conjunct[]): Conjunct => ({
  combinator,
  conditions: parts.filter((part): part is Condition => !isGrouping(part)),
  groupings: parts.filter(isGrouping),
})

/** The filters that the rows stand for; rows that are not finished are left out. */
export function writeGroup(root: Group): readonly Conjunct[] {
  const parts = conjunctsIn(root)
  return root.combinator === 'or' && parts.length > 1 ? [groupingWith('or', parts)] : parts
}

/** Predicates about one value, for rows: what `in` says a list of values does. */
export const ROW_PREDICATES: readonly PredicateName[] = [...predicates.keys()]
  .map((name) => name as PredicateName)
  .filter((name) => singlePredicate(name) === name && !name.includes('i_cont'))
