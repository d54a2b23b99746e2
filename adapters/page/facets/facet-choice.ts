import type { Condition } from '../../../src/filter/ast.js'
import type { PredicateName } from '../../../src/filter/predicates.js'
import type { Level } from '../../../src/event/level.js'
import {
  type Conjunct,
  conditionOn,
  isGrouping,
  levelChoice,
  levelConjunct,
  type PageQuery,
} from '../data/query.js'

/** A value of a facet as filters write it; null is an event that has none. */
export type FacetValue = string | null

/** The values that the query lets through: these, or with `not` all but these. */
export interface Choice {
  readonly not: boolean
  readonly values: readonly FacetValue[]
}

/** What is chosen of no facet: all values, none shut out. */
const ALL: Choice = { not: true, values: [] }

const LISTING: Readonly<Partial<Record<PredicateName, boolean>>> = {
  eq: false,
  in: false,
  eq_any: false,
  not_eq: true,
  not_in: true,
  not_eq_all: true,
}

const isOn = (condition: Condition, attribute: string): boolean =>
  condition.attributes.length === 1 && condition.attributes[0] === attribute

function choiceOfCondition({ predicate, values }: Condition): Choice | undefined {
  if (predicate === 'null') return { not: false, values: [null] }
  if (predicate === 'not_null') return { not: true, values: [null] }
  const not = LISTING[predicate]
  if (not === undefined) return undefined
  // What is not this must be something: events that have no value are shut out too.
  return { not, values: not ? [...values, null] : values }
}

/** `username is ann or missing`, and its opposite `username is not ann or missing`. */
function choiceOfGrouping(choices: readonly (Choice | undefined)[]): Choice | undefined {
  const [listed, missing] = choices[0]?.values[0] === null ? choices.toReversed() : choices
  if (!listed || !missing || choices.length !== 2) return undefined
  if (missing.not || missing.values.length !== 1 || missing.values[0] !== null) return undefined
  const values = listed.values.filter((value) => value !== null)
  if (values.length === 0) return undefined
  return listed.not ? { not: true, values } : { not: false, values: [...values, null] }
}

function valueChoice(conjunct: Conjunct, attribute: string): Choice | undefined {
  if (!isGrouping(conjunct))
    return isOn(conjunct, attribute) ? choiceOfCondition(conjunct) : undefined
  const { combinator, conditions, groupings } = conjunct
  if (combinator === 'and' || groupings.length > 0) return undefined
  if (!conditions.every((condition) => isOn(condition, attribute))) return undefined
  return choiceOfGrouping(conditions.map(choiceOfCondition))
}

const LONGER: Readonly<Partial<Record<PredicateName, PredicateName>>> = {
  start: 'start_any',
  not_start: 'not_start_all',
}

function choiceOfLevels(conjunct: Conjunct): Choice | undefined {
  const longer = isGrouping(conjunct) ? undefined : LONGER[conjunct.predicate]
  const choice = levelChoice(longer ? { ...conjunct, predicate: longer } : conjunct)
  return choice && { not: choice.not, values: choice.levels }
}

const readChoice = (conjunct: Conjunct, attribute: string): Choice | undefined =>
  attribute === 'level' ? choiceOfLevels(conjunct) : valueChoice(conjunct, attribute)

/** Whether events with this value may be among those that match. */
export const letsIn = ({ not, values }: Choice, value: FacetValue): boolean =>
  values.includes(value) !== not

/** What both let through. */
function both(one: Choice, other: Choice): Choice {
  if (one.not && other.not)
    return { not: true, values: [...new Set([...one.values, ...other.values])] }
  const [listed, second] = one.not ? [other, one] : [one, other]
  const values = listed.values.filter((value) => letsIn(second, value))
  return { not: false, values }
}

/** What the query lets through of an attribute's values, as far as it lists them. */
export function choiceOf({ where }: PageQuery, attribute: string): Choice {
  return where.reduce((choice, conjunct) => {
    const read = readChoice(conjunct, attribute)
    return read ? both(choice, read) : choice
  }, ALL)
}

function listConjunct(attribute: string, { not, values }: Choice): Conjunct | undefined {
  const listed = values.filter((value) => value !== null)
  const hasMissing = listed.length < values.length
  if (listed.length === 0)
    return hasMissing ? conditionOn(attribute, not ? 'not_null' : 'null') : undefined
  const [one, many] = not ? (['not_eq', 'not_in'] as const) : (['eq', 'in'] as const)
  const list = conditionOn(attribute, listed.length === 1 ? one : many, listed)
  if (hasMissing === not) return list
  const missing = conditionOn(attribute, 'null')
  return { combinator: 'or', conditions: [list, missing], groupings: [] }
}

function conjunctOf(attribute: string, choice: Choice): Conjunct | undefined {
  if (attribute !== 'level') return listConjunct(attribute, choice)
  const levels = choice.values as readonly Level[]
  return levels.length === 0 ? undefined : levelConjunct({ levels, not: choice.not })
}

/** Puts the choice where the query's own stood; what else it says of the attribute stays. */
function withChoice(query: PageQuery, attribute: string, choice: Choice): PageQuery {
  const isOwn = (conjunct: Conjunct): boolean => readChoice(conjunct, attribute) !== undefined
  const first = query.where.findIndex(isOwn)
  const at = first === -1 ? query.where.length : first
  const conjunct = conjunctOf(attribute, choice)
  const before = query.where.slice(0, at)
  const after = query.where.slice(at).filter((other) => !isOwn(other))
  return { ...query, where: [...before, ...(conjunct ? [conjunct] : []), ...after] }
}

function without({ not, values }: Choice, value: FacetValue): Choice {
  const rest = values.filter((other) => other !== value)
  // "is not ann" has shut out what is missing only by the way.
  const isOver = rest.every((other) => other === null && not)
  return isOver ? ALL : { not, values: rest }
}

function toggled(choice: Choice, value: FacetValue): Choice {
  if (choice.values.includes(value)) return without(choice, value)
  return { not: false, values: choice.not ? [value] : [...choice.values, value] }
}

function shutOut(choice: Choice, value: FacetValue, attribute: string): Choice {
  if (choice.not && choice.values.includes(value)) return without(choice, value)
  if (choice.not && choice.values.length > 0)
    return { not: true, values: [...choice.values, value] }
  const values = value === null || attribute === 'level' ? [value] : [value, null]
  return { not: true, values }
}

/** Chooses the value beside the facet's others, or no longer; one that is shut out is let in again. */
export function toggleValue(query: PageQuery, attribute: string, value: FacetValue): PageQuery {
  return withChoice(query, attribute, toggled(choiceOf(query, attribute), value))
}

/** Chooses the value and none of the facet's others. */
export function onlyValue(query: PageQuery, attribute: string, value: FacetValue): PageQuery {
  return withChoice(query, attribute, { not: false, values: [value] })
}

/** Shuts the value out, or lets it in again; what was chosen beside it no longer is. */
export function excludeValue(query: PageQuery, attribute: string, value: FacetValue): PageQuery {
  return withChoice(query, attribute, shutOut(choiceOf(query, attribute), value, attribute))
}

/** As a checkbox says it: chosen, not chosen, or shut out. */
export function stateOf({ not, values }: Choice, value: FacetValue): 'true' | 'false' | 'mixed' {
  if (!values.includes(value)) return 'false'
  return not ? 'mixed' : 'true'
}
