import { setImmediate as nextTurn } from 'node:timers/promises'
import { timeoutSignal } from '../async/timeout-signal.js'
import { asStoreFailure, AuditLogError, untilAborted } from '../errors.js'
import type { AuditEvent, EventDraft, JsonObject } from '../event/event.js'
import type { IdSuffix } from '../event/event-id.js'
import type { Microseconds } from '../event/timestamp.js'
import type { IntendedEvent, IntendedEvents, IntentState } from './intent-state.js'
import type { Sealing, SealingPlan } from '../privacy/sealing.js'
import type { EventStore } from '../store/store.js'

// An event's `created_at` may be slightly before a time that its store returned earlier.
export const CLOCK_MARGIN: Microseconds = 1_000_000

/** The content of the event of an intent. */
export type EventOfIntent = Omit<IntendedEvent, 'since'>

export interface EndedIntent {
  readonly type: string
  readonly event: AuditEvent | undefined
  /** True if the call of the host has resolved to the event. */
  readonly isKnown: boolean
}

/** An intent of this process. */
export interface OpenIntent {
  readonly suffix: IdSuffix
  /** Opened by the log itself: the process records its event at the end of a window. */
  readonly isOwn: boolean
  /** The event as it was opened. */
  readonly opened: EventOfIntent
  /** The event that another process records if this process ends. */
  event: EventOfIntent
  since: Microseconds | undefined
  /** An outcome that is not stored. */
  due: EventDraft | undefined
  /** The outcome if the action has failed. */
  failure: EventDraft | undefined
  /** The suffix of a second event: see `withFailure`. */
  secondSuffix: IdSuffix | undefined
  /** True if an outcome may be stored. */
  isTried: boolean
  /** The last call of this intent. Each call waits for the one before. */
  running: Promise<void> | undefined
  ended: EndedIntent | 'cancelled' | undefined
}

/** The open intents of this process. */
export interface OpenIntents {
  readonly open: ReadonlyMap<IdSuffix, OpenIntent>
  /** The number of the intents that the host has opened. */
  readonly hosted: () => number
  /** Notes that another process may have recorded events of the log itself. Called before each heartbeat. */
  checkOwner(): void
  add(draft: EventDraft, isOwn?: boolean): OpenIntent
  /** Replaces the attributes of the event that another process records if this process ends. */
  change(intent: OpenIntent, attributes: JsonObject): void
  /** Stores an outcome that is not recorded yet. Other processes record it instead of the intent. */
  keep(intent: OpenIntent, outcome: EventDraft): void
  /** Ends the intent. The store gets the removal with the next intents, or at the next check. */
  end(intent: OpenIntent, how: NonNullable<OpenIntent['ended']>): void
  /** True if the store has the open intents and no others. */
  isSaved(): boolean
  /** Resolves once the store has the open intents. */
  save(): Promise<void>
  /** Saves soon, without an error if the store fails. */
  saveSoon(): void
  /** Nothing is saved after this, except by `save`. */
  close(): void
  isClosed(): boolean
}

const noop = (): void => {}

const eventOf = ({ type, username, source, attributes }: EventOfIntent): EventOfIntent => ({
  type,
  username,
  source,
  attributes,
})

/** Calls `work` when all earlier calls for the intent have settled, or at once. */
export function inTurn<Result>(intent: OpenIntent, work: () => Promise<Result>): Promise<Result> {
  const result = intent.running ? intent.running.then(work) : work()
  const settled: Promise<void> = result.then(noop, noop).finally(() => {
    if (intent.running === settled) intent.running = undefined
  })
  intent.running = settled
  return result
}

/** Saves for all callers of a turn together, and one save after another. */
function grouped(save: () => Promise<void>): () => Promise<void> {
  let running: Promise<unknown> = Promise.resolve()
  let next: Promise<void> | undefined
  return () => {
    next ??= running.then(nextTurn).then(() => {
      next = undefined
      const saving = save()
      running = saving.catch(noop)
      return saving
    })
    return next
  }
}

interface OpenIntentsParts {
  readonly store: EventStore
  readonly deadlineMs: number
  readonly sealing?: Sealing | undefined
}

/** The events of intents as the store has them: without readable personal values. */
function createSavedEvents(sealing: Sealing | undefined) {
  const sealed = new WeakMap<EventOfIntent, EventOfIntent>()
  const planOf = ({ suffix, event }: OpenIntent): SealingPlan | undefined =>
    sealing?.plan({ ...event, suffix, system: true })
  return {
    /** Encrypts the personal values of the events. Rejects with `KEYS_UNAVAILABLE`. */
    async seal(intents: Iterable<OpenIntent>, signal: AbortSignal): Promise<void> {
      if (!sealing) return
      const unsealed = [...intents].flatMap((intent) => {
        const plan = sealed.has(intent.event) ? undefined : planOf(intent)
        return plan ? [{ event: intent.event, plan }] : []
      })
      if (unsealed.length === 0) return
      const plans = unsealed.map(({ plan }) => plan)
      const attributes = await untilAborted(sealing.all(plans, { signal }), signal)
      for (const [i, { event }] of unsealed.entries())
        sealed.set(event, { ...event, attributes: attributes[i]! })
    },
    eventOf(intent: OpenIntent): EventOfIntent {
      const found = sealed.get(intent.event)
      if (found) return found
      // The event has changed while keys were read; the next save has the values.
      const plan = planOf(intent)
      return plan ? { ...intent.event, attributes: plan.rest } : intent.event
    },
  }
}

export function createOpenIntents(
  { store, deadlineMs, sealing }: OpenIntentsParts,
  state: IntentState,
): OpenIntents {
  const open = new Map<IdSuffix, OpenIntent>()
  const saved = createSavedEvents(sealing)
  let isSaved = true
  let isClosed = false
  let hosted = 0
  const checkOwner = (): void => {
    if (state.isOwnFor(0)) return
    for (const intent of open.values())
      if (intent.isOwn && intent.since !== undefined) intent.isTried = true
  }
  const withTimes = (time: Microseconds): IntendedEvents => {
    const intended: Record<IdSuffix, IntendedEvent> = {}
    for (const [suffix, intent] of open) {
      // Its event is later than this save, unless another process may have recorded it: a search for it stays short.
      if (intent.isOwn && !intent.isTried) intent.since = undefined
      intent.since ??= time - CLOCK_MARGIN
      intended[suffix] = { ...saved.eventOf(intent), since: intent.since }
    }
    return intended
  }
  const save = grouped(async () => {
    using wait = timeoutSignal(deadlineMs)
    isSaved = true
    checkOwner()
    try {
      await saved.seal(open.values(), wait.signal)
      await state.save(withTimes, wait.signal)
    } catch (thrown) {
      isSaved = false
      const failure = asStoreFailure(store, thrown)
      if (failure.code !== 'ABORTED') throw failure
      const message = `the ${store.name} store did not keep the intent within ${deadlineMs} ms`
      throw new AuditLogError('DEADLINE_EXCEEDED', message, { cause: failure })
    }
  })
  return {
    open,
    checkOwner,
    hosted: () => hosted,
    add(draft, isOwn = false) {
      const { suffix } = draft
      const opened = eventOf(draft)
      const nothing = { since: undefined, due: undefined, failure: undefined }
      const idle = { secondSuffix: undefined, isTried: false, running: undefined, ended: undefined }
      const intent: OpenIntent = { suffix, isOwn, opened, event: opened, ...nothing, ...idle }
      open.set(suffix, intent)
      if (!isOwn) hosted++
      return intent
    },
    change(intent, attributes) {
      intent.event = { ...intent.opened, attributes }
      isSaved = false
    },
    keep(intent, outcome) {
      intent.due = { ...outcome, suffix: intent.suffix, throttle: undefined }
      intent.event = eventOf(outcome)
      isSaved = false
    },
    end(intent, how) {
      intent.ended = how
      if (open.delete(intent.suffix) && !intent.isOwn) hosted--
      isSaved = false
    },
    isSaved: () => isSaved,
    save,
    saveSoon() {
      if (!isClosed) void save().catch(noop)
    },
    close: () => void (isClosed = true),
    isClosed: () => isClosed,
  }
}
