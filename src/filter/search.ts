import { fold, spellings } from './values.js'

/*
 * Looking for a text in others without regard to case. A short one is looked for by an expression of
 * our own making, which spares a lowered copy of every text: a class of spellings for each character
 * and no repetition, so a text is gone through once for each of them at most.
 */

export type TextTest = (text: string) => boolean

export const MAX_CLASSES = 32
const SYNTAX = /[\^$\\.*+?()[\]{}|/]/

/** All spellings of a character, as an expression with the flag `u` has them. */
export function classOf(char: string): string {
  const all = spellings(char)
  return all === char ? char.replace(SYNTAX, String.raw`\$&`) : `[${all}]`
}

/** `undefined` for what is long, and for half of a surrogate pair, which it would find in no text. */
function expression(element: string, before: '' | '^'): RegExp | undefined {
  const chars = Array.from(element)
  if (chars.length > MAX_CLASSES || !element.isWellFormed()) return undefined
  return new RegExp(before + chars.map(classOf).join(''), 'u')
}

export function containing(element: string): TextTest {
  const classes = expression(element, '')
  if (classes) return (text) => classes.test(text)
  const folded = fold(element)
  return (text) => fold(text).includes(folded)
}

export function startingWith(element: string): TextTest {
  const classes = expression(element, '^')
  if (classes) return (text) => classes.test(text)
  const folded = fold(element)
  return (text) => fold(text).startsWith(folded)
}

export function endingWith(element: string): TextTest {
  const folded = fold(element)
  // Folding keeps the length, so no more than the end has to be folded.
  if (element.isWellFormed())
    return (text) => fold(text.slice(Math.max(text.length - folded.length, 0))) === folded
  return (text) => fold(text).endsWith(folded)
}
