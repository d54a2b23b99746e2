import { randomUUID } from 'node:crypto'
import { untilAborted } from '../errors.js'
import type { DraftThrottle } from '../event/event.js'
import { type Backoff, backoffMs } from '../async/backoff.js'
import { createSerial } from '../async/serial.js'
import { createOneTimer } from '../async/timers.js'
import { timeoutSignal } from '../async/timeout-signal.js'
import type { EventStore, SuppressedCount, SuppressedReport } from '../store/store.js'
import type { Microseconds } from '../event/timestamp.js'

/** Calls that a throttle has suppressed since the last report. */
export interface SuppressedCounter {
  readonly throttle: DraftThrottle
  readonly type: string
  count: number
  first: Microseconds
  last: Microseconds
}

/** Counts the calls that throttles suppress, and reports them to the store about once a second. */
export interface SuppressedReports<Counter extends SuppressedCounter> {
  count(counter: Counter, time: Microseconds): void
  /** The counter of the throttle, if it has counts that are not reported yet. */
  unreported(key: string): Counter | undefined
  /** Reports all counts to the store. Rejects if the store fails; then the counts are reported later. */
  report(signal: AbortSignal): Promise<void>
  /** Ends the reports by timer. */
  close(): void
}

const REPORTS: Backoff = { firstMs: 1000, maxMs: 10_000 }

export function createSuppressedReports<Counter extends SuppressedCounter>(
  store: EventStore,
): SuppressedReports<Counter> {
  const reporter = randomUUID()
  const counting = new Map<string, Counter>()
  let number = 0
  /** A report that the store may have accepted. It is sent again until the store answers. */
  let unsent: SuppressedReport | undefined
  const inOrder = createSerial()
  let failures = 0
  let isReporting = false
  const closing = new AbortController()

  const takeReport = (): SuppressedReport => {
    const counts = [...counting.values()].map(
      ({ throttle, type, count, first, last }): SuppressedCount => ({
        ...throttle,
        type,
        count,
        first,
        last,
      }),
    )
    for (const counter of counting.values()) counter.count = 0
    counting.clear()
    return { reporter, number: ++number, counts }
  }
  const send = async (signal: AbortSignal): Promise<void> => {
    while (unsent || counting.size > 0) {
      unsent ??= takeReport()
      await store.reportSuppressed(unsent, { signal })
      unsent = undefined
    }
  }
  // An earlier report may have a later deadline. Do not wait for it longer than this signal allows.
  const report = (signal: AbortSignal): Promise<void> =>
    untilAborted(
      inOrder(() => send(signal)),
      signal,
    )
  const reportByTimer = async (): Promise<void> => {
    using wait = timeoutSignal(REPORTS.maxMs, closing.signal)
    isReporting = true
    try {
      await report(wait.signal)
      failures = 0
    } catch {
      failures += 1
    }
    isReporting = false
    if (unsent || counting.size > 0) schedule()
  }
  const timer = createOneTimer(() => void reportByTimer())
  const schedule = (): void => {
    if (!isReporting && !closing.signal.aborted)
      timer.watch(performance.now() + backoffMs(failures, REPORTS))
  }

  return {
    count(counter, time) {
      if (counter.count++ === 0) {
        counter.first = time
        counting.set(counter.throttle.key, counter)
        schedule()
      }
      counter.last = time
    },
    unreported: (key) => counting.get(key),
    report,
    close() {
      closing.abort()
      timer.clear()
    },
  }
}
