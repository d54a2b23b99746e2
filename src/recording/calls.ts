import { callContext } from './call-context.js'
import { AuditLogError } from '../errors.js'
import type { AuditEvent, EventDraft } from '../event/event.js'
import type { EventTypeDefinition } from '../event/event-types.js'
import { didYouMean, nearest } from '../event/nearest.js'
import type { CallsObserver } from './call-observer.js'
import type { Drafts } from './drafts.js'
import {
  createIntents,
  type IntentKeeper,
  type IntentsDependencies,
  type Replaced,
} from './intents.js'
import type { FailurePolicy } from './failure-policy.js'
import { checkIdempotencyKey } from './idempotency-key.js'
import type { AuditLogStats } from './outcomes.js'
import type { Recorder } from './recorder.js'
import { createPipeline, type Pipeline, type PipelineDependencies } from './pipeline.js'
import { recordChannel } from './record-channel.js'
import { readOnlyError } from '../store/read-only.js'
import type { WaitOptions } from '../store/store.js'
import type { CallThrottle } from './throttle-rules.js'
import type { Throttling } from './throttling.js'

export interface CallOptions extends WaitOptions {
  readonly username?: string | null | undefined
  readonly transaction?: object | undefined
  readonly idempotencyKey?: string | undefined
  readonly throttle?: CallThrottle | undefined
}

export interface CallsDependencies extends PipelineDependencies {
  readonly policyOf: (type: string) => FailurePolicy
}

type Definitions = ReadonlyMap<string, EventTypeDefinition>

type CheckOptions = (options: unknown) => void

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

/** The calls of one log, until they are settled. */
export interface Calls extends Pick<Pipeline, 'ownDraft' | 'recordOwn' | 'flush'> {
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
  stats(): AuditLogStats
  /** `undefined` unless the store is down. */
  readonly outage: Recorder['outage']
  /** Rejects further calls of the host with `CLOSED`. */
  refuseNew(): void
  /** Resolves when all calls have settled and the last losses and counts are reported. */
  close(): Promise<void>
}

/** Compared by identity, which needs no new object for each call. */
const SYSTEM: SystemCall = {}
const CUSTOM: SystemCall = {}
const NOTHING = Promise.resolve(undefined)

/** The host's `enabled` and `resolveSource` may throw anything. */
function asAuditLogError(thrown: unknown): AuditLogError {
  if (thrown instanceof AuditLogError) return thrown
  return new AuditLogError('INVALID_EVENT', 'the event could not be prepared', { cause: thrown })
}

const alsoOnStored = (dependencies: CallsDependencies, onStored: () => void): CallsDependencies => {
  const { observer } = dependencies
  const stored: CallsObserver['stored'] = (events) => {
    observer.stored(events)
    onStored()
  }
  return { ...dependencies, observer: { ...observer, stored } }
}

/** Makes calls of the host, and counts them. */
interface Caller {
  /** `makeDraft` runs synchronously, so that calls keep their order. */
  readonly call: (
    type: string,
    options: CallOptions | undefined,
    kind: SystemCall,
    makeDraft: () => EventDraft | undefined,
  ) => Promise<AuditEvent | undefined>
  readonly refuseNew: () => void
}

function createCaller(dependencies: CallsDependencies, pipeline: Pipeline): Caller {
  const { ledger, throttling, observer } = pipeline
  const adding = createAdding(dependencies, pipeline)
  let isClosed = false
  const unpublished: Caller['call'] = (type, options, kind, makeDraft) => {
    // Not counted: a read-only log cannot record a gap event.
    if (dependencies.store.readOnly) return Promise.reject(readOnlyError())
    const refuse = (thrown: unknown): Promise<never> => {
      const error = asAuditLogError(thrown)
      const system = kind !== CUSTOM
      observer.refused({ type, system, isIntended: kind.replaced !== undefined }, error)
      return Promise.reject(error)
    }
    let draft: EventDraft | undefined
    try {
      if (isClosed) throw new AuditLogError('CLOSED', 'the audit log is closed')
      draft = makeDraft()
    } catch (thrown) {
      ledger.call()
      return refuse(thrown)
    }
    ledger.call()
    if (!draft) {
      ledger.settle('heldBack', type)
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
            audit: dependencies.audit,
            type,
          })
        : unpublished(type, options, kind, makeDraft),
    refuseNew: () => void (isClosed = true),
  }
}

export function createCalls(dependencies: CallsDependencies): Calls {
  const definitions: Definitions = new Map(Object.entries(dependencies.types))
  const pipeline = createPipeline(alsoOnStored(dependencies, () => intents.look()))
  const { ledger, throttling, recorder } = pipeline
  const prepare = createPrepare(definitions, dependencies.drafts, throttling)
  const { call, refuseNew } = createCaller(dependencies, pipeline)
  const system: Calls['system'] = (type, data, options, kind) =>
    call(type, options, kind ?? SYSTEM, () => prepare.system(type, data, options, kind))
  const intents = intentsOf(dependencies, definitions, pipeline, {
    record: (type, data, options, replaced) => system(type, data, options, { replaced }),
    recordDraft: (draft, replaced) => call(draft.type, undefined, { replaced }, () => draft),
  })
  return {
    intents,
    system,
    custom: (type, data, options, check) =>
      call(type, options, CUSTOM, () => {
        check(options)
        return prepare.custom(type, data, options)
      }),
    ownDraft: (type, data) => pipeline.ownDraft(type, data),
    recordOwn: (type, data) => pipeline.recordOwn(type, data),
    stats: () => ({ ...ledger.counts, waiting: recorder.waiting() }),
    outage: () => recorder.outage(),
    flush: () => pipeline.flush(),
    refuseNew,
    async close() {
      await intents.stop()
      await pipeline.close()
      await intents.close()
    },
  }
}

/** Gives drafts to the recorder. The methods throw if the call must be rejected. */
interface Adding {
  add(draft: EventDraft, options: CallOptions | undefined): Promise<AuditEvent | undefined>
  /** Records the outcome of an intent. */
  replace(outcome: EventDraft, replaced: Replaced): Promise<AuditEvent | undefined>
}

function createAdding(
  { policyOf }: CallsDependencies,
  { idempotency, recorder, throttling, intendedDrafts }: Pipeline,
): Adding {
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
      intendedDrafts.add(draft)
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

/** How the outcomes of intents are recorded as calls. */
type IntentCalls = Pick<IntentsDependencies, 'record' | 'recordDraft'>

const intentsOf = (
  { store, drafts, limits, now, waiting }: CallsDependencies,
  definitions: Definitions,
  pipeline: Pipeline,
  calls: IntentCalls,
): IntentKeeper =>
  createIntents({
    ...calls,
    ...waiting,
    store,
    now,
    limits,
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
    recordAgain: (draft, earlier) => pipeline.recordIntended(draft, earlier),
  })

/** Makes the drafts of calls. Throws if a call must be rejected. */
interface Prepare {
  /** `undefined` if the type is disabled or the call is suppressed. */
  system(
    type: string,
    data: object,
    options: CallOptions | undefined,
    kind: SystemCall | undefined,
  ): EventDraft | undefined
  custom(type: string, data: object, options: CallOptions | undefined): EventDraft
}

function createPrepare(definitions: Definitions, drafts: Drafts, throttling: Throttling): Prepare {
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
