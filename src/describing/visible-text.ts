// Two joiners stay, as scripts and emoji need them; the letters at the end are blank.
const HIDDEN = /(?![\t\n\r\u200C\u200D])[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\u115F\u1160\u3164\uFFA0]/gu

/**
 * The text with what cannot be seen, or turns the direction of what follows, written out as in
 * `U+202E`. Tabs and line breaks stay.
 */
export function visibleText(text: string): string {
  return text.replace(HIDDEN, (character) => {
    const digits = character.codePointAt(0)!.toString(16).toUpperCase()
    return `U+${digits.padStart(4, '0')}`
  })
}

/** The text in one line of at most so many characters, all of them visible; cut where it is longer. */
export function shortText(text: string, most: number): string {
  // Of a text of a megabyte no more is looked at than can be shown.
  const isLong = text.length > 4 * most
  const beginning = isLong ? text.slice(0, 4 * most).replace(/[\uD800-\uDBFF]$/, '') : text
  const line = visibleText(beginning).replace(/\s+/g, ' ').trim()
  if (line === '' || (!isLong && line.length <= most)) return line
  const characters = [...line]
  if (!isLong && characters.length <= most) return line
  return `${characters.slice(0, most - 1).join('')}…`
}
