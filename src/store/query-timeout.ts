import { MAX_TIMER_MS } from '../async/timers.js'
import { AuditLogError } from '../errors.js'
import type { OptionNames } from '../options.js'

/** An option of every store. */
export interface QueryTimeoutOptions {
  /**
   * Time limit of one list, or of one page of `pages` or of an export, in milliseconds. A query that exceeds the
   * limit rejects with `QUERY_TIMEOUT`. At this time at the latest, a count stops and scales its sample. @default
   * 10000
   */
  readonly queryTimeoutMs?: number
}

export const QUERY_TIMEOUT_OPTIONS: OptionNames<QueryTimeoutOptions> = { queryTimeoutMs: true }

/** The time limit with its default. Throws `INVALID_OPTION`. */
export function readQueryTimeout({ queryTimeoutMs = 10_000 }: QueryTimeoutOptions): number {
  if (Number.isInteger(queryTimeoutMs) && queryTimeoutMs >= 1 && queryTimeoutMs <= MAX_TIMER_MS)
    return queryTimeoutMs
  throw new AuditLogError(
    'INVALID_OPTION',
    `queryTimeoutMs must be a whole number from 1 to ${MAX_TIMER_MS}; it is ${String(queryTimeoutMs)}`,
  )
}
