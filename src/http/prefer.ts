import { MAX_NEGOTIATION_HEADER } from './header-size.js'

/** Values by lower-case name; a preference without a value has an empty string. */
export type Preferences = ReadonlyMap<string, string>

const TOKEN = "[!#$%&'*+.^_`|~0-9A-Za-z-]+"
const QUOTED = String.raw`"(?:[^"\\]|\\.)*"`
const WORD = String.raw`(${TOKEN})(?:[ \t]*=[ \t]*(${TOKEN}|${QUOTED}))?`

/** A preference and its parameters, which are ignored: no supported preference has any. */
const PREFERENCE = new RegExp(String.raw`^[ \t]*${WORD}[ \t]*(?:;[ \t]*(?:${WORD}[ \t]*)?)*$`)

/** Commas within quotes do not separate elements, even if the quotes are not closed. */
const ELEMENTS = new RegExp(`(?:[^,"]|${QUOTED}?)+`, 'g')

const unquote = (word: string): string =>
  word.startsWith('"') ? word.slice(1, -1).replaceAll(/\\(.)/g, '$1') : word

/**
 * Parses the `Prefer` header (RFC 7240, section 2); several headers are joined by commas. Invalid elements
 * are ignored; the first of several preferences of the same name counts.
 */
export function parsePrefer(header: string): Preferences {
  const preferences = new Map<string, string>()
  for (const element of header.match(ELEMENTS) ?? []) {
    const match = PREFERENCE.exec(element)
    if (!match) continue
    const [, name, value = ''] = match
    const key = name!.toLowerCase()
    if (!preferences.has(key)) preferences.set(key, unquote(value))
  }
  return preferences
}

const MAX_WAIT_SECONDS = 60

/**
 * The seconds of `wait` (RFC 7240, section 4.3), at most 60; `undefined` if it is missing or not a whole
 * number, or if the header is too long to be parsed.
 */
export function preferredWait(header: string): number | undefined {
  if (header === '' || header.length > MAX_NEGOTIATION_HEADER) return undefined
  const wait = parsePrefer(header).get('wait')
  if (wait === undefined || !/^\d+$/.test(wait)) return undefined
  return Math.min(Number(wait), MAX_WAIT_SECONDS)
}
