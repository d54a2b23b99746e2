import type { DraftThrottle, EventDraft } from '../../src/event/event.js'
import type { SuppressedCount, SuppressedReport } from '../../src/store/store.js'
import {
  closedPeriod,
  isUnclaimed,
  type ThrottleState,
  withSuppressed,
} from '../../src/store/throttle-state.js'
import { DAY, type Microseconds } from '../../src/event/timestamp.js'

interface Throttle extends ThrottleState {
  readonly type: string
  readonly scope: DraftThrottle['scope']
  readonly period: Microseconds
}

/** Which throttles are closed, and what they have held back. */
export interface Throttles {
  /** For how long the draft is held back; 0 where it may be kept. */
  opensIn(draft: EventDraft, now: Microseconds): Microseconds
  /** Notes that the draft is kept; gives it with what was held back before. */
  close(draft: EventDraft, keptAt: Microseconds): EventDraft
  /** Adds the report's counts, unless they have come already. */
  report(report: SuppressedReport, now: Microseconds): void
  /** What no event will tell of, at most so many. */
  unclaimed(now: Microseconds, most: number): readonly SuppressedCount[]
  /** Takes these counts away: they have been told. */
  clear(counts: readonly SuppressedCount[]): void
  /** Lets go of what means nothing any more. */
  prune(now: Microseconds): void
}

const NOTHING = { count: 0, first: undefined, last: undefined } as const

export function createThrottles(): Throttles {
  const throttles = new Map<string, Throttle>()
  const reporters = new Map<string, { readonly number: number; readonly reportedAt: number }>()

  return {
    opensIn({ throttle }, now) {
      const state = throttle && throttles.get(throttle.key)
      if (!state) return 0
      const { opensIn, keptAt } = closedPeriod(state.keptAt, throttle.period, now)
      throttles.set(throttle.key, { ...state, keptAt })
      return opensIn
    },

    close(draft, keptAt) {
      if (!draft.throttle) return draft
      const { key, scope, period } = draft.throttle
      const before = throttles.get(key) ?? NOTHING
      throttles.set(key, { ...NOTHING, keptAt, type: draft.type, scope, period })
      return withSuppressed(draft, before)
    },

    report({ reporter, number, counts }, now) {
      if (number <= (reporters.get(reporter)?.number ?? -Infinity)) return
      reporters.set(reporter, { number, reportedAt: now })
      for (const { key, type, scope, period, count, first, last } of counts) {
        const before = throttles.get(key)
        throttles.set(key, {
          keptAt: before?.keptAt,
          type,
          scope,
          period,
          count: (before?.count ?? 0) + count,
          first: Math.min(before?.first ?? Infinity, first),
          last: Math.max(before?.last ?? -Infinity, last),
        })
      }
    },

    unclaimed(now, most) {
      const found: SuppressedCount[] = []
      for (const [key, state] of throttles) {
        if (found.length === most) break
        const { type, scope, period, count, first, last } = state
        if (isUnclaimed(state, period, now) && first !== undefined && last !== undefined)
          found.push({ key, type, scope, period, count, first, last })
      }
      return found
    },

    clear(counts) {
      for (const { key } of counts) throttles.set(key, { ...throttles.get(key)!, ...NOTHING })
    },

    prune(now) {
      for (const [key, { count, keptAt = -Infinity, period }] of throttles)
        if (count === 0 && keptAt + 2 * period <= now) throttles.delete(key)
      for (const [reporter, { reportedAt }] of reporters)
        if (reportedAt + DAY <= now) reporters.delete(reporter)
    },
  }
}
