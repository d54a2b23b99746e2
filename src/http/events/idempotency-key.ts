import { idempotencyKeyFault } from '../../recording/idempotency.js'
import { HttpProblem } from '../problem.js'

const QUOTED = /^"((?:[^"\\]|\\["\\])*)"$/

/**
 * The key of the `Idempotency-Key` header; `undefined` if it was not sent. It is a quoted string as in
 * structured fields (draft-ietf-httpapi-idempotency-key-header; RFC 9651, section 3.3.3), or the bare key.
 * Throws `INVALID_HEADER` for an invalid key.
 */
export function readIdempotencyKey(value: string): string | undefined {
  if (value === '') return undefined
  const quoted = QUOTED.exec(value)?.[1]
  const key = quoted?.replaceAll(/\\(["\\])/g, '$1') ?? value
  const isHalfQuoted = quoted === undefined && value.startsWith('"')
  const fault = isHalfQuoted
    ? 'starts with a quote but does not end with one'
    : idempotencyKeyFault(key)
  if (fault === undefined) return key
  throw new HttpProblem('INVALID_HEADER', `Idempotency-Key ${fault}`, { header: 'idempotency-key' })
}
