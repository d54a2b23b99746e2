import type { AuditLogError } from '../errors.js'
import type { AuditEvent, EventDraft } from '../event/event.js'
import { GAP, type Gaps } from './gaps.js'
import type { IdempotencyObserver } from './idempotency.js'
import { lossReason } from './losses.js'
import type { Ledger } from './outcomes.js'
import type { RecorderObserver } from './recorder.js'
import type { Throttling } from './throttling.js'

/** Receives the outcomes of events. */
export interface CallsObserver {
  stored(events: readonly AuditEvent[]): void
  /** `isLost`: a gap event will report it. */
  rejected(type: string, error: AuditLogError, isLost: boolean): void
  dropped(type: string, error: AuditLogError): void
}

export interface RefusedCall extends Pick<EventDraft, 'type' | 'system'> {
  /** An intent is kept, which becomes an event later. */
  readonly isIntended: boolean
}

export interface CallObserver extends RecorderObserver, IdempotencyObserver {
  /** A call was rejected before it had a draft. */
  refused(call: RefusedCall, error: AuditLogError): void
}

export interface CallObserverDependencies {
  readonly ledger: Ledger
  readonly throttling: Throttling
  readonly gaps: Gaps
  /** Drafts that the log itself records: they are not calls. */
  readonly ownDrafts: WeakSet<EventDraft>
  /** Drafts that are recorded again if they are rejected, because an intent is kept: they are not lost. */
  readonly intendedDrafts: WeakSet<EventDraft>
  readonly observer: CallsObserver
}

/** Passes the outcome of each draft to the throttles, the counters, the gaps and the observer. */
export function createCallObserver({
  ledger,
  throttling,
  gaps,
  ownDrafts,
  intendedDrafts,
  observer,
}: CallObserverDependencies): CallObserver {
  const publishStored = (events: readonly AuditEvent[]): void => {
    observer.stored(events)
    gaps.onStored()
  }
  const refused: CallObserver['refused'] = ({ type, system, isIntended }, error) => {
    const reason = isIntended ? undefined : lossReason(system, error)
    if (reason) gaps.lost(type, reason)
    ledger.settle('rejected', type)
    observer.rejected(type, error, reason !== undefined)
  }
  return {
    stored(events, drafts) {
      for (const draft of drafts) if (draft.throttle) throttling.stored(draft)
      const calls = drafts.filter((draft) => !ownDrafts.has(draft))
      ledger.settle('stored', ...calls.map(({ type }) => type))
      publishStored(events)
    },
    repeated: ({ type }) => ledger.settle('stored', type),
    heldBack(draft, opensIn) {
      throttling.heldBack(draft, opensIn)
      ledger.settle('heldBack', draft.type)
    },
    enlisted: ({ type }) => ledger.settle('journalled', type),
    refused,
    rejected(draft, error) {
      if (draft.throttle) throttling.lost(draft)
      const isIntended = intendedDrafts.has(draft)
      const { type, system } = draft
      if (!ownDrafts.has(draft)) return refused({ type, system, isIntended }, error)
      // The losses of a gap event are reported again.
      if (draft.type !== GAP && !isIntended) gaps.lost(draft.type, lossReason(true, error)!)
      return undefined
    },
    dropped(draft, error) {
      if (draft.throttle) throttling.lost(draft)
      ledger.settle('dropped', draft.type)
      gaps.lost(draft.type, error.code === 'OUTCOME_UNKNOWN' ? 'outcome_unknown' : 'dropped')
      observer.dropped(draft.type, error)
    },
    journalled(draft) {
      if (draft.throttle) throttling.stored(draft)
      ledger.settle('journalled', draft.type)
    },
    replayed(events, drafts, heldBack) {
      for (const draft of drafts) {
        if (!draft.throttle) continue
        const opensIn = heldBack.get(draft)
        if (opensIn === undefined) throttling.stored(draft)
        else throttling.heldBack(draft, opensIn)
      }
      publishStored(events)
    },
  }
}
