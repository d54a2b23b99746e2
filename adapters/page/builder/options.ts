import type { PredicateName } from '../../../src/filter/predicates.js'
import { LEVELS } from '../../../src/event/level.js'
import type { FilterableAttribute } from '../data/filterable-attribute.js'
import { predicateWord, type Words } from '../data/phrases.js'
import { ROW_PREDICATES, type Row } from './model.js'

/** What of a row is chosen. */
export type Part = 'attribute' | 'predicate' | 'value'

/** What can be chosen. */
export interface Option {
  readonly value: string
  readonly text: string
  /** The heading it stands under. */
  readonly group: FilterableAttribute['from'] | 'typed' | ''
  /** Chosen, it is our level, not an attribute of that name. */
  readonly isLevel?: boolean
  readonly count?: number | undefined
  readonly types?: readonly string[]
}

const MOST = 50

const holds = (text: string, part: string): boolean =>
  text.toLowerCase().includes(part.toLowerCase())

const asTyped = (typed: string, options: readonly Option[]): readonly Option[] => {
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
  const own = all.filter(({ group }) => group === 'own')
  const others = all.filter(({ group }) => group !== 'own')
  const found = [...own, level, ...others].filter(
    ({ text }) => holds(text, typed) || holds(words.attributes[text] ?? '', typed),
  )
  return [...found.slice(0, MOST), ...asTyped(typed, all)]
}

const LEVEL_PREDICATES: readonly PredicateName[] = ['eq', 'not_eq']

function predicateOptions(typed: string, row: Row, words: Words): readonly Option[] {
  return (row.isLevel ? LEVEL_PREDICATES : ROW_PREDICATES)
    .map((value): Option => ({
      value,
      text: predicateWord(value, row.attribute, words),
      group: '',
    }))
    .filter(({ value, text }) => holds(text, typed) || value.startsWith(typed))
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
    .filter(({ value }) => holds(value, typed) && !row.values.includes(value))
    .slice(0, MOST)
    .map((known): Option => ({ ...known, text: known.value, group: '' }))
  const literal = row.isLevel ? [] : asTyped(typed, seen)
  // Of `is` a value that occurs is meant; of `contains` what was typed.
  return /^(not_)?eq$/.test(row.predicate) ? [...seen, ...literal] : [...literal, ...seen]
}

/** What can be chosen for a part of a row, where this was typed. */
export function optionsFor(
  part: Part,
  row: Row,
  typed: string,
  attributes: readonly FilterableAttribute[],
  words: Words,
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
