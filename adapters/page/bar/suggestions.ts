import { type PredicateName, predicateOf } from '../../../src/filter/predicates.js'
import { type Level, LEVELS } from '../../../src/event/level.js'
import type { KnownAttribute } from '../data/filterable-attribute.js'
import {
  attributeWord,
  describeConjunct,
  type Phrase,
  predicateWord,
  type Words,
} from '../data/phrases.js'
import { conditionOn, type Conjunct, levelConjunct, parsePageQuery } from '../data/query.js'

export interface Known {
  readonly attributes: readonly KnownAttribute[]
  /** Earlier query strings, latest first. */
  readonly recent: readonly string[]
}

/** A suggestion below the filter field. */
export interface Suggestion {
  readonly kind: 'value' | 'attribute' | 'predicate' | 'recent' | 'text'
  readonly phrases: readonly Phrase[]
  readonly count?: number | undefined
  /** Its API name. */
  readonly apiName?: string
  /** What accepting it does: add a filter, continue with a text, or go to a query. */
  readonly take:
    | { readonly conjunct: Conjunct }
    | { readonly text: string }
    | { readonly search: string }
}

const MAX_SUGGESTIONS = 6

/** The predicates to suggest, in this order. `i_cont` is left out: it reads the same as `cont`. */
export const PREDICATES: readonly PredicateName[] = [
  ...(['eq', 'not_eq', 'in', 'not_in', 'cont', 'not_cont', 'start', 'not_start'] as const),
  ...(['end', 'not_end', 'matches', 'does_not_match', 'lt', 'lteq', 'gt', 'gteq'] as const),
  ...(['null', 'not_null', 'blank', 'present', 'true', 'not_true', 'false', 'not_false'] as const),
]

const LEVEL_PREDICATES: readonly PredicateName[] = ['eq', 'not_eq']

const containsText = (text: string, part: string): boolean =>
  text.toLowerCase().includes(part.toLowerCase())

const startsWithText = (text: string, part: string): boolean =>
  text.toLowerCase().startsWith(part.toLowerCase())

/** The items that contain the text; those that start with it come first. */
function matching<Item>(
  items: readonly Item[],
  part: string,
  textOf: (item: Item) => string,
): readonly Item[] {
  const found = items.filter((item) => containsText(textOf(item), part))
  return [
    ...found.filter((item) => startsWithText(textOf(item), part)),
    ...found.filter((item) => !startsWithText(textOf(item), part)),
  ].slice(0, MAX_SUGGESTIONS)
}

/** Splits `a, b` into values if the predicate takes a list. */
function readValues(predicate: PredicateName, text: string): readonly string[] {
  const texts = predicateOf(predicate).takes === 'list' ? text.split(',') : [text]
  return texts.map((value) => value.trim()).filter((value) => value !== '')
}

/** Suggestions for a text in the query bar, best first. */
export function suggest(typed: string, known: Known, words: Words): readonly Suggestion[] {
  const text = typed.trimStart()
  const level = words.level
  const names = [level, ...known.attributes.map(({ name }) => name)]
  const wordOf = (name: string): string => (name === level ? name : attributeWord(name, words))

  const adds = (kind: Suggestion['kind'], conjunct: Conjunct, count?: number): Suggestion => ({
    kind,
    phrases: describeConjunct(conjunct, words),
    count,
    take: { conjunct },
  })

  const conjunctFor = (name: string, predicate: PredicateName, values: readonly string[]) =>
    name === level
      ? levelConjunct({ levels: values as readonly Level[], not: predicate === 'not_eq' })
      : conditionOn(name, predicate, values)

  const valuesOf = (name: string): KnownAttribute['values'] => {
    if (name === level) return LEVELS.map((value) => ({ value }))
    return known.attributes.find((attribute) => attribute.name === name)?.values ?? []
  }

  function predicatesFor(name: string, part: string): readonly Suggestion[] {
    const wordFor = (predicate: PredicateName): string => predicateWord(predicate, name, words)
    return matching(name === level ? LEVEL_PREDICATES : PREDICATES, part, wordFor).map(
      (predicate): Suggestion => {
        if (predicateOf(predicate).takes === 'flag')
          return { ...adds('predicate', conditionOn(name, predicate)), apiName: predicate }
        return {
          kind: 'predicate',
          phrases: [
            { kind: 'attribute', text: wordOf(name) },
            { kind: 'predicate', text: wordFor(predicate) },
          ],
          apiName: predicate,
          take: { text: `${wordOf(name)} ${wordFor(predicate)} ` },
        }
      },
    )
  }

  function valuesFor(name: string, predicate: PredicateName, part: string): readonly Suggestion[] {
    const seen = matching(valuesOf(name), part, ({ value }) => value).map(({ value, count }) =>
      adds('value', conjunctFor(name, predicate, [value]), count),
    )
    const literal = readValues(predicate, part)
    if (literal.length === 0 || name === level) return seen
    const typedValue = adds('text', conjunctFor(name, predicate, literal))
    const isSeen = seen.some(({ take }) => JSON.stringify(take) === JSON.stringify(typedValue.take))
    if (isSeen) return seen
    // For `is`, existing values come first; for `contains`, the typed text does.
    const isExact = predicate === 'eq' || predicate === 'not_eq'
    return isExact ? [...seen, typedValue] : [typedValue, ...seen]
  }

  const restAfter = (rest: string, word: string): string | undefined =>
    startsWithText(rest, `${word} `) ? rest.slice(word.length + 1).trimStart() : undefined

  /** The item with the longest word that the text starts with. */
  function leading<Item>(
    rest: string,
    items: readonly Item[],
    wordsOf: (item: Item) => readonly string[],
  ): { item: Item; rest: string } | undefined {
    const found = items.flatMap((item) =>
      wordsOf(item).flatMap((word) => {
        const after = restAfter(rest, word)
        return after === undefined ? [] : [{ item, rest: after, length: word.length }]
      }),
    )
    return found.toSorted((left, right) => right.length - left.length)[0]
  }

  const attribute = leading(text, names, (name) => [name, wordOf(name)])
  if (attribute) {
    const { item: name, rest } = attribute
    const options = name === level ? LEVEL_PREDICATES : PREDICATES
    const predicate = leading(rest, options, (option) => [
      option,
      predicateWord(option, name, words),
    ])
    const values = predicate ? valuesFor(name, predicate.item, predicate.rest) : []
    const found = [...values, ...predicatesFor(name, rest)]
    if (found.length > 0) return found
  }

  const recent = known.recent.flatMap((search): Suggestion[] => {
    const { where } = parsePageQuery(search)
    const phrases = where.flatMap((conjunct, index): Phrase[] => [
      ...(index === 0 ? [] : [{ kind: 'join', text: words.and } as const]),
      ...describeConjunct(conjunct, words),
    ])
    return phrases.some((phrase) => containsText(phrase.text, text))
      ? [{ kind: 'recent', phrases, take: { search } }]
      : []
  })
  const attributes = matching(names, text, (name) =>
    containsText(wordOf(name), text) ? wordOf(name) : name,
  ).map((name): Suggestion => ({
    kind: 'attribute',
    phrases: [{ kind: 'attribute', text: wordOf(name) }],
    apiName: name === level ? 'type_start_any' : name,
    take: { text: `${wordOf(name)} ` },
  }))
  if (text.trim() === '') return [...attributes, ...recent.slice(0, MAX_SUGGESTIONS)]

  const values = names.flatMap((name) =>
    valuesOf(name).map(({ value, count }) => ({ name, value, count: count ?? 0 })),
  )
  const seen = matching(
    values.toSorted((left, right) => right.count - left.count),
    text.trim(),
    ({ value }) => value,
  ).map(({ name, value, count }) =>
    adds('value', conjunctFor(name, 'eq', [value]), count || undefined),
  )
  const exact = names.find((name) => [name, wordOf(name)].includes(text))
  return [
    ...apiSuggestions(text, adds),
    ...seen,
    ...attributes,
    ...(exact === undefined ? [] : predicatesFor(exact, '')),
    ...recent.slice(0, MAX_SUGGESTIONS),
    ...['name', 'type'].map((name) => adds('text', conditionOn(name, 'cont', [text.trim()]))),
  ]
}

/** Reads `type_start=api:`, a filter in API form without the brackets. */
function apiSuggestions(
  text: string,
  adds: (kind: 'text', conjunct: Conjunct) => Suggestion,
): readonly Suggestion[] {
  const [, key, value] = /^([^\s[\]=&]+)=([^&]+)$/.exec(text) ?? []
  if (key === undefined) return []
  try {
    const { where } = parsePageQuery(`range=1h&filter[${key}]=${encodeURIComponent(value!)}`)
    return where.map((conjunct) => adds('text', conjunct))
  } catch {
    return []
  }
}
