import type { SentenceLanguage } from './language.js'
import type { Sentence, SentencePart } from './sentence.js'

type Quotes = SentenceLanguage['quotes']

const ENGLISH_QUOTES: Quotes = ['“', '”']

const PRINTED: Readonly<
  Partial<Record<SentencePart['kind'], (text: string, quotes: Quotes) => string>>
> = {
  quote: (text, [opening, closing]) => `${opening}${text}${closing}`,
  tag: (text) => `[${text}] `,
  time: (text) => `${text.slice(0, 10)} ${text.slice(11, 16)} UTC`,
}

/**
 * The sentence as one line of plain text: `ann created change nightly in project acme`. `quotes` are the quotation
 * marks of the sentence's language.
 */
export function sentenceText(
  { who, what, isVerbFirst }: Sentence,
  { quotes = ENGLISH_QUOTES }: { readonly quotes?: Quotes } = {},
): string {
  const rest = what.map(({ kind, text }) => PRINTED[kind]?.(text, quotes) ?? text).join('')
  if (who === null) return rest
  return isVerbFirst ? `${who} ${rest}` : `${who}: ${rest}`
}
