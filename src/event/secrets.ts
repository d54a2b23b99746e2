import { AuditLogError } from '../errors.js'

/** Which parts of a request's data become `[redacted]`, in addition to the defaults. */
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
  /** Keys that are not secret although they match the defaults or `keys`, such as `token_count`. */
  readonly except?: readonly string[]
}

/** True if the value at this path is secret, by its last key or by the whole path. */
export type IsSecret = (path: readonly string[]) => boolean

// Tests only the letters of a key, so `apiKey`, `api-key` and `API_KEY` are the same.
const PARTS =
  /passw(?:or)?d|passphrase|passcode|secret|token|authorization|cookie|credential|bearer|sessionid|(?:api|private|access|signing|encryption|ssh)key|^pass$/
// Tested on whole words, because longer words contain them: `shipping`, `opinion`.
const WORDS = /(?:^|[^a-z])(?:pin|otp|totp|cvv|cvc|pwd|jwt)(?:[^a-z]|$)/

/** True for keys with the usual names of passwords, tokens, keys and access codes. */
export function isSensitive(key: string): boolean {
  // Most such keys are indexes of lists.
  if (!/[a-z]/i.test(key)) return false
  const words = key.replaceAll(/([a-z\d])([A-Z])/g, '$1_$2').toLowerCase()
  return PARTS.test(words.replaceAll(/[^a-z]/g, '')) || WORDS.test(words)
}

/** The normal spelling of a key. */
const plain = (key: string): string => key.toLowerCase().replaceAll(/[^\p{L}\p{N}]/gu, '')

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

/** The test for secrets. Throws `INVALID_OPTION` for values that are not keys or paths. */
export function secretsOf(options: RedactOptions = {}): IsSecret {
  const { keys = [], paths = [], except = [] } = options
  checkList('keys', keys, (key) => isKey(key) || key instanceof RegExp, 'keys and expressions')
  checkList('paths', paths, isPath, 'keys joined by dots, such as request_body.card.number')
  checkList('except', except, isKey, 'keys')
  const names = new Set(keys.filter((key) => typeof key === 'string').map(plain))
  const expressions = keys.filter((key) => key instanceof RegExp).map(stateless)
  const exceptions = new Set(except.map(plain))
  const places = paths.map((path) => path.split('.'))

  const isSecretKey = (key: string): boolean =>
    (isSensitive(key) ||
      (names.size > 0 && names.has(plain(key))) ||
      expressions.some((expression) => expression.test(key))) &&
    !(exceptions.size > 0 && exceptions.has(plain(key)))

  return (path) =>
    isSecretKey(path.at(-1) ?? '') ||
    places.some(
      (place) =>
        place.length === path.length && place.every((key, i) => key === '*' || key === path[i]),
    )
}
