import { AuditLogError } from '../errors.js'
import {
  LATIN_ENDINGS,
  LATIN_PARTS,
  LATIN_WORDS,
  NO_PASSWORDS,
  OTHER_SCRIPTS,
} from './password-words.js'
import { isRegExp } from './realm.js'

export const REDACTED = '[redacted]'

/** Which parts of a client's data become `[redacted]`, in addition to the defaults. */
export interface RedactOptions {
  /**
   * Keys whose values are secret at any depth. A text matches the whole key in any spelling:
   * `cardNumber` also matches `card_number` and `Card-Number`. A regular expression is tested on the
   * key as it is.
   */
  readonly keys?: readonly (string | RegExp)[]
  /**
   * Paths that start with an event's attribute, joined by dots. `*` matches any one key or index:
   * `request_body.items.*.note`, `url_params.id`.
   */
  readonly paths?: readonly string[]
  /** Keys that are not secret although they match the defaults or `keys`, such as `code`. */
  readonly except?: readonly string[]
}

/** The names of the options. */
export const REDACT_OPTIONS = {
  keys: true,
  paths: true,
  except: true,
} as const satisfies Readonly<Record<keyof RedactOptions, true>>

/**
 * True if the value at this path is secret, by its last key or by the whole path. `holder` is the object
 * that has it.
 */
export type IsSecret = (path: readonly string[], holder?: object) => boolean

const allOf = (words: Readonly<Record<string, string>>): string => Object.values(words).join('|')

const ACCENTS = /[\u0300-\u036f]/g
/** Letters with an accent that cannot be separated from them, and the letters without it. */
const [BARRED, PLAIN_LETTERS] = ['łŁøØđĐðÐı', 'lLoOdDdDi']
const BARRED_LETTER = new RegExp(`[${BARRED}]`, 'g')

/** A key without accents, whether they are code points of their own or not, and with letters of the usual width. */
const foldKey = (key: string): string =>
  key
    .normalize('NFKD')
    .replaceAll(ACCENTS, '')
    .replaceAll(BARRED_LETTER, (letter) => PLAIN_LETTERS[BARRED.indexOf(letter)]!)

/** The word as it is, with a capital, and in upper case. Databases do not know the case of all letters. */
const inAnyCase = (word: string): readonly string[] => [
  ...new Set([word, word[0]!.toUpperCase() + word.slice(1), word.toUpperCase()]),
]

/** The expression in ASCII, because the encoding of a database may lack other characters. */
const escaped = (pattern: string): string =>
  pattern.replaceAll(
    /[^ -~]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )

const SCRIPTS = new RegExp(
  escaped(Object.values(OTHER_SCRIPTS).flat().map(foldKey).flatMap(inAnyCase).join('|')),
)
/**
 * Characters that are removed before keys are tested for words in other scripts. U+200C stands between words of
 * Persian.
 */
const JOINS = /[ _.:\u200c-]/g

// Tested on the letters of a key alone, so `apiKey`, `api-key` and `API_KEY` are the same.
const PARTS = new RegExp(
  [
    'passw(?:or)?d(?!less)|passphrase|passcode|passkey|secret(?!ar[iy])|token(?!i[sz])|authorization|cookie|credential|bearer',
    'sessionid|samlresponse|clientassertion|samlassertion|verifier|magiclink',
    '(?:api|private|access|signing|encryption|ssh|session|storage|account|master|recovery|auth)key',
    '(?:auth|authorization|authentication|recovery|backup|verification|confirmation|security)codes?',
    '(?:access|reset|login|signin|activation|device|user|mfa|tfa|sms|onetime|unlock)codes?',
    '(?:security|secret)answers?|(?:seed|recovery)(?:phrase|words)|mnemonic|keystore',
    'connectionstr(?:ing)?|connstr|(?:database|db|redis|mongo(?:db)?|postgres|amqp)ur[il]',
    '(?:card|creditcard|cc)(?:number|num|no)|cardcode|creditcard|htpasswd|(?:store|key)pass$',
    allOf(LATIN_PARTS),
  ].join('|'),
)
// Tested on whole words, because longer words contain them: `shipping`, `opinion`.
const WORDS = new RegExp(
  [
    `(?:^|[^a-z\\d])(?:pin|otp|totp|hotp|puk|cvv|cvc|ccv|pwd|jwt|ssn|csrf|xsrf|2fa_?code|pkcs12|${allOf(LATIN_WORDS)})\\d*(?:[^a-z\\d]|$)`,
    `(?:${allOf(LATIN_ENDINGS)})(?:_|$)`,
    '(?:^|_)(?:db|database|mysql|maria(?:db)?|pg|postgres|sql|redis|mongo|smtp|imap|mail|email|s?ftp|ssh|ldap|ad|root|admin|user|login|auth|http|proxy|app|web|wifi|my|new|old)_?(?:pass|pw)\\d*$',
  ].join('|'),
)
// Tested on the whole key, because the names of other things end with them: `SubjectUserSid`.
const WHOLE = new Set(
  (
    'sid connectsid phpsessid sessid koasess expresssess laravelsession railssession gitlabsession ' +
    'usersession pw pass dsn sentrydsn databasedsn iban auth assertion salt passwordsalt'
  ).split(' '),
)
// Names of facts about a secret, which do not reveal it.
const DESCRIBES =
  /(?:^|_)(?:types?|counts?|length|len|name|at|on|date|time|age|expiry|expires(?:_in)?|expiration|ttl|policy|status|enabled|required|changed|last_set|format|alg|algorithm|version|arn|limit|endpoint)$|(?:key|token|credential)s?_?ids?$/
// Positions in a list, amounts of text and properties of a Windows process are called tokens too.
const NOT_TOKENS =
  /(?:^|_)(?:next|page|continuation|pagination|sync|elevated|public_key|(?:max|total|prompt|completion|input|output)(?=_?tokens))_?tokens?$|terminal_?session_?id$/

const NOT = [DESCRIBES, NOT_TOKENS, new RegExp(NO_PASSWORDS)]

/** The normal spelling of a key. */
const plain = (key: string): string => key.toLowerCase().replaceAll(/[^\p{L}\p{N}]/gu, '')

function isSensitiveKey(key: string): boolean {
  const isAscii = /^[\0-\x7f]*$/.test(key)
  const folded = isAscii ? key : foldKey(key)
  const words = folded
    .replaceAll(/([a-z\d])([A-Z])/g, '$1_$2')
    .toLowerCase()
    .replaceAll(/[^a-z\d]/g, '_')
  const named =
    PARTS.test(words.replaceAll(/[^a-z]/g, '')) ||
    WORDS.test(words) ||
    WHOLE.has(words.replaceAll('_', '')) ||
    (!isAscii && SCRIPTS.test(folded.replaceAll(JOINS, '')))
  return named && !NOT.some((pattern) => pattern.test(words))
}

/**
 * The expressions of {@link isSensitive}, for stores that test keys in SQL, on keys without accents: `letters` on the letters of a
 * key, `words` on its words joined by `_`, `whole` on its letters and digits, `scripts` on the key without what
 * `joins` matches. Keys whose words match `not` are not secret. To remove accents, normalize to NFKD, remove what `accents`
 * matches, and translate the first text of `barred` into the second.
 */
export const SENSITIVE_KEYS = {
  letters: PARTS.source,
  words: WORDS.source,
  whole: [...WHOLE],
  not: NOT.map(({ source }) => source),
  scripts: SCRIPTS.source,
  joins: JOINS.source,
  accents: ACCENTS.source,
  barred: [BARRED, PLAIN_LETTERS],
} as const

/*
 * Objects that have a key and its value as members: `{ name: 'password', value: '…' }`. Other objects also have
 * members such as `type`, so fewer pairs begin with these.
 */
const NAMES =
  'name|key|field|header|label|param(?:eter)?|attr(?:ibute)?|prop(?:erty)?|var(?:iable)?|column|option|setting'
const member = (names: string): RegExp => new RegExp(`^(?:[a-z]{0,20}[_-]?)?(?:${names})$`, 'i')

/** Which members hold the value, by the member that has the key. */
export const PAIRS = [
  { names: member(`${NAMES}|k|id|type|code|path|pointer`), values: member('values?|val|v') },
  { names: member(NAMES), values: member('contents?') },
  {
    names: member('key|field|column|attr(?:ibute)?|prop(?:erty)?'),
    values: member('from|to|before|after|old|new|was|previous|current'),
  },
] as const

/** Keys that each of the maps below remembers. Clients choose keys, so their number is bounded. */
const MAX_VERDICTS = 2000
const MAX_PAIRED_KEY = 40
const roles = new Map<string, number>()

/**
 * The part of a member in {@link PAIRS}: bit `i` is set if it may have the key of pair `i`, bit `i + PAIRS.length` if it may have the
 * value. Takes a look-up, as most objects have the same members.
 */
export function pairRole(key: string): number {
  if (key.length > MAX_PAIRED_KEY) return 0
  let role = roles.get(key)
  if (role === undefined) {
    role = 0
    for (const [i, { names, values }] of PAIRS.entries()) {
      if (names.test(key)) role |= 1 << i
      if (values.test(key)) role |= 1 << (i + PAIRS.length)
    }
    if (roles.size >= MAX_VERDICTS) roles.clear()
    roles.set(key, role)
  }
  return role
}

// The same keys come with most requests.
const verdicts = new Map<string, boolean>()
const MAX_VERDICT_KEY = 64

/** True for keys with the usual names of passwords, tokens, keys, session ids and one-time codes. */
export function isSensitive(key: string): boolean {
  // Most such keys are indexes of lists.
  if (!/[a-z]|[^\0-\x7f]/i.test(key)) return false
  if (key.length > MAX_VERDICT_KEY) return isSensitiveKey(key)
  let verdict = verdicts.get(key)
  if (verdict === undefined) {
    verdict = isSensitiveKey(key)
    if (verdicts.size >= MAX_VERDICTS) verdicts.clear()
    verdicts.set(key, verdict)
  }
  return verdict
}

/** Keys beside `code` that make it the code of a thing, such as a project or an error. */
const CODED = ['name', 'node_type', 'title', 'message', 'detail']

/** True for `code` in an object that may be a sign-in. */
const isSignInCode = (key: string, holder?: object): boolean =>
  key.length === 4 &&
  key.toLowerCase() === 'code' &&
  holder !== undefined &&
  !CODED.some((name) => name in holder)

/** Removes the flags with which an expression keeps state between tests. */
const stateless = ({ source, flags }: RegExp): RegExp =>
  new RegExp(source, flags.replaceAll(/[gy]/g, ''))

function checkList(
  name: string,
  list: unknown,
  isAllowed: (entry: unknown) => boolean,
  allowed: string,
): void {
  if (list === undefined || (Array.isArray(list) && list.every(isAllowed))) return
  throw new AuditLogError('INVALID_OPTION', `redact.${name} must be a list of ${allowed}`)
}

const isKey = (entry: unknown): boolean => typeof entry === 'string' && plain(entry) !== ''

const isPath = (entry: unknown): boolean =>
  typeof entry === 'string' && entry.split('.').every((part) => part !== '')

/** Of the attributes of a request's event, only the body may have the code of a sign-in. */
const isBody = ([attribute]: readonly string[]): boolean => attribute === 'request_body'

/**
 * The test for secrets. `isSent` returns true for paths of data that a client sent, where `code` may be
 * secret. Throws `INVALID_OPTION` for values that are not keys or paths.
 */
export function secretsOf(options: RedactOptions = {}, isSent: IsSecret = isBody): IsSecret {
  const { keys = [], paths = [], except = [] } = options
  checkList('keys', keys, (key) => isKey(key) || isRegExp(key), 'keys and expressions')
  checkList('paths', paths, isPath, 'keys joined by dots, such as request_body.card.number')
  checkList('except', except, isKey, 'keys')
  const names = new Set(keys.filter((key) => typeof key === 'string').map(plain))
  const expressions = keys.filter((key) => isRegExp(key)).map(stateless)
  const exceptions = new Set(except.map(plain))
  const places = paths.map((path) => path.split('.'))

  const isSecretKey = (path: readonly string[], holder?: object, key = path.at(-1)!): boolean =>
    (isSensitive(key) ||
      (isSignInCode(key, holder) && isSent(path)) ||
      (names.size > 0 && names.has(plain(key))) ||
      expressions.some((expression) => expression.test(key))) &&
    !(exceptions.size > 0 && exceptions.has(plain(key)))

  return (path, holder) =>
    (path.length > 0 && isSecretKey(path, holder)) ||
    places.some(
      (place) =>
        place.length === path.length && place.every((key, i) => key === '*' || key === path[i]),
    )
}
