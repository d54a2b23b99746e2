import type { JsonObject } from '../event/event.js'
import type { SuppressedCount } from '../store/store.js'
import { type Clock, formatTimestamp, type Microseconds } from '../event/timestamp.js'

/** Why a call has no event in the log; with `outcome_unknown` it may have one. */
export type LossReason = 'dropped' | 'deadline_exceeded' | 'outcome_unknown' | 'throttled'

interface Loss {
  /** `null` for all types beyond the first 500. */
  readonly type: string | null
  readonly reason: LossReason
  readonly scope?: JsonObject
  readonly count: number
  readonly first: Microseconds
  readonly last: Microseconds
}

/** The attributes of `warn:audit_log:gap`. */
export function gapData(losses: readonly Loss[]): JsonObject {
  return {
    count: losses.reduce((sum, { count }) => sum + count, 0),
    first_at: formatTimestamp(losses.reduce((min, { first }) => Math.min(min, first), Infinity)),
    last_at: formatTimestamp(losses.reduce((max, { last }) => Math.max(max, last), -Infinity)),
    losses: losses.map(({ type, reason, scope, count, first, last }) => ({
      type,
      reason,
      ...(scope && Object.keys(scope).length > 0 && { scope }),
      count,
      first_at: formatTimestamp(first),
      last_at: formatTimestamp(last),
    })),
  }
}

export const throttledLoss = (suppressed: SuppressedCount): Loss => ({
  ...suppressed,
  reason: 'throttled',
})

/** Counts lost events until an event in the log reports them. */
export interface Gaps {
  lost(type: string, reason: LossReason): void
  /** Reports losses now: the store has just stored something. */
  onStored(): void
  /** Stops reporting. Resolves to the data of the losses that have not been reported. */
  close(): Promise<JsonObject | undefined>
}

const MAX_TYPES = 500
const FIRST_PAUSE_MS = 500
const MAX_PAUSE_MS = 30_000

/** `record` records a gap event. If it rejects, the losses are reported again later. */
export function createGaps(now: Clock, record: (data: JsonObject) => Promise<unknown>): Gaps {
  let losses = new Map<string, Loss>()
  let reporting: Promise<void> | undefined
  let timer: NodeJS.Timeout | undefined
  let pauseMs = FIRST_PAUSE_MS
  let isClosed = false

  const add = (loss: Loss): void => {
    const typeKey = `${loss.reason} ${loss.type}`
    const isOverflow = losses.size >= MAX_TYPES && !losses.has(typeKey)
    const key = isOverflow ? loss.reason : typeKey
    const known = losses.get(key)
    losses.set(key, {
      type: isOverflow ? null : loss.type,
      reason: loss.reason,
      count: loss.count + (known?.count ?? 0),
      first: Math.min(loss.first, known?.first ?? Infinity),
      last: Math.max(loss.last, known?.last ?? -Infinity),
    })
  }
  const schedule = (): void => {
    if (timer || isClosed || losses.size === 0) return
    timer = setTimeout(() => {
      timer = undefined
      reportNow()
    }, pauseMs).unref()
  }
  const reportNow = (): void => {
    if (reporting || isClosed || losses.size === 0) return
    clearTimeout(timer)
    timer = undefined
    const reported = [...losses.values()]
    losses = new Map()
    const call = async (): Promise<void> => record(gapData(reported)).then(() => undefined)
    reporting = call()
      .then(
        () => void (pauseMs = FIRST_PAUSE_MS),
        () => {
          for (const loss of reported) add(loss)
          pauseMs = Math.min(pauseMs * 2, MAX_PAUSE_MS)
        },
      )
      .finally(() => {
        reporting = undefined
        schedule()
      })
  }

  return {
    lost(type, reason) {
      const time = now()
      add({ type, reason, count: 1, first: time, last: time })
      schedule()
    },
    onStored() {
      if (losses.size > 0) reportNow()
    },
    async close() {
      isClosed = true
      clearTimeout(timer)
      await reporting
      return losses.size > 0 ? gapData([...losses.values()]) : undefined
    },
  }
}
