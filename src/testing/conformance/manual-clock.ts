import { AuditLogError } from '../../errors.js'
import { type Clock, type Microseconds, parseTimestamp } from '../../event/timestamp.js'

/** A clock that moves only through `advance` and `jump`. */
export interface ManualClock extends Clock {
  /** Moves the clock by this many microseconds, backwards if negative. */
  advance(microseconds: Microseconds): void
  /** Sets the clock ahead by this many microseconds, although no time passes. */
  jump(microseconds: Microseconds): void
}

/**
 * Returns a clock for the `clock` option of a store, for tests. It starts at `start`, an ISO 8601 time. Throws
 * `INVALID_OPTION` for another text.
 */
export function manualClock(start = '2026-01-01T00:00:00.000000Z'): ManualClock {
  const time = parseTimestamp(start)
  if (time === undefined)
    throw new AuditLogError('INVALID_OPTION', `${start} is not an ISO 8601 timestamp`)
  let now: Microseconds = time
  let passed: Microseconds = 0
  return Object.assign(() => now, {
    advance(microseconds: Microseconds) {
      now += microseconds
      // Time does not run backwards when a clock is set back.
      passed += Math.max(0, microseconds)
    },
    jump(microseconds: Microseconds) {
      now += microseconds
    },
    monotonic: () => passed / 1000,
  })
}
