import { compareText, fold, spellings } from '../../filter/values.js'

/**
 * Goes from text to text in the order of code points where only those count that begin as the given
 * one without regard to case: gives the least beginning in any spelling that is above `text`, which
 * does not begin so; without `text` the least of all. `undefined` where none is above.
 */
export type NextSpelling = (text?: string) => string | undefined

export function nextSpelling(start: string): NextSpelling {
  const chars = Array.from(fold(start), (char) => Array.from(spellings(char)).toSorted(compareText))
  const leastFrom = (place: number): string =>
    chars
      .slice(place)
      .map(([least]) => least)
      .join('')

  return (text) => {
    if (text === undefined) return leastFrom(0)
    const given = Array.from(text).slice(0, chars.length)
    /** The last place, and what stands before it, where a greater spelling can follow. */
    let above: string | undefined
    let before = ''
    for (const [place, options] of chars.entries()) {
      const char = given[place]
      if (char === undefined) return before + leastFrom(place)
      const greater = options.find((option) => compareText(option, char) > 0)
      if (greater !== undefined) above = before + greater + leastFrom(place + 1)
      if (!options.includes(char)) return above
      before += char
    }
    return above
  }
}
