import type { JsonObject } from '../event/event.js'
import { formatTimestamp } from '../event/timestamp.js'
import type { ClockDoubt } from '../store/clock-guard.js'
import type { EventStore } from '../store/store.js'

/** The attributes of `warn:audit_log:clock`. */
const clockData = ({ reason, clock, expected }: ClockDoubt): JsonObject => ({
  reason,
  clock_time: formatTimestamp(clock),
  expected_time: formatTimestamp(expected),
})

const clockText = ({ reason, clock, expected }: ClockDoubt): string => {
  const times = `the clock of the audit log reads ${formatTimestamp(clock)}`
  return reason === 'jump'
    ? `${times}, ${formatTimestamp(expected)} was expected`
    : `${times}, and its newest event is from ${formatTimestamp(expected)}`
}

/**
 * Records an event for each reading of the clock that the store doubts, or emits a process warning if
 * that fails, and calls `noteDoubt`. Returns a function that ends the reports.
 */
export function reportClock(
  store: EventStore,
  record: (data: JsonObject) => Promise<unknown>,
  noteDoubt: (doubt: ClockDoubt) => Promise<void>,
): () => void {
  if (store.readOnly) return () => {}
  const report = (doubt: ClockDoubt): void => {
    // The store may be in the middle of a transaction.
    queueMicrotask(() => {
      record(clockData(doubt)).catch(() => process.emitWarning(clockText(doubt)))
      // If it fails, a rule that has run before finds the doubt by itself.
      noteDoubt(doubt).catch(() => {})
    })
  }
  return store.watchClock?.(report) ?? (() => {})
}
