import { textCondition } from '../data/free-text.js'
import { describeConjunct, type Phrase } from '../data/phrases.js'
import { conditionOn, type Conjunct, type Range } from '../data/query.js'
import { readTyped } from './reading.js'
import {
  addFilter,
  type Context,
  MAX_SUGGESTIONS,
  matching,
  type Suggestion,
} from './suggestion.js'
import { isSinceWord, readTypedRange } from './typed-range.js'

/* Suggestions with the meanings of a typed text: filters, a time range, or text to search for. */

function phrasesOf(
  conjuncts: readonly Conjunct[],
  range: Range | undefined,
  { known, words }: Context,
): readonly Phrase[] {
  const filters = conjuncts.map((conjunct) => describeConjunct(conjunct, words))
  const time: readonly Phrase[] = range ? [{ kind: 'value', text: known.rangeText(range) }] : []
  return [...filters, time]
    .filter((part) => part.length > 0)
    .flatMap((part, index) =>
      index === 0 ? part : [{ kind: 'join' as const, text: words.and }, ...part],
    )
}

/** The whole text as one phrase to search for. */
function phraseSuggestion(text: string, context: Context): readonly Suggestion[] {
  const phrase = text.trim()
  return phrase === '' || phrase.includes('"')
    ? []
    : [addFilter('text', textCondition(phrase), context)]
}

/** Suggestions for a typed text. Enter takes the first. */
export function typedSuggestions(text: string, context: Context): readonly Suggestion[] {
  const { known, words } = context
  const reading = readTyped(text, { attributes: known.attributes, words }, known.typedAt)
  const { conjuncts, range, problem, unknown, isText } = reading
  if (problem) {
    const kept: Suggestion = { kind: 'problem', phrases: [], problem, take: { text } }
    return [kept, ...phraseSuggestion(text, context)]
  }
  const typed: Suggestion = {
    kind: 'typed',
    phrases: phrasesOf(conjuncts, range, context),
    unknown,
    take: { conjuncts, range },
  }
  const since = sinceTypes(text, context)
  if (typed.phrases.length === 0) return since
  const isOneWord = isText && conjuncts.length === 1
  const others = isOneWord ? [] : phraseSuggestion(text, context)
  return [...since, typed, ...others]
}

/** `since deploy`: the time of the newest event of a type whose name contains the word. */
function sinceTypes(text: string, { known }: Context): readonly Suggestion[] {
  const [, word, name] = /^\s*(\S+)\s+(\S+)\s*$/.exec(text) ?? []
  const isSince = word !== undefined && isSinceWord(word.toLowerCase(), known.typedAt)
  if (!isSince || readTypedRange(text, known.typedAt)) return []
  const types = known.attributes.find((attribute) => attribute.name === 'type')?.values ?? []
  return matching(types, name!, ({ value }) => value).map(({ value }): Suggestion => ({
    kind: 'typed',
    phrases: [
      { kind: 'predicate', text: word.toLowerCase() },
      { kind: 'value', text: value },
    ],
    take: { sinceType: value },
  }))
}

const MIN_WORD = 3

/** Types whose sentence or description contains the text. A search of events does not find this wording. */
export function describedTypes(text: string, context: Context): readonly Suggestion[] {
  const wanted = text.trim().toLowerCase()
  if (wanted.length < MIN_WORD) return []
  const types = context.known.types.filter((type) => type.text.toLowerCase().includes(wanted))
  return types
    .slice(0, MAX_SUGGESTIONS)
    .map(({ type }) => addFilter('value', conditionOn('type', 'eq', [type]), context))
}
