import type { Condition } from '../../../src/filter/ast.js'
import type { PredicateName } from '../../../src/filter/predicates.js'
import type { Level } from '../../../src/event/level.js'
import { isolated } from './isolated.js'
import { isNegative } from './negation.js'
import { ANY_TEXT } from './free-text.js'
import { ownValue } from './own-property.js'
import { levelChoice } from './level-choice.js'
import { type Conjunct, isGrouping } from './query.js'

/** A part of a filter in plain words. `join` stands between values, attributes or conditions. */
export interface Phrase {
  readonly kind: 'attribute' | 'predicate' | 'value' | 'join'
  readonly text: string
  readonly level?: Level
}

/** The words used in phrases. */
export interface Words {
  /** Labels for attributes whose API name is too technical. */
  readonly attributes: Readonly<Record<string, string>>
  readonly level: string
  readonly predicates: Readonly<Partial<Record<PredicateName, string>>>
  /** Predicates for `created_at`, in place of `predicates`. */
  readonly timePredicates: Readonly<Partial<Record<PredicateName, string>>>
  /** Predicates for {@link ANY_TEXT}, in place of `predicates`. Phrases have no word for the attribute itself. */
  readonly textPredicates?: Readonly<Partial<Record<PredicateName, string>>>
  readonly or: string
  readonly and: string
}

const COMPOUND = /_(any|all)$/

/** The single-value form of a predicate: `cont` for `cont_any`, `eq` for `in`. */
export function singlePredicate(predicate: PredicateName): PredicateName {
  if (predicate === 'in') return 'eq'
  if (predicate === 'not_in') return 'not_eq'
  const single = predicate.replace(COMPOUND, '') as PredicateName
  return single === predicate ? single : singlePredicate(single)
}

/**
 * The word, `any` or `all`, that joins the values of a predicate in a sentence. `not_cont_all` reads as "does
 * not contain any of". `undefined` for predicates of one value.
 */
export function valuesJoin(predicate: PredicateName): 'any' | 'all' | undefined {
  if (predicate === 'in' || predicate === 'not_in') return 'any'
  const [, compound] = COMPOUND.exec(predicate) ?? []
  if (compound === undefined) return undefined
  return (compound === 'any') === isNegative(predicate) ? 'all' : 'any'
}

export const predicateWord = (
  predicate: PredicateName,
  attribute: string | undefined,
  words: Words,
): string =>
  (attribute === 'created_at' ? words.timePredicates[predicate] : undefined) ??
  (attribute === ANY_TEXT ? words.textPredicates?.[predicate] : undefined) ??
  words.predicates[predicate] ??
  predicate

export const attributeWord = (attribute: string, words: Words): string =>
  ownValue(words.attributes, attribute) ?? attribute

const INVISIBLE = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/gu

/** The text with invisible and bidirectional control characters replaced by their code: `U+202E`. */
export const escapeInvisible = (text: string): string =>
  text.replace(
    INVISIBLE,
    (mark) => `U+${mark.codePointAt(0)!.toString(16).toUpperCase().padStart(4, '0')}`,
  )

const phrase = (kind: Phrase['kind'], text: string): Phrase => ({
  kind,
  text: escapeInvisible(text),
})

/** Concatenates the parts, with `between` in the gaps. */
function joined(parts: readonly (readonly Phrase[])[], between: string): Phrase[] {
  return parts.flatMap((part, index) => (index === 0 ? part : [phrase('join', between), ...part]))
}

function conditionPhrases(condition: Condition, words: Words): Phrase[] {
  const { attributes, combinator, predicate, values } = condition
  const single = singlePredicate(predicate)
  const named = attributes.filter((name) => name !== ANY_TEXT)
  const names = named.map((name) => [phrase('attribute', attributeWord(name, words))])
  return [
    ...joined(names, words[combinator]),
    phrase('predicate', predicateWord(single, attributes[0], words)),
    ...joined(
      values.map((value) => [phrase('value', value)]),
      valuesJoin(predicate) === 'all' ? words.and : words.or,
    ),
  ]
}

/** A filter in plain words: `level is error or warn`. */
export function describeConjunct(conjunct: Conjunct, words: Words): readonly Phrase[] {
  const choice = levelChoice(conjunct)
  if (choice) {
    const levels = choice.levels.map((level) => [{ ...phrase('value', level), level }])
    const predicate = predicateWord(choice.not ? 'not_eq' : 'eq', undefined, words)
    return [
      phrase('attribute', words.level),
      phrase('predicate', predicate),
      ...joined(levels, words.or),
    ]
  }
  if (!isGrouping(conjunct)) return conditionPhrases(conjunct, words)
  const parts = [...conjunct.conditions, ...conjunct.groupings].map((part) => {
    const phrases = describeConjunct(part, words)
    const isNested = isGrouping(part) && !levelChoice(part)
    return isNested ? [phrase('join', '('), ...phrases, phrase('join', ')')] : phrases
  })
  return joined(parts, words[conjunct.combinator])
}

/** The phrases as one line of text. */
export const phraseText = (phrases: readonly Phrase[]): string =>
  phrases
    .map(({ kind, text }) => (kind === 'attribute' || kind === 'value' ? isolated(text) : text))
    .join(' ')

/** True if the filter is negative, such as `type is not x`. */
export function isNegativeConjunct(conjunct: Conjunct): boolean {
  const choice = levelChoice(conjunct)
  if (choice) return choice.not
  return !isGrouping(conjunct) && isNegative(conjunct.predicate)
}

/** The attribute that a negative filter also requires to exist; `undefined` for other filters. */
export function requiredAttribute(conjunct: Conjunct): string | undefined {
  if (isGrouping(conjunct) || levelChoice(conjunct)) return undefined
  const { attributes, predicate } = conjunct
  if (attributes.length > 1 || !/^(not_(?!null)|does_not_)/.test(predicate)) return undefined
  // Every event has these attributes.
  const [attribute] = attributes
  const isEverywhere = ['id', 'type', 'system', 'created_at', ANY_TEXT].includes(attribute!)
  return isEverywhere ? undefined : attribute
}
