import { compareText, fold, spellings } from '../../filter/values.js'

/**
 * Returns the first spelling of a start, in upper and lower case, that comes after `text` by code point, or
 * the first of all without `text`; `undefined` if there is none. `text` must not begin with a spelling of
 * the start.
 */
export type NextSpelling = (text?: string) => string | undefined

export function nextSpelling(start: string): NextSpelling {
  const chars = Array.from(fold(start), (char) => Array.from(spellings(char)).toSorted(compareText))
  const lowestFrom = (place: number): string =>
    chars
      .slice(place)
      .map(([lowest]) => lowest)
      .join('')

  return (text) => {
    if (text === undefined) return lowestFrom(0)
    const given = Array.from(text).slice(0, chars.length)
    // Built at the last character at which a greater spelling can follow.
    let above: string | undefined
    let before = ''
    for (const [place, options] of chars.entries()) {
      const char = given[place]
      if (char === undefined) return before + lowestFrom(place)
      const greater = options.find((option) => compareText(option, char) > 0)
      if (greater !== undefined) above = before + greater + lowestFrom(place + 1)
      if (!options.includes(char)) return above
      before += char
    }
    return above
  }
}
