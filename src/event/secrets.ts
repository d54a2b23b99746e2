import { AuditLogError } from '../errors.js'

/** What of a request's data shows as `[redacted]`, beside what is secret by default. */
export interface RedactOptions {
  /**
   * Keys whose values are secret at any depth. A text is a whole key in any spelling: `cardNumber`
   * means `card_number` and `Card-Number` too; an expression is tested on the key as it stands.
   */
  readonly keys?: readonly (string | RegExp)[]
  /**
   * Places, from the event's attribute on, joined by dots; `*` is any one key or index:
   * `request_body.items.*.note`, `url_params.id`.
   */
  readonly paths?: readonly string[]
  /** Keys that are no secret, though the defaults or `keys` say so: `token_count`. */
  readonly except?: readonly string[]
}

/** True where the value that these keys lead to is secret, by the last of them or by the place. */
export type IsSecret = (path: readonly string[]) => boolean

// Of a key's letters: `apiKey`, `api-key` and `API_KEY` are one.
const PARTS =
  /passw(?:or)?d|passphrase|passcode|secret|token|authorization|cookie|credential|bearer|sessionid|(?:api|private|access|signing|encryption|ssh)key|^pass$/
// Too short to be looked for within words: `shipping`, `opinion`.
const WORDS = /(?:^|[^a-z])(?:pin|otp|totp|cvv|cvc|pwd|jwt)(?:[^a-z]|$)/

/** True for keys that are called as passwords, tokens, keys and codes of access usually are. */
export function isSensitive(key: string): boolean {
  // As the indexes of lists, of which there are many.
  if (!/[a-z]/i.test(key)) return false
  const words = key.replaceAll(/([a-z\d])([A-Z])/g, '$1_$2').toLowerCase()
  return PARTS.test(words.replaceAll(/[^a-z]/g, '')) || WORDS.test(words)
}

/** The key in one spelling. */
const plain = (key: string): string => key.toLowerCase().replaceAll(/[^\p{L}\p{N}]/gu, '')

/** A sticky or global expression would remember where it was. */
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

/** Throws `INVALID_OPTION` for what cannot be keys or paths. */
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
