import { isSensitive, REDACTED } from './secrets.js'

/** A kind of secret that is recognisable in any text. */
interface SecretValue {
  /** False for texts that cannot contain it; cheap. */
  mayBeIn(text: string): boolean
  /** The text without the secrets. Takes time in proportion to its length. */
  redactIn(text: string): string
}

// No expression below may fail after it has read a part of unbounded length. It would read that part
// again from each following position, so a hostile text would take quadratic time. No expression may
// repeat a group either, because that uses stack.

/** Keys that a prefix identifies, with the characters that follow it. */
const PREFIXED = [
  'gh[opsur]_[A-Za-z0-9]{30,}|github_pat_\\w{20,}', // GitHub
  'gl[a-z]{2,6}-[\\w-]{20,}|GR1348941[\\w-]{20,}', // GitLab
  'xox[abeoprs]-[\\w-]{10,}|xapp-[\\w-]{10,}|hooks\\.slack\\.com/[\\w/]{20,}', // Slack
  '[rs]k_(?:live|test|prod)_\\w{10,}|whsec_[\\w+/=]{16,}', // Stripe
  '(?:IQoJb3JpZ2lu|FwoGZXIvYXdz|FQoGZXIvYXdz)[\\w+/=-]{20,}', // AWS session tokens
  'AIza[\\w-]{35}|ya29\\.[\\w-]{20,}|GOCSPX-[\\w-]{20,}', // Google
  '(?<![A-Za-z0-9])sk-[\\w-]{20,}', // OpenAI, Anthropic
  'npm_[A-Za-z0-9]{30,}|pypi-AgEI[\\w-]{20,}|dckr_pat_[\\w-]{20,}|hf_[A-Za-z]{30,}', // registries
  'SG\\.[\\w-]{16,32}\\.[\\w-]{16,}|shp(?:at|ca|pa|ss)_[A-Fa-f0-9]{30,}', // SendGrid, Shopify
  'do[opr]_v1_[a-f0-9]{60,}|hv[sbr]\\.[\\w-]{20,}|glsa_\\w{20,}|dapi[a-f0-9]{32}', // infrastructure
  'PMAK-[\\w-]{20,}|lin_api_\\w{30,}|ATATT3[\\w=-]{20,}|AGE-SECRET-KEY-1[A-Z0-9]{50,}', // others
].join('|')

/** A kind of secret that one expression finds, which `show` replaces. */
const found = (
  mayBeIn: (text: string) => boolean,
  expression: RegExp,
  show: (match: string, ...groups: string[]) => string,
): SecretValue => ({ mayBeIn, redactIn: (text) => text.replaceAll(expression, show) })

/** Replaces the ranges that `rangeOf` finds from matches of the expression. */
function redactFrom(
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

const has = (part: string) => (text: string) => text.includes(part)

const PEM_HEAD = /-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY[A-Z ]{0,10}-----/g
const PEM_FOOT = /-----(?:END[A-Z0-9 ]{0,60}(?:-----)?|$)/y

/** Private keys in PEM, each to its end or to the end of the text. */
function redactPem(text: string): string {
  return redactFrom(text, PEM_HEAD, (head) => {
    const dashes = text.indexOf('-----', head.index + head[0].length)
    PEM_FOOT.lastIndex = dashes === -1 ? text.length : dashes
    const end = PEM_FOOT.lastIndex + (PEM_FOOT.exec(text)?.[0].length ?? 0)
    return [head.index, end]
  })
}

/** Passwords in URLs. A colon and digits after the host are a port. */
const urlPassword = found(
  (text) => text.includes('://') && text.includes('@'),
  /:\/\/([^\s:@/?#"'<>]*):(?!\d{1,5}(?:[/?#\s"'<>,;)\]]|$))[^\s@"'<>]*@?/g,
  (match, user) => (match.endsWith('@') ? `://${user}:${REDACTED}@` : match),
)

const isBasic = (value: string): boolean =>
  /^[\x20-\x7e]*:[\x20-\x7e]*$/.test(Buffer.from(value.slice(0, 1000), 'base64').toString('latin1'))

/** `Bearer` and `Basic`, but not where prose speaks of them: "Basic authentication". */
const scheme = found(
  (text) => /bearer|basic/i.test(text),
  /(?<![A-Za-z0-9])(bearer|basic)(\s{1,4})([\w.~+/=-]{4,})/gi,
  (match, name, space, value) => {
    const isSecret =
      name.toLowerCase() === 'basic'
        ? isBasic(value)
        : value.length >= 24 || (value.length >= 6 && /[\d+/=_~]|[a-z][A-Z]/.test(value))
    return isSecret ? `${name}${space}${REDACTED}` : match
  },
)

const kindOf = (character: string): string =>
  character >= 'a' ? 'a' : character >= 'A' ? 'A' : character >= '0' ? '0' : '+'

/** Whether 40 characters of base64 look random, as names, paths and hexadecimal digests do not. */
function isRandom(text: string): boolean {
  let changes = 0
  const counts: Record<string, number> = { a: 0, A: 0, 0: 0, '+': 0 }
  let last = ''
  for (const character of text) {
    const kind = kindOf(character)
    counts[kind]!++
    if (kind !== last) changes++
    last = kind
  }
  return counts['a']! >= 5 && counts['A']! >= 5 && counts['0']! >= 1 && changes >= 16
}

const PREFIX = new RegExp(PREFIXED, 'g')
const JSON_WEB_TOKEN = /eyJ[\w.-]*/g
const AWS_SECRET = /(?<![A-Za-z0-9+/=_-])[A-Za-z0-9+/]{40}(?![A-Za-z0-9+/=_-])/g

function isToken(text: string): boolean {
  const [header = '', payload = ''] = text.split('.', 2)
  return header.length >= 12 && payload.length >= 2
}

const MIN_RUN = 16
/** Every token has characters besides these two kinds: small letters and slashes, as in paths. */
const PLAIN = 1
const TELLING = 2
/** The kind of each character of tokens and keys, by its code; 0 for other characters. */
const RUN_CHARACTERS = Uint8Array.from({ length: 128 }, (_, code) => {
  const character = String.fromCharCode(code)
  return /[a-z/]/.test(character) ? PLAIN : /[\w+=.~-]/.test(character) ? TELLING : 0
})

/** Redacts characters without white space. Key ids of AWS, `AKIA…`, are not secret. */
function redactRun(run: string): string {
  let shown = run.replaceAll(PREFIX, REDACTED)
  if (shown.includes('eyJ'))
    shown = shown.replaceAll(JSON_WEB_TOKEN, (match) => (isToken(match) ? REDACTED : match))
  if (shown.length < 40) return shown
  return shown.replaceAll(AWS_SECRET, (match) => (isRandom(match) ? REDACTED : match))
}

/** Tokens and keys, which are in runs of at least 16 characters. Prose has few of those. */
function redactRuns(text: string): string {
  let shown = ''
  let at = 0
  let start = 0
  let kinds = 0
  for (let i = 0; i <= text.length; i++) {
    const kind = i < text.length ? (RUN_CHARACTERS[text.charCodeAt(i)] ?? 0) : 0
    kinds |= kind
    if (kind !== 0) continue
    if (i - start >= MIN_RUN && kinds > PLAIN) {
      const run = text.slice(start, i)
      const redacted = redactRun(run)
      if (redacted !== run) {
        shown += text.slice(at, start) + redacted
        at = i
      }
    }
    start = i + 1
    kinds = 0
  }
  return shown + text.slice(at)
}

const SEPARATOR = /(?::=|=>|[:=>](?![:=]|\/\/))\s{0,2}/g
/** Where a value ends, by how it begins. */
const ENDS: Readonly<Record<string, RegExp>> = {
  '"': /(?<!\\)"/g,
  "'": /(?<!\\)'/g,
  '\\"': /\\"/g,
  "\\'": /\\'/g,
  '': /[\s"'&;<>]|\\["']/g,
}
const LINE_END = /[\r\n]/g
const OPENING = /\\?["']|/y
const WORD_BEFORE = /[A-Za-z]{2,20} $/
const KEY_ID = /^A[A-Z]IA[A-Z0-9]{16}$/
/** Parameters of URLs that are secret only there. */
const SIGNED = /^(?:code|sig|signature|x-(?:amz|goog)-signature)$/i

const isHeader = (name: string): boolean => /^(?:.{0,20}authorization|.{0,20}cookie)$/i.test(name)

/** Whether the name before a value is the name of a secret, with the word before it if that matters. */
function isSecretName(text: string, name: string, start: number): boolean {
  const before = text[start - 1]
  if ((before === '?' || before === '&') && SIGNED.test(name)) return true
  if (!isSensitive(name) && !/^keys?$/i.test(name)) return false
  const word = WORD_BEFORE.exec(text.slice(Math.max(0, start - 21), start))?.[0].trim()
  return isSensitive(word === undefined ? name : `${word}_${name}`)
}

const MAX_NAME = 64
/** 1 for the characters of names, by their code. */
const NAME_CHARACTERS = Uint8Array.from({ length: 128 }, (_, code) =>
  Number(/[\w.-]/.test(String.fromCharCode(code))),
)
const QUOTES = '"\'\\'

/** Start and end of the name before a separator: in `password=`, `"apiKey": `, `user[token]=`, `<secret>`. */
function nameBefore(text: string, separator: number): readonly [start: number, end: number] {
  let end = separator
  for (const least = end - 2; end > least && text.charCodeAt(end - 1) <= 0x20;) end--
  for (const least = end - 3; end > least && end > 0 && QUOTES.includes(text[end - 1]!);) end--
  if (text[end - 1] === ']') end--
  else if (text.endsWith('%5D', end)) end -= 3
  let start = end
  while (end - start <= MAX_NAME && NAME_CHARACTERS[text.charCodeAt(start - 1)] === 1) start--
  return [start, end]
}

/** Start and end of the value at this place without its quotes; `undefined` if it is not secret. */
function secretRange(
  text: string,
  at: number,
  name: string,
  separator: string,
): readonly [start: number, end: number] | undefined {
  OPENING.lastIndex = at
  const opening = OPENING.exec(text)![0]
  const start = at + opening.length
  const expression = opening === '' && isHeader(name) ? LINE_END : ENDS[opening]!
  expression.lastIndex = start
  const end = expression.exec(text)?.index ?? text.length
  const value = text.slice(start, end)
  if (value === '' || KEY_ID.test(value)) return undefined
  if (opening !== '') return [start, end]
  // Prose: "password: must be longer".
  if (/^[:>]\s/.test(separator) && /^[A-Za-z]+[,.]?$/.test(value)) return undefined
  // An object is not secret as a whole: the names of its members decide.
  return separator.startsWith(':') && /^[[{]/.test(value) ? undefined : [start, end]
}

/** Values after the name of a secret. */
function redactAssigned(text: string): string {
  return redactFrom(text, SEPARATOR, ({ 0: separator, index }, at) => {
    const [from, to] = nameBefore(text, index)
    if (from < at || to - from < 2 || to - from > MAX_NAME) return undefined
    const name = text.slice(from, to)
    if (!isSecretName(text, name, from)) return undefined
    return secretRange(text, index + separator.length, name, separator)
  })
}

const FLAG = /(?<![\w.-])--([\w-]{2,40}) (?!-)/g

/** Arguments of commands. `--password=…` is an assignment. */
function redactFlags(text: string): string {
  return redactFrom(text, FLAG, ({ 0: flag, 1: name, index }) =>
    isSensitive(name!) ? secretRange(text, index + flag.length, name!, ' ') : undefined,
  )
}

const SECRET_VALUES: readonly SecretValue[] = [
  { mayBeIn: has('PRIVATE KEY'), redactIn: redactPem },
  urlPassword,
  { mayBeIn: (text) => /[:=>]/.test(text), redactIn: redactAssigned },
  { mayBeIn: has('--'), redactIn: redactFlags },
  scheme,
  { mayBeIn: (text) => text.length >= MIN_RUN, redactIn: redactRuns },
]

const MIN_LENGTH = 5

/**
 * The text with the secrets in it that are recognisable replaced by `[redacted]`: private keys in PEM,
 * passwords in URLs, values after the name of a secret (`password=…`, `"token": "…"`), Basic and Bearer
 * credentials, JSON Web Tokens, keys of services with a known prefix, and secret keys of AWS. Takes time
 * in proportion to the length of the text.
 */
export function redactText(text: string): string {
  if (text.length < MIN_LENGTH) return text
  try {
    return SECRET_VALUES.reduce(
      (shown, kind) => (kind.mayBeIn(shown) ? kind.redactIn(shown) : shown),
      text,
    )
  } catch {
    // The expressions have run out of stack, with a text of many megabytes.
    return REDACTED
  }
}
