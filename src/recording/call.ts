import { callContext } from './call-context.js'
import type { Drafts } from './drafts.js'
import { AuditLogError } from '../errors.js'
import type { AuditEvent, EventDraft } from '../event/event.js'
import type { EventTypeDefinition } from '../event/event-types.js'
import { didYouMean, nearest } from '../event/nearest.js'
import type { FailurePolicy } from './failure-policy.js'
import type { Idempotency } from './idempotency.js'
import { checkIdempotencyKey } from './idempotency-key.js'
import type { Replaced } from './intents.js'
import { type Outcomes, recordChannel } from './outcomes.js'
import type { Recorder } from './recorder.js'
import { readOnlyError } from '../store/read-only.js'
import type { EventStore, WaitOptions } from '../store/store.js'
import type { CallThrottle } from './throttle-rules.js'
import type { Throttling } from './throttling.js'

export interface CallOptions extends WaitOptions {
  readonly username?: string | null | undefined
  readonly transaction?: object | undefined
  readonly idempotencyKey?: string | undefined
  readonly throttle?: CallThrottle | undefined
}

export type Definitions = ReadonlyMap<string, EventTypeDefinition>

export type CheckOptions = (options: unknown) => void

export interface SystemCall {
  /** Reject a type that the registry does not have. */
  readonly mustBeKnown?: boolean
  /** Record a live event. */
  readonly live?: true
  /** Throws for options that the call does not have. Without it they are the log's own. */
  readonly check?: CheckOptions
  /** The event replaces an intent. */
  readonly replaced?: Replaced
}

/** Compared by identity, which needs no new object for each call. */
export const SYSTEM: SystemCall = {}
export const CUSTOM: SystemCall = {}
const NOTHING = Promise.resolve(undefined)

/** The host's `enabled` and `resolveSource` may throw anything. */
export function asAuditLogError(thrown: unknown): AuditLogError {
  if (thrown instanceof AuditLogError) return thrown
  return new AuditLogError('INVALID_EVENT', 'the event could not be prepared', { cause: thrown })
}

export interface CallerDependencies {
  /** The log, named in the messages of `daybook:record`. */
  readonly audit: object
  readonly store: EventStore
  readonly policyOf: (type: string) => FailurePolicy
  readonly throttling: Throttling
  readonly outcomes: Outcomes
  readonly recorder: Recorder
  readonly idempotency: Idempotency
}

/** Makes the drafts of calls. Throws if a call must be rejected. */
export interface Prepare {
  /** `undefined` if the type is disabled or the call is suppressed. */
  system(
    type: string,
    data: object,
    options: CallOptions | undefined,
    kind: SystemCall | undefined,
  ): EventDraft | undefined
  custom(type: string, data: object, options: CallOptions | undefined): EventDraft
}

export function createPrepare(
  definitions: Definitions,
  drafts: Drafts,
  throttling: Throttling,
): Prepare {
  return {
    system(type, data, options, kind) {
      kind?.check?.(options)
      const definition = definitions.get(type)
      if (kind?.mustBeKnown && !definition) {
        const suggestion = nearest(type, definitions.keys())
        const message = `${type} is not in the registry of event types${didYouMean(suggestion)}`
        throw new AuditLogError('UNKNOWN_EVENT_TYPE', message, { suggestion })
      }
      if (definition?.enabled?.() === false) return undefined
      const throttle = throttling.check(type, data, options?.throttle)
      if (throttle === 'heldBack') return undefined
      const draft = drafts.system(type, definition, data, callContext(options?.username))
      return throttle || kind?.live ? { ...draft, throttle, live: kind?.live } : draft
    },
    custom(type, data, options) {
      const { idempotencyKey, transaction } = options ?? {}
      if (idempotencyKey !== undefined) checkIdempotencyKey(idempotencyKey, transaction)
      return drafts.custom(type, data, callContext(options?.username))
    },
  }
}

/** Makes calls of the host, and counts them. */
export interface Caller {
  /** `makeDraft` runs synchronously, so that calls keep their order. */
  readonly call: (
    type: string,
    options: CallOptions | undefined,
    kind: SystemCall,
    makeDraft: () => EventDraft | undefined,
  ) => Promise<AuditEvent | undefined>
  readonly refuseNew: () => void
}

export function createCaller(dependencies: CallerDependencies): Caller {
  const { audit, store, throttling, outcomes } = dependencies
  const adding = createAdding(dependencies)
  let isClosed = false
  const unpublished: Caller['call'] = (type, options, kind, makeDraft) => {
    // Not counted: a read-only log cannot record a gap event.
    if (store.readOnly) return Promise.reject(readOnlyError())
    const refuse = (thrown: unknown): Promise<never> => {
      const error = asAuditLogError(thrown)
      const system = kind !== CUSTOM
      outcomes.refused({ type, system, isIntended: kind.replaced !== undefined }, error)
      return Promise.reject(error)
    }
    let draft: EventDraft | undefined
    try {
      if (isClosed) throw new AuditLogError('CLOSED', 'the audit log is closed')
      draft = makeDraft()
    } catch (thrown) {
      outcomes.called()
      return refuse(thrown)
    }
    outcomes.called()
    if (!draft) {
      outcomes.suppressed(type)
      return NOTHING
    }
    try {
      if (kind.replaced) return adding.replace(draft, kind.replaced)
      return adding.add(draft, options)
    } catch (thrown) {
      if (draft.throttle && options?.transaction === undefined) throttling.lost(draft)
      return refuse(thrown)
    }
  }
  return {
    call: (type, options, kind, makeDraft) =>
      recordChannel.hasSubscribers
        ? recordChannel.tracePromise(() => unpublished(type, options, kind, makeDraft), {
            audit,
            type,
          })
        : unpublished(type, options, kind, makeDraft),
    refuseNew: () => void (isClosed = true),
  }
}

/** Gives drafts to the recorder. The methods throw if the call must be rejected. */
interface Adding {
  add(draft: EventDraft, options: CallOptions | undefined): Promise<AuditEvent | undefined>
  /** Records the outcome of an intent. */
  replace(outcome: EventDraft, replaced: Replaced): Promise<AuditEvent | undefined>
}

function createAdding({
  policyOf,
  idempotency,
  recorder,
  throttling,
  outcomes,
}: CallerDependencies): Adding {
  return {
    add(draft, { transaction, signal, idempotencyKey } = {}) {
      const policy = policyOf(draft.type)
      if (idempotencyKey !== undefined)
        return idempotency.record(draft, idempotencyKey, { signal, policy })
      if (transaction !== undefined && !draft.live)
        return recorder.enlist(draft, transaction, { signal })
      if (draft.throttle) throttling.pending(draft)
      return recorder.add(draft, { signal, policy })
    },
    replace(outcome, { suffix, earlier, isShared, onDraft }) {
      onDraft?.(outcome)
      const draft = { ...outcome, suffix }
      const policy = policyOf(draft.type)
      outcomes.intendedDrafts.add(draft)
      if (draft.throttle) throttling.pending(draft)
      // A journalled event may be stored after the heartbeat of this process has ended.
      const mustSearch = isShared || policy === 'queue'
      return recorder.add(draft, {
        policy: policy === 'drop' ? 'block' : policy,
        ...(mustSearch && { earlier }),
      })
    },
  }
}
