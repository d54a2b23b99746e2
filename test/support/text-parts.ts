import type { TextParts } from '../../src/http/utf8.js'

/** The text of the parts. */
export const joined = (parts: TextParts): string =>
  Array.from({ length: parts.length }, (_, index) => parts.at(index)).join('')
