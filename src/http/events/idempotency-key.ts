import { idempotencyKeyFault } from '../../recording/idempotency-key.js'
import { HttpProblem } from '../problem.js'

const QUOTED = /^"((?:[^"\\]|\\["\\])*)"$/

/**
 * The key that the header `Idempotency-Key` names; `undefined` where it was not sent. It is a string as
 * structured fields have it (draft-ietf-httpapi-idempotency-key-header; RFC 9651, section 3.3.3), or
 * the key as it is. Throws `INVALID_HEADER` where it is no key.
 */
export function readIdempotencyKey(value: string): string | undefined {
  if (value === '') return undefined
  const quoted = QUOTED.exec(value)?.[1]
  const key = quoted?.replaceAll(/\\(["\\])/g, '$1') ?? value
  const isHalfQuoted = quoted === undefined && value.startsWith('"')
  const fault = isHalfQuoted ? 'must end with a quote as it begins' : idempotencyKeyFault(key)
  if (fault === undefined) return key
  throw new HttpProblem('INVALID_HEADER', `Idempotency-Key ${fault}`, { header: 'idempotency-key' })
}
