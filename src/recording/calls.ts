import { MAX_TIMER_MS } from '../async/timers.js'
import type { AuditEvent, EventDraft } from '../event/event.js'
import type { IdSuffix } from '../event/event-id.js'
import type { EventTypes } from '../event/event-types.js'
import { type Clock, type Microseconds, systemClock } from '../event/timestamp.js'
import { createClockGuard, guardedClock } from '../store/clock-guard.js'
import { sealedRecorder } from './sealed-recorder.js'
import type { Sealing } from '../privacy/sealing.js'
import { backgroundOf } from '../store/background.js'
import type { EventJournal } from '../store/journal.js'
import { type EventStore, readTuning, type SuppressedCount } from '../store/store.js'
import { type Caller, type CallParts, createCaller } from './call.js'
import { createCollapsing } from './collapse.js'
import type { Collapsing } from './collapse-rules.js'
import { createDrafts, type DraftOptions, type Drafts } from './drafts.js'
import type { FailurePolicy } from './failure-policy.js'
import { createIdempotency } from './idempotency.js'
import { createIntents, type IntentKeeper } from './intents.js'
import { createJournaling, type Journaling } from './journaling.js'
import { createGaps, GAP, gapData, type GapEvent, type Loss } from './losses.js'
import { type AuditLogStats, type CallsObserver, createOutcomes } from './outcomes.js'
import type { EarlierAttempts, RecorderOptions } from './queue.js'
import { createRecorder, type Recorder } from './recorder.js'
import type { TypeThrottle } from './throttle-rules.js'
import { createThrottling, type Throttling } from './throttling.js'

export interface CallsOptions extends Omit<DraftOptions, 'keep'> {
  /** The log, named in the messages of `daybook:outcome`. */
  readonly audit: object
  readonly store: EventStore
  readonly types: EventTypes
  readonly throttles: ReadonlyMap<string, TypeThrottle>
  readonly waiting: RecorderOptions
  readonly policyOf: (type: string) => FailurePolicy
  readonly journal: EventJournal | undefined
  readonly observer: CallsObserver
  /** Encrypts personal values. */
  readonly sealing: Sealing | undefined
}

/** An event of the log itself that several calls may record, also calls of other processes; one of them is stored. */
export interface OnceOnly {
  /** The end of the id, the same for all of these calls. */
  readonly suffix: IdSuffix
  readonly username: string
  /** A time before the event, if another call has stored it. The store searches the events after it. */
  readonly since: Microseconds
}

/** The calls of one log until they are settled. */
export interface Calls extends Pick<Caller, 'record' | 'refuseNew'> {
  readonly intents: IntentKeeper
  /** A gap event that reports suppressed calls. */
  readonly suppressedDraft: (counts: readonly SuppressedCount[]) => EventDraft
  /** Records an event of the log itself, which does not count as a call, within `ms` milliseconds. @default `deadlineMs` */
  readonly recordOwn: (type: string, data: object, ms?: number) => Promise<AuditEvent | undefined>
  /** Records an event of the log itself, unless another call with this suffix has: see {@link OnceOnly}. Resolves to the stored event. */
  readonly recordOnce: (
    type: string,
    data: object,
    once: OnceOnly,
  ) => Promise<AuditEvent | undefined>
  readonly counted: Collapsing['counted']
  stats(): AuditLogStats
  /** `undefined` unless the store is down. */
  readonly outage: Recorder['outage']
  flush(): Promise<void>
  /**
   * Resolves when all calls have settled and the last losses and counts are reported. `last` records the last event, within the
   * given milliseconds.
   */
  close(last?: (ms: number) => Promise<unknown>): Promise<void>
}

// Maximum time that `close` waits for the last report while the store is down.
const DOWN_REPORT_MS = 1000

const IDLE_MS = 20_000

const reportCounts = (throttling: Throttling, ms: number): Promise<void> =>
  throttling.report(AbortSignal.timeout(Math.min(ms, MAX_TIMER_MS))).catch(() => {})

const draftsOf = (options: CallsOptions): Drafts =>
  createDrafts({ ...options, keep: readTuning(options.store).appendsText ? 'text' : 'copy' })

function clockOf({ clock }: EventStore): Clock {
  const own = systemClock()
  return clock ?? guardedClock(own, createClockGuard(own.monotonic))
}

/** The event of losses. */
function gapEvent({
  draft,
  recorder,
  journaling,
  now,
  deadlineMs,
}: {
  readonly draft: EventDraft
  readonly recorder: Recorder
  readonly journaling: Journaling | undefined
  readonly now: Clock
  readonly deadlineMs: number
}): GapEvent {
  const since = recorder.lowerBound()
  let earlier: EarlierAttempts | undefined
  return {
    async record(ms = deadlineMs) {
      const deadline = performance.now() + ms
      const call = recorder.add(draft, { isOwn: true, earlier, deadline })
      earlier = { since, until: 0 }
      return call
    },
    keep: async () =>
      journaling !== undefined &&
      new Promise((resolve) => {
        const entry = { draft, recordedAt: now(), since }
        journaling.add(entry, (error) => resolve(error === undefined))
      }),
  }
}

const createRecordOnce =
  ({
    drafts,
    outcomes,
    recorder,
  }: Pick<CallParts, 'drafts' | 'outcomes' | 'recorder'>): Calls['recordOnce'] =>
  async (type, data, { suffix, username, since }) => {
    const draft = { ...drafts.system(type, undefined, data, { username }), suffix }
    outcomes.ownDrafts.add(draft)
    return recorder.add(draft, { isOwn: true, earlier: { since, until: 0 } })
  }

/** Assembles the parts of recording. */
export function createCalls(options: CallsOptions): Calls {
  const { store, types, waiting, journal, sealing } = options
  const { deadlineMs } = waiting
  const now = clockOf(store)
  const drafts = draftsOf(options)
  const definitions = new Map(Object.entries(types))
  const throttling = createThrottling({ ...options, now })
  const journaling = journal && createJournaling(journal, now)
  const ownDraft = (type: string, data: object): EventDraft => {
    const draft = drafts.system(type, undefined, data)
    outcomes.ownDrafts.add(draft)
    return draft
  }
  const gapDraft = (losses: readonly Loss[]): EventDraft => ownDraft(GAP, gapData(losses))
  const gapEventOf = (losses: readonly Loss[]): GapEvent =>
    gapEvent({ draft: gapDraft(losses), recorder, journaling, now, deadlineMs })
  const gaps = createGaps(now, gapEventOf)
  const onStored = (): void => {
    gaps.onStored()
    intents.look()
  }
  const outcomes = createOutcomes({ ...options, throttling, gaps, onStored })
  const clear = createRecorder(store, waiting, {
    now,
    journaling,
    beforeThrottled: (signal) => throttling.report(signal).catch(() => {}),
    outcomes,
  })
  const recorder = sealing ? sealedRecorder(clear, { sealing, outcomes, deadlineMs }) : clear
  const idempotency = createIdempotency({ store, recorder, deadlineMs, outcomes, sealing })
  const collapsing = createCollapsing({
    ...options,
    now,
    drafts,
    deadlineMs,
    // One of many logs is closed while it is not in use.
    idleMs: backgroundOf(store).onLook && IDLE_MS,
    intents: () => intents,
  })
  const made = { now, drafts, definitions, throttling, collapsing, outcomes, recorder, idempotency }
  const parts = { ...options, ...made }
  const caller = createCaller(parts)
  const intents = createIntents({ ...parts, ...waiting, caller })
  const settleAll = (): Promise<unknown> => Promise.all([recorder.flush(), idempotency.flush()])
  /** Maximum duration of the last reports. */
  const reportMs = (): number =>
    recorder.isDown() ? Math.min(DOWN_REPORT_MS, deadlineMs) : deadlineMs
  return {
    ...caller,
    intents,
    suppressedDraft: (counts) =>
      gapDraft(counts.map((count): Loss => ({ ...count, reason: 'throttled' }))),
    recordOwn: async (type, data, ms = deadlineMs) =>
      recorder.add(ownDraft(type, data), { isOwn: true, deadline: performance.now() + ms }),
    recordOnce: createRecordOnce({ drafts, outcomes, recorder }),
    counted: collapsing.counted,
    stats: () => ({ ...outcomes.counts, waiting: recorder.waiting() }),
    outage: recorder.outage,
    async flush() {
      await settleAll()
      await Promise.all([reportCounts(throttling, deadlineMs), collapsing.save().catch(() => {})])
    },
    async close(last) {
      await settleAll() // A full queue would refuse the events of counted calls.
      await collapsing.close(reportMs)
      await intents.stop()
      await settleAll()
      if (last) await gaps.report(reportMs)
      await last?.(reportMs()).catch(() => {})
      await gaps.close(reportMs)
      const ms = reportMs()
      // Drafts may be suppressed during the replay, so the last report comes after it.
      await recorder.close()
      await reportCounts(throttling, ms)
      throttling.close()
      journaling?.close()
      await intents.close()
    },
  }
}
