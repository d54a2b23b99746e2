import { AuditLogError } from '../../errors.js'
import { readToken } from '../../store/consistency-token.js'
import { HttpProblem } from '../problem.js'

export const CONSISTENCY_TOKEN = 'consistency-token'

/** The token of the `Consistency-Token` header; `undefined` if it was not sent. Throws `INVALID_HEADER`. */
export function readConsistencyToken(value: string): string | undefined {
  if (value === '') return undefined
  try {
    readToken(value)
    return value
  } catch (error) {
    if (!(error instanceof AuditLogError)) throw error
    throw new HttpProblem(
      'INVALID_HEADER',
      `Consistency-Token must be that of an earlier response, or the created_at of an event; it is ${JSON.stringify(value)}`,
      { header: CONSISTENCY_TOKEN },
    )
  }
}
