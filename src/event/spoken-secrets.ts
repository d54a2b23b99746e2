import {
  isSecretName,
  nameStart,
  redactFrom,
  secretRange,
  withoutStop,
} from './assigned-secrets.js'
import { REDACTED } from './secrets.js'

/* Secrets in sentences: in messages, statements of SQL and errors. The rules of `secret-values.ts` about expressions hold here too. */

const VERB = /\s(?:is|was|ist|lautet|es|est|er|e|é|è|är|jest)(?::\s{0,2}|\s{1,2}(?=\S))/g
/** Words with hyphens, and small numbers: "the password is case-sensitive", "is 8 characters long". */
const WORDS = /^(?:[\p{L}'\u2019-]*|\d{1,3})$/u

/** `the password is …`, if what follows is no word. */
export function redactPhrases(text: string): string {
  return redactFrom(text, VERB, ({ 0: verb, index }, at) => {
    const from = nameStart(text, index)
    if (from < at || index - from < 2) return undefined
    const name = text.slice(from, index)
    if (!isSecretName(text, name, from)) return undefined
    const range = secretRange(text, index + verb.length, name, '=')
    if (!range) return undefined
    const isQuoted = range[0] > index + verb.length
    const value = withoutStop(text.slice(...range))
    if (!isQuoted && (WORDS.test(value) || value === REDACTED)) return undefined
    return isQuoted ? range : [range[0], range[0] + value.length]
  })
}

/** Before a value in quotes, and in SQL and netrc before any. */
const STATEMENT =
  /(?<!\p{L})(?:(?:passw(?:or)?d|passwort|passphrase|kennwort|contraseña|senha|wachtwoord)(?:\s{1,3}|\(\s?)(?=\\?["'])|identified\s{1,3}(?:with\s{1,3}\S{1,60}\s{1,3})?(?:by|as)\s{1,3}(?:password\s{1,3}|values\s{1,3})?|password\s{1,3}for\s{1,3}\S{1,100}\s{0,3}(?:=|to)\s{0,3}(?:password\s?\(\s?)?|login\s{1,3}\S{1,100}\s{1,3}password\s{1,3})/giu

const MAX_QUOTED = 200

/** Before a value that has letters and digits, as few words have. */
const SPOKEN =
  /(?<!\p{L})(?:passw(?:or)?d|passwort|passphrase|kennwort|contraseña)\s{1,2}(?:(?:to|was|of|auf|from)\s{1,2})?(?=[^\s"']{6})/giu
const MIXED = /^(?=[^\d]*\d)(?=\P{L}*\p{L})[^\s:=/]{6,}$/u

const mayBeQuoted = (text: string): boolean => text.includes("'") || text.includes('"')

export const mayHaveStatements = (text: string): boolean =>
  text.includes('assw') ||
  text.includes('ASSW') ||
  (mayBeQuoted(text) && /pass|kennw|contrase|senha|wachtw/i.test(text)) ||
  text.includes('dentified') ||
  text.includes('DENTIFIED') ||
  text.includes('login ')

/** `IDENTIFIED BY '…'`, `PASSWORD '…'`. */
export function redactStatements(text: string): string {
  const shown = redactFrom(text, STATEMENT, ({ 0: statement, index }) =>
    secretRange(text, index + statement.length, '', '='),
  )
  return redactFrom(shown, SPOKEN, ({ 0: spoken, index }) => {
    const start = index + spoken.length
    const end = start + shown.slice(start, start + MAX_QUOTED).search(/[\s,;"')]|$/)
    const value = shown.slice(start, end)
    return MIXED.test(value) && value !== REDACTED ? [start, end] : undefined
  })
}

/** The end of what V8 quotes of a text that is not JSON. */
const QUOTED_END = /"(?:\.\.\.)? is not valid JSON/g
const QUOTED_START = /Unexpected token [\s\S]{1,4}, (?:\.\.\.)?"/
/** Text before an identifier that JavaScriptCore quotes. */
const IDENTIFIER = /JSON Parse error: [^"\n]{0,60}"(?=[^"\n])/g
/** Texts that are parsed by mistake. */
const NO_TEXT: ReadonlySet<string> = new Set(['undefined', '[object Object]'])

/** The parts of a text that an error of `JSON.parse` quotes. */
export function redactParseErrors(text: string): string {
  const shown = redactFrom(text, QUOTED_END, ({ index }, at) => {
    const from = Math.max(at, index - MAX_QUOTED)
    const before = text.slice(from, index)
    const head = QUOTED_START.exec(before)
    const start = head ? head.index + head[0].length : before.lastIndexOf('"') + 1
    const isNothing = start === 0 || NO_TEXT.has(before.slice(start))
    return isNothing ? undefined : [from + start, index]
  })
  return redactFrom(shown, IDENTIFIER, ({ 0: head, index }) => {
    const start = index + head.length
    const end = shown.slice(start, start + MAX_QUOTED).search(/["\n]/)
    return [start, end === -1 ? Math.min(shown.length, start + MAX_QUOTED) : start + end]
  })
}
