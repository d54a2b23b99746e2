import type { PredicateName } from '../../../src/filter/predicates.js'
import { LEVELS } from '../../../src/event/level.js'
import type { FilterableAttribute } from '../data/filterable-attribute.js'
import { ANY_TEXT } from '../data/free-text.js'
import { predicateWord, type Words } from '../data/phrases.js'
import { ROW_PREDICATES, type Row } from './model.js'

/** The part of a row that an option is for. */
export type Part = 'attribute' | 'predicate' | 'value'

/** An option of the picker. */
export interface Option {
  readonly value: string
  readonly text: string
  /** The heading it is listed under. */
  readonly group: FilterableAttribute['from'] | 'typed' | ''
  /** Stands for the level of the event type, not for an attribute named `level`. */
  readonly isLevel?: boolean
  readonly count?: number | undefined
  readonly types?: readonly string[]
}

const MAX_OPTIONS = 50

const containsText = (text: string, part: string): boolean =>
  text.toLowerCase().includes(part.toLowerCase())

const typedOption = (typed: string, options: readonly Option[]): readonly Option[] => {
  const value = typed.trim()
  const isThere = value === '' || options.some((option) => option.value === value)
  return isThere ? [] : [{ value, text: value, group: 'typed' }]
}

function attributeOptions(
  typed: string,
  attributes: readonly FilterableAttribute[],
  words: Words,
): readonly Option[] {
  const level: Option = { value: words.level, text: words.level, group: 'own', isLevel: true }
  const all = attributes.map(({ name, from, types, count }): Option => ({
    value: name,
    text: name,
    group: from,
    types,
    count,
  }))
  const anyText: Option = {
    value: ANY_TEXT,
    text: words.attributes[ANY_TEXT] ?? ANY_TEXT,
    group: 'own',
  }
  const own = all.filter(({ group }) => group === 'own')
  const others = all.filter(({ group }) => group !== 'own')
  const found = [...own, level, anyText, ...others].filter(
    ({ text }) => containsText(text, typed) || containsText(words.attributes[text] ?? '', typed),
  )
  return [...found.slice(0, MAX_OPTIONS), ...typedOption(typed, [...all, anyText])]
}

const LEVEL_PREDICATES: readonly PredicateName[] = ['eq', 'not_eq']
const TEXT_PREDICATES: readonly PredicateName[] = ['cont', 'not_cont']

function predicatesOf({ isLevel, attribute }: Row): readonly PredicateName[] {
  if (isLevel) return LEVEL_PREDICATES
  return attribute === ANY_TEXT ? TEXT_PREDICATES : ROW_PREDICATES
}

function predicateOptions(typed: string, row: Row, words: Words): readonly Option[] {
  return predicatesOf(row)
    .map((value): Option => ({
      value,
      text: predicateWord(value, row.attribute, words),
      group: '',
    }))
    .filter(({ value, text }) => containsText(text, typed) || value.startsWith(typed))
}

function valueOptions(
  typed: string,
  row: Row,
  attributes: readonly FilterableAttribute[],
): readonly Option[] {
  const known = row.isLevel
    ? LEVELS.map((value) => ({ value }))
    : (attributes.find(({ name }) => name === row.attribute)?.values ?? [])
  const seen = known
    .filter(({ value }) => containsText(value, typed) && !row.values.includes(value))
    .slice(0, MAX_OPTIONS)
    .map(({ value }): Option => ({ value, text: value, group: '' }))
  const literal = row.isLevel ? [] : typedOption(typed, seen)
  // For `is`, existing values come first; for `contains`, the typed text does.
  return /^(not_)?eq$/.test(row.predicate) ? [...seen, ...literal] : [...literal, ...seen]
}

interface OptionSource {
  readonly attributes: readonly FilterableAttribute[]
  readonly words: Words
}

/** The options for a part of a row, filtered by the typed text. */
export function optionsFor(
  part: Part,
  row: Row,
  typed: string,
  { attributes, words }: OptionSource,
): readonly Option[] {
  switch (part) {
    case 'attribute':
      return attributeOptions(typed, attributes, words)
    case 'predicate':
      return predicateOptions(typed, row, words)
    case 'value':
      return valueOptions(typed, row, attributes)
  }
}
