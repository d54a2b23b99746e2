import { inspect } from 'node:util'
import { type AuditLogError, type AuditLogErrorCode, isOutcomeUnknown } from '../errors.js'
import type { JsonObject } from '../event/event.js'
import { innermostError } from '../event/realm.js'
import { type Clock, formatTimestamp, type Microseconds } from '../event/timestamp.js'
import { createWarnOnce, eventsWithVerb, lossesAtExit } from './warnings.js'
import { type Backoff, backoffMs } from '../async/backoff.js'
import { createOneTimer } from '../async/timers.js'
import { warn } from '../async/warn.js'

/**
 * Reason why a call has no event in the log: the code of its error in lower case, `dropped` or `throttled`. With
 * `outcome_unknown` the event may be in the log.
 */
export type LossReason = 'dropped' | 'throttled' | Lowercase<AuditLogErrorCode>

/** Errors of invalid calls. */
const INVALID: ReadonlySet<AuditLogErrorCode> = new Set([
  'IDEMPOTENCY_CONFLICT',
  'INVALID_EVENT',
  'INVALID_LINK',
  'INVALID_OPTION',
])

/**
 * The reason of a rejected call; `undefined` if nothing is lost. A refused invalid custom event is not lost: its
 * author, often a client, gets the error and must not be able to raise an alarm.
 */
export function lossReason(system: boolean, { code }: AuditLogError): LossReason | undefined {
  if (!system && INVALID.has(code)) return undefined
  return code.toLowerCase() as Lowercase<AuditLogErrorCode>
}

/** Maximum number of distinct causes. Drivers have few codes, but functions of a host may throw errors with other codes. */
const MAX_CAUSES = 100

/** Emits a process warning for lost events, once for each cause. `type` may be anything if the call was invalid. */
export function createLossWarnings(): (type: unknown, error: AuditLogError) => void {
  const warn = createWarnOnce(MAX_CAUSES)
  return (type, error) => {
    const cause = innermostError(error)
    const { code, name } = cause as Error & { readonly code?: unknown }
    const reason = error.message.includes(cause.message) ? '' : `: ${cause.message}`
    warn(
      `${error.code} ${typeof code === 'string' ? code : name}`,
      `an event of the type ${typeof type === 'string' ? type : inspect(type)} is lost: ${error.message}${reason} (the audit log has no listener for 'rejected'; this is reported once for each cause)`,
    )
  }
}

export interface Loss {
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

/** The attributes of a gap event. */
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

/** Counts lost events until an event in the log reports them. */
export interface Gaps {
  /** `type` may be anything if the call was invalid. */
  lost(type: unknown, reason: LossReason): void
  /** Reports losses now: the store has just stored something. */
  onStored(): void
  /**
   * Reports the last losses, with at most `ms()` milliseconds for each report. If that fails, adds their event to the
   * journal. Later losses wait for `close`.
   */
  report(ms: () => number): Promise<void>
  /** As `report`. Emits a process warning if it fails. */
  close(ms: () => number): Promise<void>
}

/** A gap event that is being recorded. */
export interface GapEvent {
  /**
   * Records the event within `ms` milliseconds. If this rejects with `OUTCOME_UNKNOWN`, a repeated call does not
   * store the event twice.
   */
  record(ms?: number): Promise<unknown>
  /**
   * Adds the event to the journal, from which the next process stores it. Resolves to false without a journal, and if
   * it refuses the event.
   */
  keep(): Promise<boolean>
}

export const GAP = 'warn:audit_log:gap'

const MAX_TYPES = 500
const MAX_TYPE_LENGTH = 255
const REPORTS: Backoff = { firstMs: 500, maxMs: 30_000 }

/** Adds the loss to the losses of its type and reason. */
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

/** Resolves to false if both the store and the journal refuse the event. */
const recordOrKeep = (event: GapEvent, ms: number): Promise<boolean> =>
  event.record(ms).then(
    () => true,
    () => event.keep(),
  )

function warnUnreported(count: number): void {
  if (count === 0) return
  warn(
    `${eventsWithVerb(count, 'lost ')} not reported in the audit log, which is closed: neither the store nor a journal takes the gap event`,
  )
}

/**
 * After a rejection, the losses are reported again later, with later losses. After `OUTCOME_UNKNOWN`, all further
 * attempts use the same event.
 */
export function createGaps(now: Clock, eventOf: (losses: readonly Loss[]) => GapEvent): Gaps {
  let losses = new Map<string, Loss>()
  let reporting: Promise<void> | undefined
  let failures = 0
  let isClosed = false

  let inReport: readonly Loss[] = []
  /** The gap event for the losses in `inReport`. */
  let event: GapEvent | undefined
  /** True if the store may have the event already. */
  let isInDoubt = false
  const unreported = { count: () => countOf(losses.values()) + countOf(inReport) }
  const add = (loss: Loss): void => {
    lossesAtExit.add(unreported)
    addTo(losses, loss)
  }
  const schedule = (): void => {
    if (!isClosed && (losses.size > 0 || event))
      timer.watch(performance.now() + backoffMs(failures, REPORTS))
  }
  const report = async (): Promise<void> => {
    if (!event) {
      inReport = [...losses.values()]
      losses = new Map()
    }
    try {
      event ??= eventOf(inReport)
      await event.record()
      failures = 0
    } catch (error) {
      failures += 1
      isInDoubt ||= event !== undefined && isOutcomeUnknown(error)
      if (isInDoubt) return
      for (const loss of inReport) add(loss)
    }
    event = undefined
    isInDoubt = false
    inReport = []
  }
  const reportNow = (): void => {
    if (reporting || isClosed || (losses.size === 0 && !event)) return
    timer.clear()
    reporting = report().finally(() => {
      reporting = undefined
      if (losses.size === 0 && !event) lossesAtExit.delete(unreported)
      schedule()
    })
  }
  const timer = createOneTimer(reportNow)

  const reportLast: Gaps['report'] = async (ms) => {
    isClosed = true
    timer.clear()
    await reporting
    if (event && (await recordOrKeep(event, ms()))) [inReport, event] = [[], undefined]
    const last = [...losses.values()]
    if (last.length > 0 && (await recordOrKeep(eventOf(last), ms()))) losses = new Map()
  }

  return {
    lost(type, reason) {
      const time = now()
      // The type of an invalid call may be anything, of any length.
      const name = typeof type === 'string' ? type.slice(0, MAX_TYPE_LENGTH) : null
      add({ type: name, reason, count: 1, first: time, last: time })
      schedule()
    },
    onStored() {
      if (losses.size > 0 || event) reportNow()
    },
    report: reportLast,
    async close(ms) {
      await reportLast(ms)
      warnUnreported(unreported.count())
      lossesAtExit.delete(unreported)
    },
  }
}
