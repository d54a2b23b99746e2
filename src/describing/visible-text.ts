// Keeps the two joiners that scripts and emoji need. The letters at the end are blank.
const HIDDEN = /(?![\t\n\r\u200C\u200D])[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\u115F\u1160\u3164\uFFA0]/gu

/**
 * Writes invisible characters, and characters that change the direction of text, as `U+202E`. Tabs and line breaks
 * stay.
 */
export function visibleText(text: string): string {
  return text.replace(HIDDEN, (character) => {
    const digits = character.codePointAt(0)!.toString(16).toUpperCase()
    return `U+${digits.padStart(4, '0')}`
  })
}

/** Texts that stay unchanged unless they are too long: ASCII with single spaces. */
const PLAIN = /^(?:[!-~]+(?: [!-~]+)*)?$/

/** The text as one line of at most `max` visible characters. */
export function shortText(text: string, max: number): string {
  if (text.length <= max && PLAIN.test(text)) return text
  // Process only the part of a long text that can be shown.
  const isLong = text.length > 4 * max
  const beginning = isLong ? text.slice(0, 4 * max).replace(/[\uD800-\uDBFF]$/, '') : text
  const line = visibleText(beginning).replace(/\s+/g, ' ').trim()
  if (line === '' || (!isLong && line.length <= max)) return line
  const characters = [...line]
  if (!isLong && characters.length <= max) return line
  return `${characters.slice(0, max - 1).join('')}…`
}
