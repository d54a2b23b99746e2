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

/** The throttles, with their counts of suppressed calls. */
export interface Throttles {
  /** Time until the draft's throttle opens; 0 if it is open or the draft has no throttle. */
  opensIn(draft: EventDraft, now: Microseconds): Microseconds
  /** Closes the throttle of a stored draft; returns the draft with the count of suppressed calls. */
  close(draft: EventDraft, storedAt: Microseconds): EventDraft
  /** Adds the counts of the report, unless they were added before. */
  report(report: SuppressedReport, now: Microseconds): void
  /** Returns at most `max` of the counts that no further event will take. */
  unclaimed(now: Microseconds, max: number): readonly SuppressedCount[]
  /** Resets these counts after they have been recorded. */
  clear(counts: readonly SuppressedCount[]): void
  /** Deletes the throttles whose last event was removed. */
  forget(isStored: (time: Microseconds) => boolean): void
  /** Deletes throttles and reporters that no longer have an effect. */
  prune(now: Microseconds): void
}

const NO_SUPPRESSED = { count: 0, first: undefined, last: undefined } as const

export function createThrottles(): Throttles {
  const throttles = new Map<string, Throttle>()
  const reporters = new Map<string, { readonly number: number; readonly reportedAt: number }>()

  return {
    opensIn({ throttle }, now) {
      const state = throttle && throttles.get(throttle.key)
      if (!state) return 0
      const { opensIn, storedAt } = closedPeriod(state.storedAt, throttle.period, now)
      throttles.set(throttle.key, { ...state, storedAt })
      return opensIn
    },

    close(draft, storedAt) {
      if (!draft.throttle) return draft
      const { key, scope, period } = draft.throttle
      const before = throttles.get(key) ?? NO_SUPPRESSED
      throttles.set(key, { ...NO_SUPPRESSED, storedAt, type: draft.type, scope, period })
      return withSuppressed(draft, before)
    },

    report({ reporter, number, counts }, now) {
      if (number <= (reporters.get(reporter)?.number ?? -Infinity)) return
      reporters.set(reporter, { number, reportedAt: now })
      for (const { key, type, scope, period, count, first, last } of counts) {
        const before = throttles.get(key)
        throttles.set(key, {
          storedAt: before?.storedAt,
          type,
          scope,
          period,
          count: (before?.count ?? 0) + count,
          first: Math.min(before?.first ?? Infinity, first),
          last: Math.max(before?.last ?? -Infinity, last),
        })
      }
    },

    unclaimed(now, max) {
      const found: SuppressedCount[] = []
      for (const [key, state] of throttles) {
        if (found.length === max) break
        const { type, scope, period, count, first, last } = state
        if (isUnclaimed(state, period, now) && first !== undefined && last !== undefined)
          found.push({ key, type, scope, period, count, first, last })
      }
      return found
    },

    clear(counts) {
      for (const { key } of counts) throttles.set(key, { ...throttles.get(key)!, ...NO_SUPPRESSED })
    },

    forget(isStored) {
      for (const [key, { storedAt }] of throttles)
        if (storedAt !== undefined && !isStored(storedAt)) throttles.delete(key)
    },

    prune(now) {
      for (const [key, { count, storedAt = -Infinity, period }] of throttles)
        if (count === 0 && storedAt + 2 * period <= now) throttles.delete(key)
      for (const [reporter, { reportedAt }] of reporters)
        if (reportedAt + DAY <= now) reporters.delete(reporter)
    },
  }
}
