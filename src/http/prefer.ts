/** What a client would like, by the names in lower case; without a value it is the empty text. */
export type Preferences = ReadonlyMap<string, string>

const TOKEN = "[!#$%&'*+.^_`|~0-9A-Za-z-]+"
const QUOTED = String.raw`"(?:[^"\\]|\\.)*"`
const WORD = String.raw`(${TOKEN})(?:[ \t]*=[ \t]*(${TOKEN}|${QUOTED}))?`

/** A preference and its parameters, which are passed over: none that we know has any. */
const PREFERENCE = new RegExp(String.raw`^[ \t]*${WORD}[ \t]*(?:;[ \t]*(?:${WORD}[ \t]*)?)*$`)

/** Commas within quotes part nothing, also where these are not closed. */
const ELEMENTS = new RegExp(`(?:[^,"]|${QUOTED}?)+`, 'g')

const unquote = (word: string): string =>
  word.startsWith('"') ? word.slice(1, -1).replaceAll(/\\(.)/g, '$1') : word

/**
 * Reads the header `Prefer` (RFC 7240, section 2), of which there may be several, joined by commas. What
 * cannot be read is passed over; of a preference that comes twice the first one counts.
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
 * How many seconds the client would wait (RFC 7240, section 4.3), 60 at most; `undefined` where it does not
 * say so in whole seconds.
 */
export function preferredWait(header: string): number | undefined {
  if (header === '') return undefined
  const wait = parsePrefer(header).get('wait')
  if (wait === undefined || !/^\d+$/.test(wait)) return undefined
  return Math.min(Number(wait), MAX_WAIT_SECONDS)
}
