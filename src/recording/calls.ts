import { MAX_TIMER_MS } from '../async/timers.js'
import {
  asAuditLogError,
  type Caller,
  type CallOptions,
  type CheckOptions,
  createCaller,
  createPrepare,
  CUSTOM,
  type Definitions,
  SYSTEM,
  type SystemCall,
} from './call.js'
import { callContext } from './call-context.js'
import type { Drafts } from './drafts.js'
import type { EarlierAttempts } from './earlier-attempts.js'
import type { AuditEvent, EventDraft, JsonObject } from '../event/event.js'
import type { EventTypes } from '../event/event-types.js'
import type { JsonLimits } from '../event/json.js'
import type { Clock } from '../event/timestamp.js'
import type { FailurePolicy } from './failure-policy.js'
import { createGaps, GAP, type Gaps } from './gaps.js'
import { createIdempotency } from './idempotency.js'
import { createIntents, type IntentKeeper } from './intents.js'
import { createJournaling, type Journaling } from './journaling.js'
import {
  type AuditLogStats,
  type CallsObserver,
  createOutcomes,
  type Outcomes,
} from './outcomes.js'
import { createRecorder, type Recorder } from './recorder.js'
import type { EventJournal } from '../store/journal.js'
import type { RecorderOptions } from './queue-limits.js'
import type { EventStore } from '../store/store.js'
import type { ThrottlePeriods } from './throttle-rules.js'
import { createThrottling, type Throttling } from './throttling.js'

export type { SystemCall } from './call.js'

export interface CallsDependencies {
  /** The log, named in the messages of `daybook:outcome`. */
  readonly audit: object
  readonly store: EventStore
  readonly types: EventTypes
  readonly drafts: Drafts
  readonly limits: JsonLimits
  readonly periods: ThrottlePeriods
  readonly waiting: RecorderOptions
  readonly policyOf: (type: string) => FailurePolicy
  readonly journal: EventJournal | undefined
  readonly now: Clock
  readonly observer: CallsObserver
}

/** The calls of one log, until they are settled. */
export interface Calls {
  readonly intents: IntentKeeper
  system(
    type: string,
    data: object,
    options?: CallOptions,
    kind?: SystemCall,
  ): Promise<AuditEvent | undefined>
  custom(
    type: string,
    data: object,
    options: CallOptions | undefined,
    check: CheckOptions,
  ): Promise<AuditEvent | undefined>
  /** A draft of an event of the log itself. */
  ownDraft(type: string, data: object): EventDraft
  /** Records an event of the log itself. It is not counted as a call. */
  recordOwn(type: string, data: object): Promise<AuditEvent | undefined>
  stats(): AuditLogStats
  /** `undefined` unless the store is down. */
  readonly outage: Recorder['outage']
  flush(): Promise<void>
  /** Rejects further calls of the host with `CLOSED`. */
  refuseNew(): void
  /** Resolves when all calls have settled and the last losses and counts are reported. */
  close(): Promise<void>
}

/** Puts recording together: this is the only place that knows all of its parts. */
export function createCalls(dependencies: CallsDependencies): Calls {
  const { store, types, drafts, waiting, now, journal } = dependencies
  const { deadlineMs } = waiting
  const definitions: Definitions = new Map(Object.entries(types))
  const throttling = createThrottling(dependencies)
  const journaling = journal && createJournaling(journal, now)
  const ownDraft = (type: string, data: object): EventDraft => {
    const draft = drafts.system(type, undefined, data)
    outcomes.ownDrafts.add(draft)
    return draft
  }
  const recordOwn: Calls['recordOwn'] = async (type, data) =>
    recorder.add(ownDraft(type, data), { isOwn: true })
  const prepareGap = (data: JsonObject) => {
    const draft = ownDraft(GAP, data)
    const since = recorder.lowerBound(now)
    let earlier: EarlierAttempts | undefined
    return async (ms = deadlineMs) => {
      const deadline = performance.now() + ms
      const call = recorder.add(draft, { isOwn: true, earlier, deadline })
      earlier = { since, until: 0 }
      return call
    }
  }
  const gaps = createGaps(now, prepareGap)
  const onStored = (): void => {
    gaps.onStored()
    intents.look()
  }
  const outcomes = createOutcomes({ ...dependencies, throttling, gaps, onStored })
  const recorder = createRecorder(store, waiting, {
    journaling,
    beforeThrottled: (signal) => throttling.report(signal).catch(() => {}),
    observer: outcomes,
  })
  const idempotency = createIdempotency({ store, recorder, deadlineMs, observer: outcomes })
  const caller = createCaller({ ...dependencies, throttling, outcomes, recorder, idempotency })
  const prepare = createPrepare(definitions, drafts, throttling)
  const system: Calls['system'] = (type, data, options, kind) =>
    caller.call(type, options, kind ?? SYSTEM, () => prepare.system(type, data, options, kind))
  const intents = intentsOf(dependencies, definitions, { caller, system, recorder, outcomes })
  const settleAll = async (): Promise<void> => {
    await Promise.all([recorder.flush(), idempotency.flush()])
  }
  return {
    intents,
    system,
    custom: (type, data, options, check) =>
      caller.call(type, options, CUSTOM, () => {
        check(options)
        return prepare.custom(type, data, options)
      }),
    ownDraft,
    recordOwn,
    stats: () => ({ ...outcomes.counts, waiting: recorder.waiting() }),
    outage: () => recorder.outage(),
    async flush() {
      await settleAll()
      await reportCounts(throttling, deadlineMs)
    },
    refuseNew: () => caller.refuseNew(),
    async close() {
      await intents.stop()
      await settleAll()
      await endReports({ recorder, journaling, throttling, gaps, ownDraft, now, deadlineMs })
      await intents.close()
    },
  }
}

const intentsOf = (
  { store, drafts, limits, now, waiting }: CallsDependencies,
  definitions: Definitions,
  {
    caller,
    system,
    recorder,
    outcomes,
  }: Pick<Calls, 'system'> & {
    readonly caller: Caller
    readonly recorder: Recorder
    readonly outcomes: Outcomes
  },
): IntentKeeper =>
  createIntents({
    ...waiting,
    store,
    now,
    limits,
    newSuffix: drafts.newSuffix,
    makeDraft(type, data, given, more) {
      try {
        const { username, attributes } = callContext(given)
        const context = { username, attributes: { ...attributes, ...more } }
        return drafts.system(type, definitions.get(type), data, context)
      } catch (thrown) {
        throw asAuditLogError(thrown)
      }
    },
    makeUnchecked(type, data, username) {
      const source = definitions.get(type)?.source
      const unchecked = source === undefined ? undefined : { source }
      return drafts.system(type, unchecked, data, callContext(username))
    },
    record: (type, data, options, replaced) => system(type, data, options, { replaced }),
    recordDraft: (draft, replaced) => caller.call(draft.type, undefined, { replaced }, () => draft),
    async recordAgain(draft, earlier) {
      outcomes.ownDrafts.add(draft)
      outcomes.intendedDrafts.add(draft)
      return recorder.add(draft, { isOwn: true, earlier })
    },
  })

// While the store is down, `close` waits no longer than this for the last report.
const DOWN_REPORT_MS = 1000

interface Ending extends Pick<Calls, 'ownDraft'> {
  readonly recorder: Recorder
  readonly journaling: Journaling | undefined
  readonly throttling: Throttling
  readonly gaps: Gaps
  readonly now: Clock
  readonly deadlineMs: number
}

const reportCounts = (throttling: Throttling, ms: number): Promise<void> =>
  throttling.report(AbortSignal.timeout(Math.min(ms, MAX_TIMER_MS))).catch(() => {})

/** Reports the last losses and counts when all calls have settled, and ends recording. */
async function endReports({
  recorder,
  journaling,
  throttling,
  gaps,
  ownDraft,
  now,
  deadlineMs,
}: Ending): Promise<void> {
  const reportMs = (): number =>
    recorder.isDown() ? Math.min(DOWN_REPORT_MS, deadlineMs) : deadlineMs
  await gaps.close(reportMs, async (data) => {
    const draft = ownDraft(GAP, data)
    // The store may have it after an attempt without an answer.
    const since = recorder.lowerBound(now)
    try {
      const deadline = performance.now() + reportMs()
      await recorder.add(draft, { isOwn: true, deadline })
      return true
    } catch {
      if (!journaling) return false
    }
    // The next process stores it.
    const entry = { draft, recordedAt: now(), since }
    return new Promise((resolve) => {
      journaling.add(entry, (error) => resolve(error === undefined))
    })
  })
  const ms = reportMs()
  // Drafts may be suppressed during the replay, so the last report comes after it.
  await recorder.close()
  await reportCounts(throttling, ms)
  throttling.close()
  journaling?.close()
}
