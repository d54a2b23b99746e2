import type { JsonObject } from '../event/event.js'
import type { SuppressedCount } from '../store/store.js'
import { type Clock, formatTimestamp, type Microseconds } from '../event/timestamp.js'

/** Why the log has no event of calls that were made. */
export type LossReason = 'dropped' | 'deadline_exceeded' | 'throttled'

interface Loss {
  /** `null` stands for all types beyond the first few hundred. */
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
    first_at: formatTimestamp(
      losses.reduce((least, { first }) => Math.min(least, first), Infinity),
    ),
    last_at: formatTimestamp(losses.reduce((most, { last }) => Math.max(most, last), -Infinity)),
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

/** Counts what the log misses, until it is told in the log itself. */
export interface Gaps {
  lost(type: string, reason: LossReason): void
  /** The store is there: what is missing can be told now. */
  storeIsBack(): void
  /** Ends the telling. Gives what is still to be told. */
  close(): Promise<JsonObject | undefined>
}

const MAX_TYPES = 500
const FIRST_PAUSE_MS = 500
const MAX_PAUSE_MS = 30_000

/** `tell` records an event with the attributes; where it rejects they are told later. */
export function createGaps(now: Clock, tell: (data: JsonObject) => Promise<unknown>): Gaps {
  let losses = new Map<string, Loss>()
  let telling: Promise<void> | undefined
  let timer: NodeJS.Timeout | undefined
  let pauseMs = FIRST_PAUSE_MS
  let isClosed = false

  const add = (loss: Loss): void => {
    const ownKey = `${loss.reason} ${loss.type}`
    const isOther = losses.size >= MAX_TYPES && !losses.has(ownKey)
    const key = isOther ? loss.reason : ownKey
    const known = losses.get(key)
    losses.set(key, {
      type: isOther ? null : loss.type,
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
      tellNow()
    }, pauseMs).unref()
  }
  const tellNow = (): void => {
    if (telling || isClosed || losses.size === 0) return
    clearTimeout(timer)
    timer = undefined
    const told = [...losses.values()]
    losses = new Map()
    const call = async (): Promise<void> => tell(gapData(told)).then(() => undefined)
    telling = call()
      .then(
        () => void (pauseMs = FIRST_PAUSE_MS),
        () => {
          for (const loss of told) add(loss)
          pauseMs = Math.min(pauseMs * 2, MAX_PAUSE_MS)
        },
      )
      .finally(() => {
        telling = undefined
        schedule()
      })
  }

  return {
    lost(type, reason) {
      const time = now()
      add({ type, reason, count: 1, first: time, last: time })
      schedule()
    },
    storeIsBack() {
      if (losses.size > 0) tellNow()
    },
    async close() {
      isClosed = true
      clearTimeout(timer)
      await telling
      return losses.size > 0 ? gapData([...losses.values()]) : undefined
    },
  }
}
