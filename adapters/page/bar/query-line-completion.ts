import { predicates, splitKey } from '../../../src/filter/predicates.js'
import type { KnownAttribute } from '../data/filterable-attribute.js'

/** The completions at the caret, and the range of text that they replace. */
export interface Completion {
  readonly from: number
  readonly to: number
  readonly options: readonly string[]
}

const MAX_OPTIONS = 8

const namesStartingWith = (names: Iterable<string>, part: string): string[] =>
  [...names].filter((name) => name.startsWith(part) && name !== part).slice(0, MAX_OPTIONS)

/** Completes the text before the caret: an attribute name, a predicate, or a value. */
export function completeLine(
  text: string,
  caret: number,
  attributes: readonly KnownAttribute[],
): Completion | undefined {
  const start = text.lastIndexOf('&', caret - 1) + 1
  const before = text.slice(start, caret)
  const [, value] = /^[^=]*=(.*)$/s.exec(before) ?? []
  if (value !== undefined) {
    const key = /\[([^[\]]+)\](?:\[\])?=/.exec(before)?.[1]
    const name = key === undefined ? undefined : splitKey(key)?.attribute
    const known = attributes.find((attribute) => attribute.name === name)?.values ?? []
    const options = namesStartingWith(
      known.map(({ value }) => encodeURIComponent(value).replaceAll('%3A', ':')),
      value,
    )
    return completion(caret - value.length, caret, options)
  }
  const at = before.lastIndexOf('[') + 1
  if (at === 0)
    return completion(start, caret, namesStartingWith(['filter[', 'q=', 'range='], before))
  const key = before.slice(at)
  // The longest attribute name that the key starts with wins.
  const name = attributes
    .map((attribute) => attribute.name)
    .filter((name) => key.startsWith(`${name}_`))
    .toSorted((left, right) => right.length - left.length)[0]
  const names = namesStartingWith(
    attributes.map((attribute) => attribute.name),
    key,
  ).map((attribute) => `${attribute}_`)
  const keys =
    name === undefined ? [] : namesStartingWith(predicates.keys(), key.slice(name.length + 1))
  const options = [...keys.map((predicate) => `${name}_${predicate}]`), ...names].slice(
    0,
    MAX_OPTIONS,
  )
  return completion(start + at, caret, options)
}

const completion = (
  from: number,
  to: number,
  options: readonly string[],
): Completion | undefined => (options.length === 0 ? undefined : { from, to, options })
