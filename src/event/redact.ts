import { copyWithin, type RedactedCopy } from './redacted-copy.js'
import { type IsSecret, isSensitive, REDACTED } from './secrets.js'

/**
 * Copies the value at a path with secrets replaced by `[redacted]`, by key, by place or because a text
 * contains a secret that is recognisable (see `redactText`), in at most `maxBytes` bytes of JSON
 * text. If it is larger, long texts are cut and the last members are left out; each member takes at
 * most half of the bytes that remain after the members before it. Bytes, files and streams are
 * replaced by a description. Cycles, unreadable values and values that are too deep become null. Never throws.
 */
export function redactWithin(
  value: unknown,
  path: readonly string[],
  isSecret: IsSecret,
  maxBytes: number,
): RedactedCopy {
  const whole = copyWithin(value, maxBytes, { path, isSecret, isFair: false })
  return whole.isCut ? copyWithin(value, maxBytes, { path, isSecret, isFair: true }) : whole
}

const isSecretByDefault: IsSecret = (path) => isSensitive(path.at(-1) ?? '')

/**
 * A copy in which the value of every key that names a password, token, secret, cookie or the like, at
 * any depth, and every secret that is recognisable in a text is `[redacted]`. Without `maxBytes` the value should be a tree, because an object in two
 * places is copied twice.
 */
export function redact(value: unknown, maxBytes = Infinity): unknown {
  return redactWithin(value, [], isSecretByDefault, maxBytes).copy
}

/** Like {@link redact}, for the value at a path of keys. */
export function redactAt(path: readonly string[], value: unknown): unknown {
  return path.some(isSensitive) ? REDACTED : redact(value)
}
