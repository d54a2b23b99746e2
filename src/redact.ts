const SENSITIVE =
  /password|passwd|passphrase|secret|token|authorization|cookie|apikey|privatekey|accesskey|credential/

const REDACTED = '[redacted]'

const isSensitive = (key: string): boolean =>
  SENSITIVE.test(key.toLowerCase().replaceAll(/[^a-z]/g, ''))

function isPlain(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value)
  return prototype === Object.prototype || prototype === null
}

/**
 * A copy of a request's data in which the value of every key that names a password, a token, a
 * secret, a cookie or the like, at any depth, is the text `[redacted]`. Objects that are more than
 * data, such as dates, stay as they are.
 */
export function redact(value: unknown, copies = new Map<object, unknown>()): unknown {
  if (value === null || typeof value !== 'object') return value
  if (!Array.isArray(value) && !isPlain(value)) return value
  // An object met again has the same copy; within itself, where there is none yet, it is null.
  const known = copies.get(value)
  if (known !== undefined) return known
  copies.set(value, null)
  const copy = Array.isArray(value)
    ? value.map((element: unknown) => redact(element, copies))
    : redactMembers(value, copies)
  copies.set(value, copy)
  return copy
}

/** As {@link redact}, for a value whose keys, those that lead to it, are these. */
export function redactAt(path: readonly string[], value: unknown): unknown {
  return path.some(isSensitive) ? REDACTED : redact(value)
}

function redactMembers(value: object, copies: Map<object, unknown>): object {
  const copy = Object.create(null) as Record<string, unknown>
  for (const [key, member] of Object.entries(value) as [string, unknown][])
    copy[key] = isSensitive(key) ? REDACTED : redact(member, copies)
  return copy
}
