import type { KnownAttribute } from '../data/filterable-attribute.js'
import { describeConjunct, type Phrase, type Words } from '../data/phrases.js'
import type { Conjunct, Range } from '../data/query.js'
import type { TypedProblem } from './typed-conditions.js'
import type { TypedAt } from './typed-range.js'

/** An event type with its texts in the registry: its sentence and its description. */
export interface DescribedType {
  readonly type: string
  readonly text: string
}

export interface Known {
  readonly attributes: readonly KnownAttribute[]
  /** Earlier query strings, latest first. */
  readonly recent: readonly string[]
  readonly types: readonly DescribedType[]
  readonly typedAt: TypedAt
  readonly rangeText: (range: Range) => string
}

/** Context that all suggestions for a text are made from. */
export interface Context {
  readonly known: Known
  readonly words: Words
}

/** Effect of accepting a suggestion: add filters or set the range, continue with a text, or go to a query. */
export type Taken =
  | { readonly conjunct: Conjunct }
  | { readonly conjuncts: readonly Conjunct[]; readonly range: Range | undefined }
  | { readonly sinceType: string }
  | { readonly text: string }
  | { readonly search: string }

/** A suggestion below the filter field. */
export interface Suggestion {
  readonly kind: 'value' | 'attribute' | 'predicate' | 'recent' | 'text' | 'typed' | 'problem'
  readonly phrases: readonly Phrase[]
  /** Number of events in the list after this choice; `undefined` if it is not known. */
  readonly count?: number | undefined
  /** Name of the attribute or type in the API. */
  readonly apiName?: string
  /** The attributes in the suggestion that no event has. */
  readonly unknown?: readonly string[]
  /** Reason why the typed text is no filter. */
  readonly problem?: TypedProblem
  readonly take: Taken
}

export const MAX_SUGGESTIONS = 6

export const containsText = (text: string, part: string): boolean =>
  text.toLowerCase().includes(part.toLowerCase())

export const startsWithText = (text: string, part: string): boolean =>
  text.toLowerCase().startsWith(part.toLowerCase())

/** The items that contain the text; those that start with it come first. */
export function matching<Item>(
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

export const addFilter = (
  kind: Suggestion['kind'],
  conjunct: Conjunct,
  { words }: Context,
  count?: number,
): Suggestion => ({
  kind,
  phrases: describeConjunct(conjunct, words),
  count,
  take: { conjunct },
})
