import { nearest } from '../../../src/event/nearest.js'
import type { KnownAttribute } from '../data/filterable-attribute.js'
import type { Words } from '../data/phrases.js'

/** Context in which typed names are read. */
export interface TypedContext {
  readonly attributes: readonly KnownAttribute[]
  readonly words: Words
}

/** Tests for a typed name that stands for the name of an attribute, best first. */
const FITS: readonly ((name: string, typed: string) => boolean)[] = [
  (name, typed) => name === typed,
  (name, typed) => name.endsWith(`_${typed}`),
  (name, typed) => name.startsWith(`${typed}_`),
  (name, typed) => name.includes(`_${typed}_`),
]

/** The page's English name of an attribute, which is understood in every language. */
const USER = 'user'

/**
 * The attribute for a typed name. The best match is the attribute with this label in the page, then the attribute
 * with this name, then the first existing attribute whose name contains it: `status` means `response_status`. With
 * `isFuzzy`, a name may differ in a few letters. `undefined` if no attribute matches.
 */
export function nearestAttribute(
  typed: string,
  { attributes, words }: TypedContext,
  isFuzzy: boolean,
): string | undefined {
  const lower = typed.replaceAll('.', '_').toLowerCase()
  const word = Object.entries(words.attributes).find(([, text]) => text.toLowerCase() === lower)
  if (word) return word[0]
  if (lower === USER) return 'username'
  const namesOf = (isDeclared: boolean): readonly string[] =>
    attributes.filter(({ from }) => (from === 'registry') === isDeclared).map(({ name }) => name)
  const [occurring, declared] = [namesOf(false), namesOf(true)]
  for (const names of [occurring, declared])
    for (const fits of FITS) {
      const found = names.find((name) => fits(name.toLowerCase(), lower))
      if (found !== undefined) return found
    }
  return isFuzzy ? nearest(lower, [...occurring, ...declared]) : undefined
}
