import { channel, tracingChannel } from 'node:diagnostics_channel'
import type { AuditLogError } from '../errors.js'
import type { AuditEvent, EventDraft } from '../event/event.js'
import type { Microseconds } from '../event/timestamp.js'
import { GAP, type Gaps, lossReason } from './losses.js'
import type { Throttling } from './throttling.js'

/** The result of a call of `record` or one of its variants. */
export type Outcome = 'stored' | 'suppressed' | 'rejected' | 'dropped' | 'journalled'

/**
 * Counts of all calls so far. At every moment `calls = stored + suppressed + rejected + dropped + journalled +
 * waiting`. Events of the log itself are not counted.
 */
export interface AuditLogStats {
  readonly calls: number
  /** Calls that resolved to their event. */
  readonly stored: number
  /** Suppressed by a throttle, or disabled by the type's `enabled`. */
  readonly suppressed: number
  /** Calls without a stored event. Only after `OUTCOME_UNKNOWN` the event may be stored. */
  readonly rejected: number
  /** Lost under the failure policy `drop`. */
  readonly dropped: number
  /** Written to a transaction of the host, or to the journal under the failure policy `queue`. */
  readonly journalled: number
  readonly waiting: number
}

/** Message of the channel `daybook:outcome` (`node:diagnostics_channel`), one for each call. */
export interface OutcomeMessage {
  /** The log of the call; a process may have several. */
  readonly audit: object
  readonly type: string
  readonly outcome: Outcome
}

const outcomeChannel = channel('daybook:outcome')

/** Message of the tracing channel `daybook:record`: one object for each call, sent at each of its stages. */
export interface RecordMessage {
  /** The log of the call; a process may have several. */
  readonly audit: object
  readonly type: string
  /**
   * Set in `asyncStart` and `asyncEnd`: the durable event, or `undefined` if the call resolved without one.
   * See {@link OutcomeMessage}.
   */
  readonly result?: AuditEvent | undefined
  /** Set in `error`, `asyncStart` and `asyncEnd` if the call was rejected. */
  readonly error?: AuditLogError
}

/** The subscribers of this channel get the calls of all logs of the process. */
export const recordChannel = tracingChannel<unknown, RecordMessage>('daybook:record')

/** Receives the outcomes of events for the host. */
export interface CallsObserver {
  stored(events: readonly AuditEvent[]): void
  /** `isLost` is true if a gap event will report the loss. */
  rejected(type: string, error: AuditLogError, isLost: boolean): void
  dropped(type: string, error: AuditLogError): void
}

export interface RefusedCall extends Pick<EventDraft, 'type' | 'system'> {
  /** True if the intent is kept. It becomes an event later. */
  readonly isIntended: boolean
}

/**
 * The outcomes of drafts in order. An outcome is noted before its call settles. From then on the call does not count
 * as waiting.
 */
export interface DraftOutcomes {
  /** The drafts are stored. `events` leaves out events that were reported as stored before. */
  stored(events: readonly AuditEvent[], drafts: readonly EventDraft[]): void
  /** The draft's throttle is closed. It opens in `opensIn`. */
  suppressed(draft: EventDraft, opensIn: Microseconds): void
  /** The draft is part of a transaction of the host. */
  enlisted(draft: EventDraft): void
  rejected(draft: EventDraft, error: AuditLogError): void
  dropped(draft: EventDraft, error: AuditLogError): void
  journalled(draft: EventDraft): void
  /** Drafts of the journal were stored as these events, except the drafts in `suppressed`. */
  replayed(
    events: readonly AuditEvent[],
    drafts: readonly EventDraft[],
    suppressed: ReadonlyMap<EventDraft, Microseconds>,
  ): void
}

/** Receives all outcomes of a log. */
export interface Outcomes extends DraftOutcomes {
  readonly counts: Readonly<Record<Outcome | 'calls', number>>
  /** A call begins. */
  called(): void
  /** A call ends without a draft: its type is disabled, or its throttle is known to be closed. */
  suppressedCall(type: string): void
  /** A call was rejected before it had a draft. */
  refused(call: RefusedCall, error: AuditLogError): void
  /** An earlier call has stored the event. */
  repeated(draft: EventDraft): void
  /** Drafts of the log itself. They are not calls. */
  readonly ownDrafts: WeakSet<EventDraft>
  /** Drafts that are not lost after a rejection, because their intent records them again. */
  readonly intendedDrafts: WeakSet<EventDraft>
}

export interface OutcomesDependencies {
  readonly audit: object
  readonly throttling: Throttling
  readonly gaps: Pick<Gaps, 'lost'>
  readonly observer: CallsObserver
  /** Called after events are stored. */
  readonly onStored: () => void
}

/** Passes the outcome of each draft to the throttles, the counts, the gaps and the host. */
export function createOutcomes(dependencies: OutcomesDependencies): Outcomes {
  const { audit, throttling, gaps, observer, onStored } = dependencies
  const counts = { calls: 0, stored: 0, suppressed: 0, rejected: 0, dropped: 0, journalled: 0 }
  const ownDrafts = new WeakSet<EventDraft>()
  const intendedDrafts = new WeakSet<EventDraft>()
  /** Counts one call for each type, then publishes the outcomes. */
  const settle = (outcome: Outcome, ...types: readonly string[]): void => {
    counts[outcome] += types.length
    if (!outcomeChannel.hasSubscribers) return
    for (const type of types)
      outcomeChannel.publish({ audit, type, outcome } satisfies OutcomeMessage)
  }
  const publishStored = (events: readonly AuditEvent[]): void => {
    observer.stored(events)
    onStored()
  }
  const refused: Outcomes['refused'] = ({ type, system, isIntended }, error) => {
    const reason = isIntended ? undefined : lossReason(system, error)
    if (reason) gaps.lost(type, reason)
    settle('rejected', type)
    observer.rejected(type, error, reason !== undefined)
  }
  return {
    counts,
    ownDrafts,
    intendedDrafts,
    called: () => void counts.calls++,
    suppressedCall: (type) => settle('suppressed', type),
    refused,
    repeated: ({ type }) => settle('stored', type),
    stored(events, drafts) {
      for (const draft of drafts) if (draft.throttle) throttling.stored(draft)
      const calls = drafts.filter((draft) => !ownDrafts.has(draft))
      settle('stored', ...calls.map(({ type }) => type))
      publishStored(events)
    },
    suppressed(draft, opensIn) {
      throttling.suppressed(draft, opensIn)
      settle('suppressed', draft.type)
    },
    enlisted: ({ type }) => settle('journalled', type),
    rejected(draft, error) {
      if (draft.throttle) throttling.lost(draft)
      const isIntended = intendedDrafts.has(draft)
      const { type, system } = draft
      if (!ownDrafts.has(draft)) return refused({ type, system, isIntended }, error)
      // The losses of a rejected gap event are reported again.
      if (draft.type !== GAP && !isIntended) gaps.lost(draft.type, lossReason(true, error)!)
      return undefined
    },
    dropped(draft, error) {
      if (draft.throttle) throttling.lost(draft)
      settle('dropped', draft.type)
      gaps.lost(draft.type, error.code === 'OUTCOME_UNKNOWN' ? 'outcome_unknown' : 'dropped')
      observer.dropped(draft.type, error)
    },
    journalled(draft) {
      if (draft.throttle) throttling.stored(draft)
      settle('journalled', draft.type)
    },
    replayed(events, drafts, suppressed) {
      for (const draft of drafts) {
        if (!draft.throttle) continue
        const opensIn = suppressed.get(draft)
        if (opensIn === undefined) throttling.stored(draft)
        else throttling.suppressed(draft, opensIn)
      }
      publishStored(events)
    },
  }
}
