import { type PredicateName, predicateOf } from '../../../src/filter/predicates.js'
import { type Level, LEVELS } from '../../../src/event/level.js'
import type { KnownAttribute } from '../data/filterable-attribute.js'
import {
  attributeWord,
  describeConjunct,
  type Phrase,
  phraseText,
  predicateWord,
  type Words,
} from '../data/phrases.js'
import { levelConjunct } from '../data/level-choice.js'
import { conditionOn, type Conjunct, filtersOf, parsePageQuery } from '../data/query.js'
import {
  addFilter,
  type Context,
  containsText,
  type Known,
  matching,
  MAX_SUGGESTIONS,
  startsWithText,
  type Suggestion,
} from './suggestion.js'
import { describedTypes, typedSuggestions } from './typed-suggestions.js'

/**
 * The suggested predicates in their order. `i_cont` is left out, because its text would be the same as that of
 * `cont`.
 */
export const PREDICATES: readonly PredicateName[] = [
  ...(['eq', 'not_eq', 'in', 'not_in', 'cont', 'not_cont', 'start', 'not_start'] as const),
  ...(['end', 'not_end', 'matches', 'does_not_match', 'lt', 'lteq', 'gt', 'gteq'] as const),
  ...(['null', 'not_null', 'blank', 'present', 'true', 'not_true', 'false', 'not_false'] as const),
]

const LEVEL_PREDICATES: readonly PredicateName[] = ['eq', 'not_eq']

/** Splits `a, b` into values if the predicate takes a list. */
function readValues(predicate: PredicateName, text: string): readonly string[] {
  const texts = predicateOf(predicate).takes === 'list' ? text.split(',') : [text]
  return texts.map((value) => value.trim()).filter((value) => value !== '')
}

/**
 * Stands for the level of the type among names of attributes. The space distinguishes it from an attribute `level`.
 */
const LEVEL = 'level '

const namesIn = ({ known }: Context): readonly string[] => [
  LEVEL,
  ...known.attributes.map(({ name }) => name),
]

const wordFor = (name: string, { words }: Context): string =>
  name === LEVEL ? words.level : attributeWord(name, words)

function valuesOf(name: string, { known }: Context): KnownAttribute['values'] {
  if (name === LEVEL) return LEVELS.map((value) => ({ value }))
  return known.attributes.find((attribute) => attribute.name === name)?.values ?? []
}

const predicatesOf = (name: string): readonly PredicateName[] =>
  name === LEVEL ? LEVEL_PREDICATES : PREDICATES

const conjunctFor = (
  name: string,
  predicate: PredicateName,
  values: readonly string[],
): Conjunct =>
  name === LEVEL
    ? levelConjunct({ levels: values as readonly Level[], not: predicate === 'not_eq' })
    : conditionOn(name, predicate, values)

function suggestPredicates(name: string, part: string, context: Context): readonly Suggestion[] {
  const word = wordFor(name, context)
  const predicateText = (predicate: PredicateName): string =>
    predicateWord(predicate, name, context.words)
  return matching(predicatesOf(name), part, predicateText).map((predicate): Suggestion => {
    if (predicateOf(predicate).takes === 'flag')
      return {
        ...addFilter('predicate', conditionOn(name, predicate), context),
        apiName: predicate,
      }
    const text = predicateText(predicate)
    return {
      kind: 'predicate',
      phrases: [
        { kind: 'attribute', text: word },
        { kind: 'predicate', text },
      ],
      apiName: predicate,
      take: { text: `${word} ${text} ` },
    }
  })
}

function suggestValues(
  name: string,
  predicate: PredicateName,
  part: string,
  context: Context,
): readonly Suggestion[] {
  const seen = matching(valuesOf(name, context), part, ({ value }) => value).map(
    ({ value, count }) =>
      addFilter(
        'value',
        conjunctFor(name, predicate, [value]),
        context,
        predicate === 'eq' ? count : undefined,
      ),
  )
  const literal = readValues(predicate, part)
  if (literal.length === 0 || name === LEVEL) return seen
  const typedValue = addFilter('text', conjunctFor(name, predicate, literal), context)
  // For `is`, existing values come first; for `contains`, the typed text does.
  const isExact = predicate === 'eq' || predicate === 'not_eq'
  return isExact ? [...seen, typedValue] : [typedValue, ...seen]
}

/** The item with the longest word that the text starts with, and the text after it. */
function leading<Item>(
  text: string,
  items: readonly Item[],
  wordsOf: (item: Item) => readonly string[],
): { item: Item; rest: string } | undefined {
  const found = items.flatMap((item) =>
    wordsOf(item)
      .filter((word) => startsWithText(text, `${word} `))
      .map((word) => ({
        item,
        rest: text.slice(word.length + 1).trimStart(),
        length: word.length,
      })),
  )
  return found.toSorted((left, right) => right.length - left.length)[0]
}

/** Values and predicates for a text that starts with an attribute. */
function continueFilter(text: string, context: Context): readonly Suggestion[] {
  const attribute = leading(text, namesIn(context), (name) => [name, wordFor(name, context)])
  if (!attribute) return []
  const { item: name, rest } = attribute
  const predicate = leading(rest, predicatesOf(name), (option) => [
    option,
    predicateWord(option, name, context.words),
  ])
  const values = predicate ? suggestValues(name, predicate.item, predicate.rest, context) : []
  return [...values, ...suggestPredicates(name, rest, context)]
}

function suggestRecent(text: string, { known, words }: Context): readonly Suggestion[] {
  const recent = known.recent.flatMap((search): Suggestion[] => {
    const phrases = filtersOf(search).flatMap((conjunct, index): Phrase[] => [
      ...(index === 0 ? [] : [{ kind: 'join', text: words.and } as const]),
      ...describeConjunct(conjunct, words),
    ])
    return phrases.some((phrase) => containsText(phrase.text, text))
      ? [{ kind: 'recent', phrases, take: { search } }]
      : []
  })
  return recent.slice(0, MAX_SUGGESTIONS)
}

function suggestAttributes(text: string, context: Context): readonly Suggestion[] {
  const textOf = (name: string): string => {
    const word = wordFor(name, context)
    return containsText(word, text) ? word : name
  }
  return matching(namesIn(context), text, textOf).map((name): Suggestion => ({
    kind: 'attribute',
    phrases: [{ kind: 'attribute', text: wordFor(name, context) }],
    apiName: name === LEVEL ? 'type_start_any' : name,
    take: { text: `${wordFor(name, context)} ` },
  }))
}

/** Existing values of any attribute, the most frequent first. */
function suggestSeenValues(text: string, context: Context): readonly Suggestion[] {
  const values = namesIn(context).flatMap((name) =>
    valuesOf(name, context).map(({ value, count }) => ({ name, value, count: count ?? 0 })),
  )
  const byCount = values.toSorted((left, right) => right.count - left.count)
  return matching(byCount, text, ({ value }) => value).map(({ name, value, count }) =>
    addFilter('value', conjunctFor(name, 'eq', [value]), context, count || undefined),
  )
}

/** Reads `type_start=api:`, a filter in API form without the brackets. */
function apiSuggestions(text: string, context: Context): readonly Suggestion[] {
  const [, key, value] = /^([^\s[\]=&]+)=([^&]+)$/.exec(text) ?? []
  if (key === undefined) return []
  try {
    const { where } = parsePageQuery(`range=1h&filter[${key}]=${encodeURIComponent(value!)}`)
    return where.map((conjunct) => addFilter('text', conjunct, context))
  } catch {
    return []
  }
}

/** The suggestions without repeated texts. Of two equal suggestions, one with a count takes precedence. */
function distinct(all: readonly Suggestion[]): readonly Suggestion[] {
  const byText = new Map<string, Suggestion>()
  for (const option of all) {
    const text = option.problem?.text ?? phraseText(option.phrases)
    const first = byText.get(text)
    const count = first && takes(first) === takes(option) ? option.count : undefined
    byText.set(text, first ? { ...first, count: first.count ?? count } : option)
  }
  return [...byText.values()]
}

/** The effect of accepting a suggestion, as a text. */
const takes = ({ take }: Suggestion): string =>
  JSON.stringify('conjunct' in take ? { conjuncts: [take.conjunct] } : take)

/** Suggestions for a text in the query bar, best first. No two read the same. */
export const suggest = (typed: string, known: Known, words: Words): readonly Suggestion[] =>
  distinct(allSuggestions(typed, known, words))

function allSuggestions(typed: string, known: Known, words: Words): readonly Suggestion[] {
  const context: Context = { known, words }
  const text = typed.trimStart()
  const continued = continueFilter(text, context)
  if (continued.length > 0) return continued
  const attributes = suggestAttributes(text, context)
  const recent = suggestRecent(text, context)
  if (text.trim() === '') return [...attributes, ...recent]
  const exact = namesIn(context).find((name) => [name, wordFor(name, context)].includes(text))
  return [
    ...apiSuggestions(text, context),
    ...typedSuggestions(text, context),
    ...suggestSeenValues(text.trim(), context),
    ...describedTypes(text, context),
    ...attributes,
    ...(exact === undefined ? [] : suggestPredicates(exact, '', context)),
    ...recent,
  ]
}
