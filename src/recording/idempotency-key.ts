import { AuditLogError } from '../errors.js'

const KEY = /^[\x21-\x7e]{1,255}$/

/** Why the idempotency key is invalid; `undefined` if it is valid. */
export function idempotencyKeyFault(key: unknown): string | undefined {
  const isKey = typeof key === 'string' && KEY.test(key)
  return isKey ? undefined : 'must have 1 to 255 visible ASCII characters'
}

/** Throws `INVALID_OPTION` for an invalid key, and for a key together with a transaction. */
export function checkIdempotencyKey(key: unknown, transaction: object | undefined): void {
  const fault =
    transaction === undefined
      ? idempotencyKeyFault(key)
      : 'cannot be given together with transaction'
  if (fault) throw new AuditLogError('INVALID_OPTION', `idempotencyKey ${fault}`)
}
