import { isOutcomeUnknown } from '../errors.js'
import type { JsonObject } from '../event/event.js'
import type { SuppressedCount } from '../store/store.js'
import { eventsWithVerb, lossesAtExit, type LossReason } from './losses.js'
import { type Clock, formatTimestamp, type Microseconds } from '../event/timestamp.js'

interface Loss {
  /** `null` for all types beyond the first 500, and for anything but a text. */
  readonly type: string | null
  readonly reason: LossReason
  readonly scope?: JsonObject
  readonly count: number
  readonly first: Microseconds
  readonly last: Microseconds
}

const countOf = (losses: Iterable<Loss>): number => {
  let sum = 0
  for (const { count } of losses) sum += count
  return sum
}

/** The attributes of `warn:audit_log:gap`. */
export function gapData(losses: readonly Loss[]): JsonObject {
  return {
    count: countOf(losses),
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
  /** `type` may be anything if the call was invalid. */
  lost(type: unknown, reason: LossReason): void
  /** Reports losses now: the store has just stored something. */
  onStored(): void
  /**
   * Stops reporting. The data of losses that are not reported yet go to `recordLast`, which resolves to
   * false if nothing takes them; then the process warns. A report that may be stored is repeated for `ms()`.
   */
  close(ms: () => number, recordLast: (data: JsonObject) => Promise<boolean>): Promise<void>
}

export const GAP = 'warn:audit_log:gap'

const MAX_TYPES = 500
const MAX_TYPE_LENGTH = 255
const FIRST_PAUSE_MS = 500
const MAX_PAUSE_MS = 30_000

/** Adds the loss to those of its type and reason. */
function addTo(losses: Map<string, Loss>, loss: Loss): void {
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

/**
 * `prepare` returns a function that records a gap event within some milliseconds. If that rejects, the losses are reported again later: with
 * `OUTCOME_UNKNOWN` by the same function, so that the store does not have them twice, otherwise with later ones.
 */
export function createGaps(
  now: Clock,
  prepare: (data: JsonObject) => (ms?: number) => Promise<unknown>,
): Gaps {
  let losses = new Map<string, Loss>()
  let reporting: Promise<void> | undefined
  let timer: NodeJS.Timeout | undefined
  let pauseMs = FIRST_PAUSE_MS
  let isClosed = false

  let inReport: readonly Loss[] = []
  /** Records `inReport` again, which the store may have already. */
  let repeat: ((ms?: number) => Promise<unknown>) | undefined
  const unreported = { count: () => countOf(losses.values()) + countOf(inReport) }
  const add = (loss: Loss): void => {
    lossesAtExit.add(unreported)
    addTo(losses, loss)
  }
  const schedule = (): void => {
    if (timer || isClosed || (losses.size === 0 && !repeat)) return
    timer = setTimeout(() => {
      timer = undefined
      reportNow()
    }, pauseMs).unref()
  }
  const report = async (): Promise<void> => {
    if (!repeat) {
      inReport = [...losses.values()]
      losses = new Map()
    }
    try {
      repeat ??= prepare(gapData(inReport))
      await repeat()
      pauseMs = FIRST_PAUSE_MS
    } catch (error) {
      pauseMs = Math.min(pauseMs * 2, MAX_PAUSE_MS)
      if (repeat && isOutcomeUnknown(error)) return
      for (const loss of inReport) add(loss)
    }
    repeat = undefined
    inReport = []
  }
  const reportNow = (): void => {
    if (reporting || isClosed || (losses.size === 0 && !repeat)) return
    clearTimeout(timer)
    timer = undefined
    reporting = report().finally(() => {
      reporting = undefined
      if (losses.size === 0 && !repeat) lossesAtExit.delete(unreported)
      schedule()
    })
  }

  return {
    lost(type, reason) {
      const time = now()
      // Invalid calls may name anything, of any length.
      const name = typeof type === 'string' ? type.slice(0, MAX_TYPE_LENGTH) : null
      add({ type: name, reason, count: 1, first: time, last: time })
      schedule()
    },
    onStored() {
      if (losses.size > 0 || repeat) reportNow()
    },
    async close(ms, recordLast) {
      isClosed = true
      clearTimeout(timer)
      await reporting
      await repeat?.(ms()).catch(() => {})
      inReport = []
      if (losses.size > 0 && !(await recordLast(gapData([...losses.values()]))))
        process.emitWarning(
          `${eventsWithVerb(unreported.count(), 'lost ')} not reported in the audit log, which is closed: neither the store nor a journal takes the gap event`,
        )
      losses = new Map()
      lossesAtExit.delete(unreported)
    },
  }
}
