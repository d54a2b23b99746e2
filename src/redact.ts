const SENSITIVE =
  /password|passwd|passphrase|secret|token|authorization|cookie|apikey|privatekey|accesskey|credential/

const REDACTED = '[redacted]'

// Deeper structures are cut by the core anyway; this only keeps the walk finite.
const MAX_DEPTH = 64

const isSensitive = (key: string): boolean =>
  SENSITIVE.test(key.toLowerCase().replaceAll(/[^a-z]/g, ''))

/**
 * A copy of a request's data in which the value of every key that names a password, a token, a
 * secret, a cookie or the like, at any depth, is the text `[redacted]`.
 */
export function redact(value: unknown, depth = 0): unknown {
  if (value === null || typeof value !== 'object') return value
  if (depth > MAX_DEPTH) return null
  if (Array.isArray(value)) return value.map((element: unknown) => redact(element, depth + 1))
  return Object.fromEntries(
    Object.entries(value as Record<string, unknown>).map(([key, member]) => [
      key,
      isSensitive(key) ? REDACTED : redact(member, depth + 1),
    ]),
  )
}
