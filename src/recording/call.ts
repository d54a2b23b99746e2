import { AuditLogError } from '../errors.js'
import type { AuditEvent, EventDraft, JsonObject } from '../event/event.js'
import type { EventTypeDefinition } from '../event/event-types.js'
import type { IdSuffix } from '../event/event-id.js'
import { didYouMean, nearest } from '../event/nearest.js'
import { readOnlyError } from '../store/read-only.js'
import { checkOptions } from '../options.js'
import { type Collapsing, type CountedCall, KnownCollapse, setCount } from './collapse-rules.js'
import type { Sealing } from '../privacy/sealing.js'
import type { EventStore } from '../store/store.js'
import { happened } from './call-attributes.js'
import { contextOf, withOutcome } from './call-context.js'
import type { Drafts } from './drafts.js'
import type { FailurePolicy } from './failure-policy.js'
import { checkIdempotencyKey, type Idempotency } from './idempotency.js'
import { type Outcomes, recordChannel } from './outcomes.js'
import type { EarlierAttempts } from './queue.js'
import {
  RECORD_OPTIONS,
  type RecordCustomOptions,
  type RecordSystemOptions,
} from './record-options.js'
import type { Recorder } from './recorder.js'
import type { Throttling } from './throttling.js'

/** The options of all calls. */
export type CallOptions = RecordSystemOptions & RecordCustomOptions

/** The intent that an outcome replaces. */
export interface Replaced {
  readonly suffix: IdSuffix
  readonly earlier: EarlierAttempts
  /** The reason and the approvals of the intent, which its outcome has too unless its call gives others. */
  readonly inherited?: JsonObject | undefined
  /** The event of the intent may be stored: by another process, or by an earlier call. */
  readonly isShared: boolean
  /** Called with the draft of the outcome before it is recorded. */
  readonly onDraft?: (draft: EventDraft) => void
}

export interface CallKind {
  /** Records a custom event instead of a system event. */
  readonly isCustom?: true
  /** Rejects a type that the registry does not have. */
  readonly mustBeKnown?: true
  /** Records a live event. */
  readonly live?: true
  /** The method whose options are checked. Missing if the log itself has made the options. */
  readonly method?: keyof typeof RECORD_OPTIONS
  /** The intent that the event replaces. */
  readonly replaced?: Replaced
}

/** The kinds of the calls of `AuditLog`, by method. */
export const CALL_KINDS = {
  record: { method: 'record', mustBeKnown: true },
  recordSystem: { method: 'recordSystem' },
  recordCustom: { method: 'recordCustom', isCustom: true },
  recordChange: { method: 'recordChange', mustBeKnown: true },
  recordLive: { method: 'recordLive', mustBeKnown: true, live: true },
} as const satisfies Readonly<Record<string, CallKind>>

/** A system event of any type. */
const SYSTEM: CallKind = {}
const NOTHING = Promise.resolve(undefined)

/** The host's `enabled` and `resolveSource` may throw anything. */
export function asAuditLogError(thrown: unknown): AuditLogError {
  if (thrown instanceof AuditLogError) return thrown
  return new AuditLogError('INVALID_EVENT', 'the event could not be prepared', { cause: thrown })
}

/** The parts of a log that its calls pass through. */
export interface CallParts {
  /** The log, named in the messages of `daybook:record`. */
  readonly audit: object
  readonly store: EventStore
  readonly definitions: ReadonlyMap<string, EventTypeDefinition>
  readonly drafts: Drafts
  readonly policyOf: (type: string) => FailurePolicy
  readonly throttling: Throttling
  readonly collapsing: Collapsing
  readonly outcomes: Outcomes
  readonly recorder: Recorder
  readonly idempotency: Idempotency
  readonly sealing: Sealing | undefined
}

interface Call {
  readonly type: string
  readonly data: object
  readonly options: CallOptions | undefined
  readonly kind: CallKind
}

const MAX_SOURCE = 2048

/** Throws `INVALID_OPTION`. */
function checkSystemOptions({ collapse, throttle, transaction, source }: CallOptions): void {
  const fault = (message: string): AuditLogError => new AuditLogError('INVALID_OPTION', message)
  if (collapse !== undefined && (throttle !== undefined || transaction !== undefined))
    throw fault(
      `a call with collapse takes no ${throttle === undefined ? 'transaction' : 'throttle'}`,
    )
  if (source === undefined) return
  if (typeof source !== 'string' || !source.startsWith('/') || source.length > MAX_SOURCE)
    throw fault(`source must be a path of at most ${MAX_SOURCE} characters, such as /api/orders/17`)
}

/** The calls that begin a window, by their drafts. */
const firstOf = new WeakMap<EventDraft, CountedCall>()

/** The event of a call that is counted from the second one on: a read, or a request that was refused. */
function happenedEvent(known: KnownCollapse): ReturnType<KnownCollapse['event']> {
  const made = known.event()
  happened.add(made.data)
  return made
}

/** The draft of a system event; `undefined` if the call is suppressed or counted. Throws if it must be rejected. */
function systemDraft(
  { definitions, drafts, throttling, collapsing, sealing }: CallParts,
  call: Call,
): EventDraft | undefined {
  const { type, data: given, options = {}, kind } = call
  const { collapse, transaction } = options
  checkSystemOptions(options)
  sealing?.checkCall(type, {
    isLive: kind.live === true,
    throttle: Object.keys(Object(options.throttle?.scope)),
    collapse: collapse?.by ?? [],
  })
  const definition = definitions.get(type)
  const hasOwnRule = collapsing.hasOwnRule(type)
  const known = collapse instanceof KnownCollapse ? collapse : undefined
  const made = known && hasOwnRule ? happenedEvent(known) : { data: given, source: options.source }
  const throttle = throttling.check(type, made.data, options.throttle)
  if (throttle === 'suppressed') return undefined
  const context = contextOf(call.options, kind.replaced?.inherited)
  const isCounted = collapse !== undefined || hasOwnRule
  const counted =
    isCounted && !throttle && !kind.live && transaction === undefined
      ? collapsing.callOf({ type, definition, ...made, rule: collapse, username: context.username })
      : undefined
  if (counted && collapsing.count(counted)) return undefined
  const { data, source } = known && !hasOwnRule ? happenedEvent(known) : made
  const ending = kind.live ? context : withOutcome(context, definition, data)
  const within = source === undefined ? ending : { ...ending, source }
  const draft = drafts.system(type, definition, data, within)
  if (counted) {
    collapsing.open(counted)
    firstOf.set(draft, counted)
  }
  return throttle || kind.live ? { ...draft, throttle, live: kind.live } : draft
}

/** Makes the draft of a call; `undefined` if the type is disabled or the call is suppressed. Throws if it must be rejected. */
function draftOf(parts: CallParts, call: Call): EventDraft | undefined {
  const { definitions, drafts } = parts
  const { type, data, options, kind } = call
  if (kind.method) checkOptions(options, RECORD_OPTIONS[kind.method], kind.method)
  if (kind.isCustom) {
    const { idempotencyKey, transaction } = options ?? {}
    if (idempotencyKey !== undefined) checkIdempotencyKey(idempotencyKey, transaction)
    return drafts.custom(type, data, contextOf(options))
  }
  const definition = definitions.get(type)
  if (kind.mustBeKnown && !definition) {
    const suggestion = nearest(type, definitions.keys())
    const message = `${type} is not in the registry of event types${didYouMean(suggestion)}`
    throw new AuditLogError('UNKNOWN_EVENT_TYPE', message, { suggestion })
  }
  if (definition?.enabled?.() === false) return undefined
  return systemDraft(parts, call)
}

/** Gives the draft of a call to the recorder. Throws if the call must be rejected. */
function add(
  { policyOf, idempotency, recorder, throttling, collapsing }: CallParts,
  draft: EventDraft,
  { transaction, signal, idempotencyKey }: CallOptions = {},
): Promise<AuditEvent | undefined> {
  const policy = policyOf(draft.type)
  if (idempotencyKey !== undefined)
    return idempotency.record(draft, idempotencyKey, { signal, policy })
  if (transaction !== undefined && !draft.live)
    return recorder.enlist(draft, transaction, { signal })
  if (draft.throttle) throttling.pending(draft)
  const recorded = recorder.add(draft, { signal, policy })
  const first = firstOf.get(draft)
  if (first) recorded.catch(() => collapsing.lost(first))
  return recorded
}

/** Gives the outcome of an intent to the recorder. */
function replace(
  { policyOf, recorder, throttling, outcomes }: CallParts,
  outcome: EventDraft,
  { suffix, earlier, isShared, onDraft }: Replaced,
): Promise<AuditEvent | undefined> {
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
}

/** Makes and counts calls of the host. The draft is made before a method returns, so that calls keep their order. */
export interface Caller {
  readonly record: (
    type: string,
    data: object,
    options?: CallOptions,
    kind?: CallKind,
  ) => Promise<AuditEvent | undefined>
  /** Records the draft of an outcome. */
  replace(outcome: EventDraft, replaced: Replaced): Promise<AuditEvent | undefined>
  /** Rejects further calls with `CLOSED`. */
  refuseNew(): void
}

export function createCaller(parts: CallParts): Caller {
  const { audit, store, definitions, throttling, collapsing, outcomes } = parts
  let isClosed = false
  const unpublished = (call: Call, made?: EventDraft): Promise<AuditEvent | undefined> => {
    // The rejection is not counted, because a read-only log cannot record a gap event.
    if (store.readOnly) return Promise.reject(readOnlyError())
    const { type, options, kind } = call
    const refuse = (thrown: unknown): Promise<never> => {
      const error = asAuditLogError(thrown)
      const isIntended = kind.replaced !== undefined
      outcomes.refused({ type, system: !kind.isCustom, isIntended }, error)
      return Promise.reject(error)
    }
    let draft: EventDraft | undefined
    try {
      if (isClosed) throw new AuditLogError('CLOSED', 'the audit log is closed')
      draft = made ?? draftOf(parts, call)
    } catch (thrown) {
      outcomes.called()
      return refuse(thrown)
    }
    outcomes.called()
    if (!draft) {
      outcomes.suppressedCall(type)
      return NOTHING
    }
    try {
      return kind.replaced ? replace(parts, draft, kind.replaced) : add(parts, draft, options)
    } catch (thrown) {
      if (draft.throttle && options?.transaction === undefined) throttling.lost(draft)
      return refuse(thrown)
    }
  }
  const published = (call: Call, made?: EventDraft): Promise<AuditEvent | undefined> =>
    recordChannel.hasSubscribers
      ? recordChannel.tracePromise(() => unpublished(call, made), { audit, type: call.type })
      : unpublished(call, made)
  setCount(audit, (call) => {
    const { type } = call
    const isPlain = !isClosed && !store.readOnly && !recordChannel.hasSubscribers
    if (!isPlain || collapsing.hasOwnRule(type) || definitions.get(type)?.enabled) return false
    if (!collapsing.count(call)) return false
    outcomes.called()
    outcomes.suppressedCall(type)
    return true
  })
  return {
    record: (type, data, options, kind = SYSTEM) => published({ type, data, options, kind }),
    replace: (outcome, replaced) =>
      published({ type: outcome.type, data: {}, options: undefined, kind: { replaced } }, outcome),
    refuseNew: () => void (isClosed = true),
  }
}
