import type { Microseconds } from '../event/timestamp.js'

/*
 * A lease is the right of one process, its holder, to do some work until a time of the store's clock. The holder renews it. Another
 * process takes it once it has ended.
 */

/**
 * False once the lease has ended. Also false if it ends later than its full duration from now: it was taken before the clock was
 * set back.
 */
export const isCurrent = (
  until: Microseconds,
  now: Microseconds,
  duration: Microseconds,
): boolean => until > now && until <= now + duration
