import type { Microseconds } from '../event/timestamp.js'

/*
 * A lease is the right of one process, its holder, to do some work until a time of the store's clock. The holder
 * renews the lease. When it has ended, another process can take it.
 */

/**
 * False once the lease has ended. Also false if the lease ends later than twice its full duration from now, because then
 * the clock was set back. If it was set back by less, the lease lasts longer, and no other process takes it too.
 */
export const isCurrent = (
  until: Microseconds,
  now: Microseconds,
  duration: Microseconds,
): boolean => until > now && until <= now + 2 * duration
