import type { Sentence, SentencePart } from './sentence.js'

const PRINTED: Readonly<Partial<Record<SentencePart['kind'], (text: string) => string>>> = {
  quote: (text) => `“${text}”`,
  tag: (text) => `[${text}] `,
  time: (text) => `${text.slice(0, 10)} ${text.slice(11, 16)} UTC`,
}

/** The sentence as one line of plain text: `ann created change nightly in project acme`. */
export function sentenceText({ who, what, isVerbFirst }: Sentence): string {
  const rest = what.map(({ kind, text }) => PRINTED[kind]?.(text) ?? text).join('')
  if (who === null) return rest
  return isVerbFirst ? `${who} ${rest}` : `${who}: ${rest}`
}
