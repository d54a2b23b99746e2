import type { Combinator, Condition } from '../../../src/filter/ast.js'
import { type PredicateName, predicateOf, predicates } from '../../../src/filter/predicates.js'
import type { Level } from '../../../src/event/level.js'
import { isNegative } from '../data/negation.js'
import { singlePredicate, valuesJoin } from '../data/phrases.js'
import { levelChoice, levelConjunct } from '../data/level-choice.js'
import { type Conjunct, conditionOn, isGrouping } from '../data/query.js'

/** A condition being edited; it may be incomplete. */
export interface Row {
  readonly id: number
  /** Empty for a level, and until an attribute is chosen. */
  readonly attribute: string
  readonly isLevel: boolean
  /** The predicate in its single-value form. */
  readonly predicate: PredicateName
  readonly values: readonly string[]
  /** Says if any or all of several values must match. */
  readonly join: 'any' | 'all'
  /** The conjunct that the row was read from, until the row is changed. */
  readonly source?: Conjunct
}

/** Rows and nested groups, joined by one combinator. */
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

/** Converts the query's filters to rows and groups. */
export function readGroup(where: readonly Conjunct[]): Group {
  const members = where.map(memberOf)
  const [only] = members
  return members.length === 1 && isGroup(only!) ? only : groupOf('and', members)
}

/** The predicate for the row's number of values, such as `cont_any` or `in`. */
export function predicateFor({ predicate, values, join }: Row): PredicateName {
  if (values.length < 2) return predicate
  if (join === 'any' && predicate === 'eq') return 'in'
  if (join === 'any' && predicate === 'not_eq') return 'not_in'
  const isAny = (join === 'any') !== isNegative(predicate)
  return `${predicate}_${isAny ? 'any' : 'all'}` as PredicateName
}

export const takesValue = (predicate: PredicateName): boolean =>
  predicateOf(predicate).takes !== 'flag'

/** True if the row is complete. */
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
  // The query string has conditions before groups.
  return [...all.filter((part) => !isGrouping(part)), ...all.filter(isGrouping)]
}

const groupingWith = (combinator: Combinator, parts: readonly Conjunct[]): Conjunct => ({
  combinator,
  conditions: parts.filter((part): part is Condition => !isGrouping(part)),
  groupings: parts.filter(isGrouping),
})

/** Converts the rows to filters. Incomplete rows are left out. */
export function writeGroup(root: Group): readonly Conjunct[] {
  const parts = conjunctsIn(root)
  return root.combinator === 'or' && parts.length > 1 ? [groupingWith('or', parts)] : parts
}

/** The single-value predicates offered for rows; a row with several values implies `in` and the like. */
export const ROW_PREDICATES: readonly PredicateName[] = [...predicates.keys()]
  .map((name) => name as PredicateName)
  .filter((name) => singlePredicate(name) === name && !name.includes('i_cont'))
