import { NEWEST, parseToken } from '../../store/consistency-token.js'
import { HttpProblem } from '../problem.js'

export const CONSISTENCY_TOKEN = 'consistency-token'

/**
 * The token of the `Consistency-Token` header; `undefined` if it was not sent. Throws `INVALID_HEADER`. For a restricted
 * reader it is that of the newest state: a refusal, and a replica that is passed over, would say up to which time the log
 * has events.
 */
export function readConsistencyToken(value: string, isRestricted: boolean): string | undefined {
  if (value === '') return undefined
  if (parseToken(value)) return isRestricted ? NEWEST : value
  throw new HttpProblem(
    'INVALID_HEADER',
    `Consistency-Token must be that of an earlier response, or the created_at of an event; it is ${JSON.stringify(value)}`,
    { header: CONSISTENCY_TOKEN },
  )
}
