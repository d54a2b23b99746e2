import { AuditLogError } from '../errors.js'

const KEY = /^[\x21-\x7e]{1,255}$/

/** What is wrong with an idempotency key; `undefined` where it can be used. */
export function idempotencyKeyFault(key: unknown): string | undefined {
  const isKey = typeof key === 'string' && KEY.test(key)
  return isKey ? undefined : 'must have 1 to 255 visible ASCII characters'
}

/** Throws `INVALID_OPTION` for a key that cannot be used, or not with what else is given. */
export function checkIdempotencyKey(key: unknown, transaction: object | undefined): void {
  const fault =
    transaction === undefined
      ? idempotencyKeyFault(key)
      : 'cannot be given together with transaction'
  if (fault) throw new AuditLogError('INVALID_OPTION', `idempotencyKey ${fault}`)
}
