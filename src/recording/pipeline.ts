import { type CallObserver, type CallsObserver, createCallObserver } from './call-observer.js'
import type { EarlierAttempts } from './earlier-attempts.js'
import type { Drafts } from './drafts.js'
import type { AuditEvent, EventDraft, JsonObject } from '../event/event.js'
import type { EventTypes } from '../event/event-types.js'
import { createGaps, GAP } from './gaps.js'
import { createIdempotency, type Idempotency } from './idempotency.js'
import type { EventJournal } from '../store/journal.js'
import { createJournaling, type Journaling } from './journaling.js'
import type { JsonLimits } from '../event/json.js'
import { createLedger, type Ledger } from './outcomes.js'
import { createRecorder, type Recorder } from './recorder.js'
import type { EventStore } from '../store/store.js'
import { createThrottling, type Throttling } from './throttling.js'
import type { ThrottlePeriods } from './throttle-rules.js'
import { MAX_TIMER_MS } from '../async/timers.js'
import type { Clock } from '../event/timestamp.js'
import type { RecorderOptions } from './queue-limits.js'

export interface PipelineDependencies {
  /** The log, named in the messages of `daybook:outcome`. */
  readonly audit: object
  readonly store: EventStore
  readonly types: EventTypes
  readonly drafts: Drafts
  readonly limits: JsonLimits
  readonly periods: ThrottlePeriods
  readonly waiting: RecorderOptions
  readonly journal: EventJournal | undefined
  readonly now: Clock
  readonly observer: CallsObserver
}

/** The recording stages of one log. */
export interface Pipeline {
  readonly ledger: Ledger
  readonly throttling: Throttling
  readonly idempotency: Idempotency
  readonly recorder: Recorder
  readonly observer: CallObserver
  /** Drafts that are recorded again if they are rejected. */
  readonly intendedDrafts: WeakSet<EventDraft>
  /** A draft of an event of the log itself. */
  ownDraft(type: string, data: object): EventDraft
  /** Records an event of the log itself. It is not counted as a call. */
  recordOwn(type: string, data: object): Promise<AuditEvent | undefined>
  /** Records a draft of an intent, unless an earlier attempt has. It is not counted as a call. */
  recordIntended(draft: EventDraft, earlier: EarlierAttempts): Promise<AuditEvent | undefined>
  flush(): Promise<void>
  /** Resolves when all calls have settled and the last losses and counts are reported. */
  close(): Promise<void>
}

// While the store is down, `close` waits no longer than this for the last report.
const DOWN_REPORT_MS = 1000

interface Closing extends Pick<Pipeline, 'recorder' | 'ownDraft'> {
  readonly journaling: Journaling | undefined
  readonly now: Clock
}

/** Records the last losses within `ms`, or leaves them in the journal for the next process. */
async function recordLastGap(
  { recorder, journaling, ownDraft, now }: Closing,
  data: JsonObject,
  ms: number,
): Promise<boolean> {
  try {
    const deadline = performance.now() + ms
    await recorder.add(ownDraft(GAP, data), { isOwn: true, deadline })
    return true
  } catch {
    if (!journaling) return false
  }
  const entry = { draft: ownDraft(GAP, data), recordedAt: now(), since: undefined }
  return new Promise((resolve) => {
    journaling.add(entry, (error) => resolve(error === undefined))
  })
}

export function createPipeline(dependencies: PipelineDependencies): Pipeline {
  const { store, drafts, waiting, now } = dependencies
  const ledger = createLedger(dependencies.audit)
  const throttling = createThrottling(dependencies)
  const journaling = dependencies.journal && createJournaling(dependencies.journal, now)

  const ownDrafts = new WeakSet<EventDraft>()
  const intendedDrafts = new WeakSet<EventDraft>()
  const ownDraft = (type: string, data: object): EventDraft => {
    const draft = drafts.system(type, undefined, data)
    ownDrafts.add(draft)
    return draft
  }
  const recordOwn = async (type: string, data: object): Promise<AuditEvent | undefined> =>
    recorder.add(ownDraft(type, data), { isOwn: true })
  const gaps = createGaps(now, (data) => recordOwn(GAP, data))

  const observer = createCallObserver({
    ledger,
    throttling,
    gaps,
    ownDrafts,
    intendedDrafts,
    observer: dependencies.observer,
  })
  const recorder = createRecorder(store, waiting, {
    journaling,
    beforeThrottled: (signal) => throttling.report(signal).catch(() => {}),
    observer,
  })
  const { deadlineMs } = waiting
  const closing: Closing = { recorder, journaling, ownDraft, now }
  const idempotency = createIdempotency({ store, recorder, deadlineMs, observer })

  const settleAll = async (): Promise<void> => {
    await Promise.all([recorder.flush(), idempotency.flush()])
  }
  const report = (ms: number): Promise<void> =>
    throttling.report(AbortSignal.timeout(Math.min(ms, MAX_TIMER_MS))).catch(() => {})
  /** While the store is down, `close` does not wait for the deadline. */
  const lastReportMs = (): number =>
    recorder.isDown() ? Math.min(DOWN_REPORT_MS, deadlineMs) : deadlineMs

  return {
    ledger,
    throttling,
    idempotency,
    recorder,
    observer,
    intendedDrafts,
    ownDraft,
    recordOwn,
    async recordIntended(draft, earlier) {
      ownDrafts.add(draft)
      intendedDrafts.add(draft)
      return recorder.add(draft, { isOwn: true, earlier })
    },
    async flush() {
      await settleAll()
      await report(deadlineMs)
    },
    async close() {
      await settleAll()
      await gaps.close((data) => recordLastGap(closing, data, lastReportMs()))
      const reportMs = lastReportMs()
      // Drafts may be suppressed during the replay, so the last report comes after it.
      await recorder.close()
      await report(reportMs)
      throttling.close()
      journaling?.close()
    },
  }
}
