import { currentActor } from './actor.js'
import type { Drafts } from './drafts.js'
import { AuditLogError } from '../errors.js'
import type { AuditEvent, EventDraft, JsonObject } from '../event/event.js'
import type { EventTypeDefinition, EventTypes } from '../event/event-types.js'
import type { FailurePolicy } from './failure-policy.js'
import { createGaps } from './gaps.js'
import { createIdempotency } from './idempotency.js'
import { checkIdempotencyKey } from './idempotency-key.js'
import type { EventJournal } from '../store/journal.js'
import { createJournaling } from './journaling.js'
import type { JsonLimits } from '../event/json.js'
import { type AuditLogStats, createLedger } from './outcomes.js'
import { createRecorder } from './recorder.js'
import type { EventStore, WaitOptions } from '../store/store.js'
import { createThrottling, type ThrottlePeriods } from './throttling.js'
import { MAX_TIMER_MS } from '../async/timers.js'
import type { Clock } from '../event/timestamp.js'
import type { RecorderOptions } from './queue-limits.js'

export interface CallOptions extends WaitOptions {
  readonly username?: string | null | undefined
  readonly transaction?: object | undefined
  readonly idempotencyKey?: string | undefined
}

/** Told of what became of events. */
export interface CallsObserver {
  stored(events: readonly AuditEvent[]): void
  rejected(type: string, error: AuditLogError): void
  dropped(type: string, error: AuditLogError): void
}

export interface CallsParts {
  /** The log, for those who are told of outcomes. */
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

export interface SystemKind {
  /** Types that the registry lacks are refused. */
  readonly mustBeKnown?: boolean
  readonly live?: true
}

/** The calls of one log, from their making until they are settled. */
export interface Calls {
  /** A call for an event of the system. */
  system(
    type: string,
    data: object,
    options?: CallOptions,
    kind?: SystemKind,
  ): Promise<AuditEvent | undefined>
  custom(type: string, data: object, options?: CallOptions): Promise<AuditEvent | undefined>
  /** An event of the log's own, which is no call. */
  own(type: string, data: object): Promise<AuditEvent | undefined>
  ownDraft(type: string, data: object): EventDraft
  stats(): AuditLogStats
  flush(): Promise<void>
  /** Refuses further calls of the host's. */
  refuse(): void
  /** Settles those made. */
  close(): Promise<void>
}

const NOTHING = Promise.resolve(undefined)
const DOWN_MS = 1000
const GAP = 'warn:audit_log:gap'

/** Null is a user name too: nobody's. */
const usernameOf = (options: CallOptions | undefined): string | null =>
  options?.username === undefined ? (currentActor()?.username ?? null) : options.username

/** The host's `enabled` and `resolveSource` may throw anything. */
function asAuditLogError(thrown: unknown): AuditLogError {
  if (thrown instanceof AuditLogError) return thrown
  return new AuditLogError('INVALID_EVENT', 'the event could not be prepared', { cause: thrown })
}

export function createCalls(parts: CallsParts): Calls {
  const { store, types, drafts, waiting, policyOf, observer, now } = parts
  const ledger = createLedger(parts.audit)
  const own = new WeakSet<EventDraft>()
  const throttling = createThrottling(parts)
  const journaling = parts.journal && createJournaling(parts.journal, now)
  const gaps = createGaps(now, (data) => recordOwn(GAP, data))
  let isClosed = false

  const definitions: ReadonlyMap<string, EventTypeDefinition> = new Map(Object.entries(types))

  const recorder = createRecorder(store, waiting, {
    journaling,
    beforeThrottled: (signal) => throttling.report(signal).catch(() => {}),
    observer: {
      stored(events, kept) {
        for (const draft of kept) if (draft.throttle) throttling.kept(draft)
        const called = kept.filter((draft) => !own.has(draft))
        ledger.settle('stored', ...called.map(({ type }) => type))
        tellStored(events)
      },
      heldBack(draft, opensIn) {
        throttling.heldBack(draft, opensIn)
        ledger.settle('heldBack', draft.type)
      },
      enlisted: ({ type }) => ledger.settle('journalled', type),
      rejected: (draft, error) => rejected(draft, error),
      dropped(draft, error) {
        if (draft.throttle) throttling.lost(draft)
        ledger.settle('dropped', draft.type)
        gaps.lost(draft.type, 'dropped')
        observer.dropped(draft.type, error)
      },
      journalled(draft) {
        if (draft.throttle) throttling.kept(draft)
        ledger.settle('journalled', draft.type)
      },
      replayed(events, replayed, held) {
        for (const draft of replayed) {
          if (!draft.throttle) continue
          const opensIn = held.get(draft)
          if (opensIn === undefined) throttling.kept(draft)
          else throttling.heldBack(draft, opensIn)
        }
        tellStored(events)
      },
    },
  })

  const tellStored = (events: readonly AuditEvent[]): void => {
    observer.stored(events)
    gaps.storeIsBack()
  }
  const refused = (type: string, error: AuditLogError): void => {
    ledger.settle('rejected', type)
    observer.rejected(type, error)
  }

  const rejected = (draft: EventDraft, error: AuditLogError): void => {
    if (draft.throttle) throttling.lost(draft)
    if (own.has(draft)) return
    if (error.code === 'DEADLINE_EXCEEDED') gaps.lost(draft.type, 'deadline_exceeded')
    refused(draft.type, error)
  }

  const idempotency = createIdempotency(store, recorder, waiting.deadlineMs, {
    repeated: ({ type }) => ledger.settle('stored', type),
    rejected,
  })

  /** `prepare` runs at once, so calls keep their order; then the call counts, and goes on. */
  const call = (
    type: string,
    options: CallOptions | undefined,
    prepare: () => EventDraft | undefined,
  ): Promise<AuditEvent | undefined> => {
    const refuse = (thrown: unknown): Promise<never> => {
      const error = asAuditLogError(thrown)
      refused(type, error)
      return Promise.reject(error)
    }
    let draft: EventDraft | undefined
    try {
      if (isClosed) throw new AuditLogError('CLOSED', 'the audit log is closed')
      draft = prepare()
    } catch (thrown) {
      ledger.call()
      return refuse(thrown)
    }
    ledger.call()
    if (!draft) {
      ledger.settle('heldBack', type)
      return NOTHING
    }
    const { transaction, signal, idempotencyKey } = options ?? {}
    try {
      if (idempotencyKey !== undefined)
        return idempotency.record(draft, idempotencyKey, { signal, policy: policyOf(type) })
      if (transaction !== undefined) return recorder.enlist(draft, transaction, { signal })
      // From now on it is known to be on its way.
      if (draft.throttle) throttling.pending(draft)
      return recorder.add(draft, { signal, policy: policyOf(type) })
    } catch (thrown) {
      if (draft.throttle && transaction === undefined) throttling.lost(draft)
      return refuse(thrown)
    }
  }

  const ownDraft = (type: string, data: object): EventDraft => {
    const draft = drafts.system(type, undefined, data)
    own.add(draft)
    return draft
  }
  const recordOwn = async (type: string, data: object): Promise<AuditEvent | undefined> =>
    recorder.add(ownDraft(type, data), { isOwn: true })

  /** What could not be told while the store was there may wait in the journal. */
  const tellLast = async (data: JsonObject): Promise<void> => {
    try {
      if (!recorder.isDown()) return void (await recordOwn(GAP, data))
    } catch {
      // Then as below.
    }
    journaling?.add({ draft: ownDraft(GAP, data), recordedAt: now(), since: undefined }, () => {})
  }

  const settleAll = async (): Promise<void> => {
    await Promise.all([recorder.flush(), idempotency.flush()])
  }

  const report = (ms: number): Promise<void> =>
    throttling.report(AbortSignal.timeout(Math.min(ms, MAX_TIMER_MS))).catch(() => {})

  return {
    system: (type, data, options, kind) =>
      call(type, options, () => {
        const definition = definitions.get(type)
        if (kind?.mustBeKnown && !definition)
          throw new AuditLogError(
            'UNKNOWN_EVENT_TYPE',
            `${type} is not in the registry of event types`,
          )
        if (definition?.enabled?.() === false) return undefined
        const throttle = throttling.gate(type, data)
        if (throttle === 'heldBack') return undefined
        const draft = drafts.system(type, definition, data, usernameOf(options))
        return throttle || kind?.live ? { ...draft, throttle, live: kind?.live } : draft
      }),
    custom: (type, data, options) =>
      call(type, options, () => {
        const { idempotencyKey, transaction } = options ?? {}
        if (idempotencyKey !== undefined) checkIdempotencyKey(idempotencyKey, transaction)
        return drafts.custom(type, data, usernameOf(options))
      }),
    own: recordOwn,
    ownDraft,
    stats: () => ({ ...ledger.counts, waiting: recorder.waiting() }),
    async flush() {
      await settleAll()
      await report(waiting.deadlineMs)
    },
    refuse: () => void (isClosed = true),
    async close() {
      await settleAll()
      const untold = await gaps.close()
      if (untold) await tellLast(untold)
      const { deadlineMs } = waiting
      const reportMs = recorder.isDown() ? Math.min(DOWN_MS, deadlineMs) : deadlineMs
      // What the journal's replay has held back is part of the last report.
      await recorder.close()
      await report(reportMs)
      throttling.close()
      journaling?.close()
    },
  }
}
