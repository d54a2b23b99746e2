import { textFinder } from './find-text.js'
import type { Steps } from './steps.js'
import { fold, spellings } from './values.js'

/*
 * Searches text ignoring case. For a short search text it builds a regular expression, which avoids a
 * folded copy of every text. The expression has one character class for the spellings of each character,
 * and no repetition. So matching takes at most one pass per character.
 */

export interface TextMatcher {
  (text: string): boolean
  /** Set if the time for a text grows faster than its length. */
  readonly slow?: SlowMatcher
}

export interface SlowMatcher {
  /** The time for a character, as a multiple of the time of other matchers. */
  readonly factor: number
  readonly steps: (text: string) => Steps<boolean>
}

export const MAX_CHARACTER_CLASSES = 32
const SYNTAX = /[\^$\\.*+?()[\]{}|/]/

/** A regular expression, for the flag `u`, that matches all spellings of a character. */
export function characterClass(char: string): string {
  const all = spellings(char)
  return all === char ? char.replace(SYNTAX, String.raw`\$&`) : `[${all}]`
}

/** `undefined` for long texts, and for half of a surrogate pair, which the flag `u` never matches. */
function expression(element: string, before: '' | '^'): RegExp | undefined {
  const chars = Array.from(element)
  if (chars.length > MAX_CHARACTER_CLASSES || !element.isWellFormed()) return undefined
  return new RegExp(before + chars.map(characterClass).join(''), 'u')
}

export function containing(element: string): TextMatcher {
  const classes = expression(element, '')
  if (classes) return (text) => classes.test(text)
  const find = textFinder(fold(element))
  return (text) => find(fold(text), 0) !== -1
}

export function startingWith(element: string): TextMatcher {
  const classes = expression(element, '^')
  if (classes) return (text) => classes.test(text)
  const folded = fold(element)
  return (text) => fold(text).startsWith(folded)
}

export function endingWith(element: string): TextMatcher {
  const folded = fold(element)
  // Folding keeps the length, so folding the end of the text is enough.
  if (element.isWellFormed())
    return (text) => fold(text.slice(Math.max(text.length - folded.length, 0))) === folded
  return (text) => fold(text).endsWith(folded)
}
