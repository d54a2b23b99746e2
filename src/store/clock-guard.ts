import { AuditLogError } from '../errors.js'
import { type Clock, DAY, type Microseconds } from '../event/timestamp.js'

/** A reading of the clock that is far from the expected time. */
export interface ClockDoubt {
  /**
   * `jump`: the clock went ahead by much more than the elapsed time; new events do not follow it yet. `start`: the
   * clock is far from the newest event of the log; new events follow it.
   */
  readonly reason: 'jump' | 'start'
  readonly clock: Microseconds
  /** The last trusted reading plus the time since. At a start, the high-water mark. */
  readonly expected: Microseconds
}

/** Largest jump ahead, or distance from the newest event at a start, that raises no doubt. */
export const MAX_JUMP: Microseconds = 30 * DAY
/** A jump that has lasted for this long, in milliseconds, is accepted. */
export const ACCEPTED_AFTER_MS = 600_000

/**
 * Decides which readings of a clock become times of events. Every new event is later than the high-water mark, so one
 * reading that is far ahead would shift the times of all later events.
 */
export interface ClockGuard {
  /**
   * Converts a reading to the time of events. Returns the reading itself, or while it is in doubt, the last trusted
   * reading plus the elapsed time.
   */
  judge(reading: Microseconds): Microseconds
  /** The time to use while the clock is in doubt; `undefined` if it is trusted. */
  doubted(): Microseconds | undefined
  /** Difference by which the last reading is ahead of the used time; 0 if it is trusted. */
  ahead(): Microseconds
  /** Compares the first reading with the high-water mark of the log, once; 0 for a log without events. */
  begin(highWater: Microseconds): void
  /** The high-water mark at the start; `undefined` until it is known. */
  atStart(): Microseconds | undefined
  /** Trusts the next reading. */
  accept(): void
  /**
   * Calls `handler` for each doubt, and for a doubt that arose before the first handler was added.
   * Returns a function that removes the handler.
   */
  watch(handler: (doubt: ClockDoubt) => void): () => void
}

/** Creates a guard. `monotonic` is as in {@link Clock}; without it every reading is trusted. */
export function createClockGuard(monotonic: Clock['monotonic']): ClockGuard {
  const handlers = new Set<(doubt: ClockDoubt) => void>()
  let unreported: ClockDoubt | undefined
  let highWater = 0
  let atStart: Microseconds | undefined
  /** The last trusted reading, and when it was read. */
  let trusted: Microseconds | undefined
  let trustedAt = 0
  /** Time at which the jump of the clock was noticed. */
  let doubtedSince: number | undefined
  let ahead: Microseconds = 0

  const report = (doubt: ClockDoubt): void => {
    if (handlers.size === 0) unreported = doubt
    for (const handler of handlers) handler(doubt)
  }
  const expectedAt = (at: number): Microseconds =>
    trusted! + Math.max(0, Math.floor((at - trustedAt) * 1000))

  const compareStart = (reading: Microseconds): void => {
    const expected = highWater
    highWater = 0
    if (expected > 0 && Math.abs(reading - expected) > MAX_JUMP)
      report({ reason: 'start', clock: reading, expected })
  }

  return {
    judge(reading) {
      if (!monotonic) return reading
      const at = monotonic()
      if (highWater > 0) compareStart(reading)
      if (trusted !== undefined && reading - expectedAt(at) > MAX_JUMP) {
        const expected = expectedAt(at)
        if (doubtedSince === undefined) {
          doubtedSince = at
          report({ reason: 'jump', clock: reading, expected })
        }
        ahead = reading - expected
        if (at - doubtedSince < ACCEPTED_AFTER_MS) return expected
      }
      doubtedSince = undefined
      ahead = 0
      trusted = reading
      trustedAt = at
      return reading
    },
    doubted: () => (doubtedSince === undefined ? undefined : expectedAt(monotonic!())),
    ahead: () => ahead,
    begin(time) {
      highWater = time
      atStart = time
    },
    atStart: () => atStart,
    accept() {
      highWater = 0
      doubtedSince = undefined
      ahead = 0
      trusted = undefined
    },
    watch(handler) {
      handlers.add(handler)
      const doubt = unreported
      unreported = undefined
      if (doubt) handler(doubt)
      return () => handlers.delete(handler)
    },
  }
}

/** Throws `INVALID_OPTION` for a reading that no event could have as its time. */
function readClock(clock: Clock): Microseconds {
  const reading = Math.floor(clock())
  if (reading >= 0 && Number.isSafeInteger(reading)) return reading
  const message = `the clock returned ${reading}; it must return whole microseconds since 1970`
  throw new AuditLogError('INVALID_OPTION', message)
}

/** The clock, with readings that are in doubt replaced. */
export const guardedClock = (clock: Clock, guard: ClockGuard): Clock =>
  Object.assign(() => guard.judge(readClock(clock)), {
    monotonic: clock.monotonic,
    ahead: () => guard.ahead(),
  })
