import { isSensitive, REDACTED } from './secrets.js'

/*
 * Secrets after their names. No expression may fail after it has read a part of unbounded length, and none may repeat a group: see
 * `secret-values.ts`.
 */

/** Replaces the ranges that `rangeOf` finds from matches of the expression. */
export function redactFrom(
  text: string,
  expression: RegExp,
  rangeOf: (
    match: RegExpExecArray,
    from: number,
  ) => readonly [start: number, end: number] | undefined,
): string {
  let shown = ''
  let at = 0
  expression.lastIndex = 0
  for (let match = expression.exec(text); match; match = expression.exec(text)) {
    const range = rangeOf(match, at)
    if (!range) continue
    shown += text.slice(at, range[0]) + REDACTED
    at = range[1]
    expression.lastIndex = at
  }
  return shown + text.slice(at)
}

// Of the separators in other scripts, only some keyboards have these.
const SEPARATOR = /(?::=|=>|->|[:=>](?![:=]|\/\/)|[：＝→])\s{0,2}/g
/** Where a value ends, by how it begins. */
const ENDS: Readonly<Record<string, RegExp>> = {
  '"': /(?<!\\)"/g,
  "'": /(?<!\\)'/g,
  '\\"': /\\"/g,
  "\\'": /\\'/g,
  '{': /}/g,
  '': /[\s"'&;<>]|\\["']/g,
}
const LINE_END = /[\r\n]/g
const OPENING = /\\?["']|/y
const WORD_BEFORE = /(?<![\w-])[\p{L}\p{M}]{2,20} $/u
/** Names of several words whose last word alone is not the name of a secret. */
const LAST_WORD = /[eosniu]$/
const PHRASE =
  /(?:mots? de passe|phrase de passe|code d.acc[eè]s|palabra de paso|palavra[ -]passe|kata (?:sandi|laluan)|mật khẩu)$/iu
const KEY_ID = /^A[A-Z]IA[A-Z0-9]{16}$/
/** Parameters of URLs that are secret only there. */
const SIGNED = /^(?:code|sig|signature|x-(?:amz|goog)-signature)$/i

const isHeader = (name: string): boolean => /^(?:.{0,20}authorization|.{0,20}cookie)$/i.test(name)

/** True if the name before a value is the name of a secret, with the word before it if that matters. */
export function isSecretName(text: string, name: string, start: number): boolean {
  const before = text[start - 1]
  if ((before === '?' || before === '&') && SIGNED.test(name)) return true
  if (LAST_WORD.test(name) && PHRASE.test(text.slice(Math.max(0, start - 16), start + name.length)))
    return true
  if (!isSensitive(name) && !/^keys?$|[^\0-\x7f]/i.test(name)) return false
  const word = WORD_BEFORE.exec(text.slice(Math.max(0, start - 22), start))?.[0].trim()
  return isSensitive(word === undefined ? name : `${word}_${name}`)
}

const MAX_NAME = 64
/** 1 for the characters of names, by their code. */
const NAME_CHARACTERS = Uint8Array.from({ length: 128 }, (_, code) =>
  Number(/[\w.-]/.test(String.fromCharCode(code))),
)
const isNameCharacter = (code: number): boolean =>
  code < 128
    ? NAME_CHARACTERS[code] === 1
    : /[\p{L}\p{M}\p{N}\u200c]/u.test(String.fromCharCode(code))

/** Where the name that ends here begins. */
export function nameStart(text: string, end: number): number {
  let start = end
  while (start > 0 && end - start <= MAX_NAME && isNameCharacter(text.charCodeAt(start - 1)))
    start--
  return start
}

const QUOTES = '"\'\\'

/** Start and end of the name before a separator: in `password=`, `"apiKey": `, `user[token]=`, `<secret>`. */
function nameBefore(text: string, separator: number): readonly [start: number, end: number] {
  let end = separator
  for (const least = end - 2; end > least && text.charCodeAt(end - 1) <= 0x20;) end--
  for (const least = end - 3; end > least && end > 0 && QUOTES.includes(text[end - 1]!);) end--
  if (text[end - 1] === ']') end--
  else if (text.endsWith('%5D', end)) end -= 3
  return [nameStart(text, end), end]
}

/** Words that follow the name of a secret in sentences and in schemas, in the languages of common messages. */
const PROSE = new Set(
  (
    'is was are were be been being must should shall can cannot could may might will would has have had does do did not no ' +
    'too very at least most only the a an and or of for in on to with without from by as if when please ' +
    'required missing invalid valid wrong incorrect correct expired empty blank unset set reset changed updated removed created ' +
    'deleted stored hidden redacted masked omitted none null undefined true false unknown optional disabled enabled rejected ' +
    'refused accepted denied mismatch mismatched weak strong short long same unchanged string text boolean number object array ' +
    'any type unexpected expected ensure enter length minimum maximum value field error failed failure ok yes ' +
    'muss ist war darf soll kann wird wurde nicht falsch ung\u00fcltig erforderlich fehlt abgelaufen leer ' +
    'es est debe doit deve moet er \u00e4r m\u00e5ste jest musi non pas incorrecta incorrecto incorrecte inv\u00e1lida requerida'
  ).split(' '),
)
const LETTERS = /^[\p{L}'\u2019-]+$/u
/** The next word, if it consists of letters. */
const NEXT_WORD = /[ \t]{1,3}[`"]?[\p{L}'\u2019]{1,30}(?=[\s,.;!?)`"]|$)/uy

export const withoutStop = (word: string): string => word.replace(/[,.;!?)]{1,3}$/, '')

/** True for a word of a sentence: "password: must be longer". */
function isProse(text: string, end: number, value: string): boolean {
  const word = withoutStop(value)
  if (PROSE.has(word.toLowerCase())) return true
  if (!LETTERS.test(word)) return false
  if (text[end] === "'" && /\w/.test(text[end + 1] ?? '')) return true
  if (word !== value) return false
  NEXT_WORD.lastIndex = end
  return NEXT_WORD.test(text)
}

/** The head of a block of YAML. */
const BLOCK = /[|>][-+\d]{0,2}(?=\r?\n[ \t])/y

/** The end of the lines that are indented. */
function blockEnd(text: string, at: number): number {
  let end = at
  while (/^\r?\n[ \t]/.test(text.slice(end, end + 3))) {
    LINE_END.lastIndex = end + 2
    end = LINE_END.exec(text)?.index ?? text.length
  }
  return end
}

/** Start and end of the value at this place without its quotes; `undefined` if it is not secret. */
export function secretRange(
  text: string,
  at: number,
  name: string,
  separator: string,
): readonly [start: number, end: number] | undefined {
  BLOCK.lastIndex = at
  if (separator.startsWith(':') && BLOCK.test(text)) return [at, blockEnd(text, BLOCK.lastIndex)]
  OPENING.lastIndex = at
  const quote = OPENING.exec(text)![0]
  // An object is not secret as a whole: the names of its members decide.
  if (quote === '' && separator.startsWith(':') && /[[{]/.test(text[at] ?? '')) return undefined
  const opening = quote === '' && separator === '=' && text[at] === '{' ? '{' : quote
  const start = at + opening.length
  const expression = opening === '' && isHeader(name) ? LINE_END : ENDS[opening]!
  expression.lastIndex = start
  const end = expression.exec(text)?.index ?? text.length
  const value = text.slice(start, end)
  if (value === '' || KEY_ID.test(value)) return undefined
  if (opening !== '') return [start, end]
  if (/^\w{1,40}\($/.test(value) && end < text.length) return secretRange(text, end, name, '')
  if (/^[:>：]\s/.test(separator) && isProse(text, end, value)) return undefined
  return [start, end]
}

/** Values after the name of a secret. */
export function redactAssigned(text: string): string {
  return redactFrom(text, SEPARATOR, ({ 0: separator, index }, at) => {
    const [from, to] = nameBefore(text, index)
    if (from < at || to - from < 2 || to - from > MAX_NAME) return undefined
    const name = text.slice(from, to)
    if (!isSecretName(text, name, from)) return undefined
    return secretRange(text, index + separator.length, name, separator)
  })
}

const FLAG = /(?<![\w.-])--?([A-Za-z][\w-]{1,40}) (?!-)/g

/** Arguments of commands. `--password=…` is an assignment. */
export function redactFlags(text: string): string {
  return redactFrom(text, FLAG, ({ 0: flag, 1: name, index }) =>
    isSensitive(name!) ? secretRange(text, index + flag.length, name!, '') : undefined,
  )
}

/** Flags of programs whose value is a secret although their names do not say so. */
const ARGUMENTS = [
  ['sshpass', '-p ?'],
  ['(?:mysql|mariadb)[\\w-]{0,12}|7z[ar]?', '-p(?=\\S)'],
  ['redis-cli', '-a '],
  ['curl|wget|https?', '(?:-u|--user|-a|--auth|--proxy-user) ?[^\\s:/\'"]{1,100}:(?!/)'],
  ['(?:docker|podman|helm|oc|az|buildah|twine)', '-p '],
  ['ldap\\w{2,10}', '-w '],
  ['sqlcmd|bcp|mosquitto_\\w{3}|(?:un)?zip|ipmitool', '-P '],
  ['mongo\\w{0,10}', '-p '],
  ['smbclient|rpcclient|net', '-U ?[^\\s%]{1,100}%'],
].map(
  ([programs, flags]) =>
    new RegExp(`(?<![\\w.-])(?:${programs}) (?:[^\\n|;]{0,200}? )?(?:${flags})`, 'g'),
)

const PROGRAM =
  /sshpass|mysql|mariadb|7z|redis-cli|curl|wget|http|docker|podman|helm|oc |az |buildah|twine|ldap|sqlcmd|bcp|mosquitto|zip|ipmitool|mongo|smbclient|rpcclient|net /

export const mayHaveArguments = (text: string): boolean => text.includes(' -') && PROGRAM.test(text)

export const redactArguments = (text: string): string =>
  ARGUMENTS.reduce(
    (shown, expression) =>
      redactFrom(shown, expression, ({ 0: match, index }) =>
        isPort(match, shown, index + match.length)
          ? undefined
          : secretRange(shown, index + match.length, '', ''),
      ),
    text,
  )

/** `docker run -p 8080:80`: only `login` takes a password. */
const isPort = (match: string, text: string, at: number): boolean =>
  match.endsWith('-p ') && /^[\d.:-]+(?:\s|$)/.test(text.slice(at, at + 30))

/** A member that names a secret, in JSON, XML, YAML and HTML, up to the value that stands beside it. */
const PAIR =
  /(?:name|key|field|param|header|variable|property)\\?["']?\s{0,2}[:=]\s{0,2}\\?["']?([\p{L}\p{M}\p{N}_.-]{2,64})(?:\\?["'])?(?:(?:,|\s)[^{}<>]{0,80}?)?(?<!\p{L})value\\?["']?\s{0,2}[:=]\s{0,2}/giu
/** A part of a form (RFC 7578). */
const FORM_PART = /form-data; name="([^"\r\n]{2,64})"\r?\n\r?\n/g

export const mayHavePairs = (text: string): boolean =>
  text.includes('alue') || text.includes('ALUE') || text.includes('form-data')

/** Values beside the name of a secret: `"name":"password","value":"…"`. */
export function redactPairs(text: string): string {
  const named = redactFrom(text, PAIR, ({ 0: pair, 1: name, index }) =>
    isSensitive(name!) ? secretRange(text, index + pair.length, name!, '=') : undefined,
  )
  return redactFrom(named, FORM_PART, ({ 0: head, 1: name, index }) => {
    if (!isSensitive(name!)) return undefined
    const start = index + head.length
    const end = named.indexOf('\n--', start)
    return [start, end === -1 ? named.length : end]
  })
}
