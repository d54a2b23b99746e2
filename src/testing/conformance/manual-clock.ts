import { AuditLogError } from '../../errors.js'
import { type Clock, type Microseconds, parseTimestamp } from '../../event/timestamp.js'

/** A clock that stands still until it is moved. */
export interface ManualClock extends Clock {
  /** Moves it by so many microseconds; backwards where negative. */
  advance(microseconds: Microseconds): void
}

/** For tests: a clock for a store's `clock` option, set to an ISO 8601 time. */
export function manualClock(start = '2026-01-01T00:00:00.000000Z'): ManualClock {
  const time = parseTimestamp(start)
  if (time === undefined)
    throw new AuditLogError('INVALID_OPTION', `${start} is not an ISO 8601 timestamp`)
  let now: Microseconds = time
  return Object.assign(() => now, {
    advance(microseconds: Microseconds) {
      now += microseconds
    },
  })
}
