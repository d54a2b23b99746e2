import type { Condition } from '../../../src/filter/ast.js'
import type { PredicateName } from '../../../src/filter/predicates.js'
import type { Level } from '../../../src/event/level.js'
import { levelChoice, levelConjunct } from '../data/level-choice.js'
import { type Conjunct, conditionOn, isGrouping, type PageQuery } from '../data/query.js'

/** A facet value as text; null for events without the attribute. */
export type FacetValue = string | null

/** The selected values of a facet; with `not`, the excluded values. */
export interface Choice {
  readonly not: boolean
  readonly values: readonly FacetValue[]
}

/** No selection, so all values match. */
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
  // A negative predicate also excludes events without the attribute.
  return { not, values: not ? [...values, null] : values }
}

/** Reads `username is ann or missing`, and its opposite `username is not ann or missing`. */
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

/** True if the choice includes events with this value. */
export const includesValue = ({ not, values }: Choice, value: FacetValue): boolean =>
  values.includes(value) !== not

/** The intersection of two choices. */
function intersection(one: Choice, other: Choice): Choice {
  if (one.not && other.not)
    return { not: true, values: [...new Set([...one.values, ...other.values])] }
  const [listed, second] = one.not ? [other, one] : [one, other]
  const values = listed.values.filter((value) => includesValue(second, value))
  return { not: false, values }
}

/** The selection that the query makes among the values of an attribute. */
export function choiceOf({ where }: PageQuery, attribute: string): Choice {
  return where.reduce((choice, conjunct) => {
    const read = readChoice(conjunct, attribute)
    return read ? intersection(choice, read) : choice
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

/** Replaces the query's choice for an attribute. Other filters on the attribute stay. */
function withChoice(query: PageQuery, attribute: string, choice: Choice): PageQuery {
  const isOwn = (conjunct: Conjunct): boolean => readChoice(conjunct, attribute) !== undefined
  const first = query.where.findIndex(isOwn)
  const at = first === -1 ? query.where.length : first
  const conjunct = conjunctOf(attribute, choice)
  const before = query.where.slice(0, at)
  const after = query.where.slice(at).filter((other) => !isOwn(other))
  return { ...query, where: [...before, ...(conjunct ? [conjunct] : []), ...after] }
}

function deselected({ not, values }: Choice, value: FacetValue): Choice {
  const rest = values.filter((other) => other !== value)
  // "is not ann" excludes missing values only as a side effect.
  const isOver = rest.every((other) => other === null && not)
  return isOver ? ALL : { not, values: rest }
}

function toggled(choice: Choice, value: FacetValue): Choice {
  if (choice.values.includes(value)) return deselected(choice, value)
  return { not: false, values: choice.not ? [value] : [...choice.values, value] }
}

function toggledExclusion(choice: Choice, value: FacetValue, attribute: string): Choice {
  if (choice.not && choice.values.includes(value)) return deselected(choice, value)
  if (choice.not && choice.values.length > 0)
    return { not: true, values: [...choice.values, value] }
  const values = value === null || attribute === 'level' ? [value] : [value, null]
  return { not: true, values }
}

/** Selects or deselects a value; an excluded value is no longer excluded. */
export function toggleValue(query: PageQuery, attribute: string, value: FacetValue): PageQuery {
  return withChoice(query, attribute, toggled(choiceOf(query, attribute), value))
}

/** Selects only this value of the facet. */
export function onlyValue(query: PageQuery, attribute: string, value: FacetValue): PageQuery {
  return withChoice(query, attribute, { not: false, values: [value] })
}

/** Excludes a value, or stops excluding it; other values are deselected. */
export function excludeValue(query: PageQuery, attribute: string, value: FacetValue): PageQuery {
  return withChoice(
    query,
    attribute,
    toggledExclusion(choiceOf(query, attribute), value, attribute),
  )
}

/** The `aria-checked` state: selected, not selected, or excluded (`mixed`). */
export function stateOf({ not, values }: Choice, value: FacetValue): 'true' | 'false' | 'mixed' {
  if (!values.includes(value)) return 'false'
  return not ? 'mixed' : 'true'
}
