import { setImmediate as nextTurn } from 'node:timers/promises'
import { timeoutSignal } from '../async/timeout-signal.js'
import { type CallContext, callContext } from './call-context.js'
import type { EarlierAttempts } from './earlier-attempts.js'
import { AuditLogError, untilAborted } from '../errors.js'
import type { AuditEvent, EventDraft } from '../event/event.js'
import type { IdSuffix } from '../event/event-id.js'
import { type Clock, formatTimestamp, type Microseconds } from '../event/timestamp.js'
import {
  createIntentState,
  type DeadOwner,
  type IntendedEvent,
  type IntentState,
} from './intent-state.js'
import { asStoreFailure } from './store-failure.js'
import { HEARTBEAT_MS } from '../store/liveness.js'
import type { EventStore } from '../store/store.js'
import type { CallThrottle } from './throttle-rules.js'
import { checkOptions, type OptionNames } from '../options.js'

export interface IntentOptions {
  readonly username?: string | null | undefined
}

export interface OutcomeOptions extends IntentOptions {
  /** As that of `recordSystem`. If it holds the event back, the intent is removed. */
  readonly throttle?: CallThrottle | undefined
}

const INTENT_OPTIONS: OptionNames<IntentOptions> = { username: true }
const OUTCOME_OPTIONS: OptionNames<OutcomeOptions> = { ...INTENT_OPTIONS, throttle: true }

/** An action that is about to begin and that the store has recorded. It becomes exactly one event, or none. */
export interface Intent {
  /**
   * Records the outcome in place of the intent, as `recordSystem` does. If that rejects, the log tries
   * again every few seconds.
   */
  record(type: string, data: object, options?: OutcomeOptions): Promise<AuditEvent | undefined>
  /** Records the event of the intent, with this `error`. Later, if the store fails. */
  fail(error: string): void
  /** Removes the intent. Resolves once it is removed; if the store fails, it is removed later. */
  cancel(): Promise<void>
}

/**
 * An intent is durable before the action begins; it is stored outside of the events. If the process
 * ends before an outcome is recorded, another process on the store, or the next one, records the event
 * of the intent when its heartbeat has been missing for about 20 seconds.
 */
export interface Intents {
  /**
   * Resolves once the intent is durable. `type` and `data` are the event that is recorded if the process
   * ends. Rejects if the store does not keep it: `STORE_FAILED`, `DEADLINE_EXCEEDED`, `OUTCOME_UNKNOWN`,
   * `QUEUE_FULL`, `CLOSED`, `READ_ONLY`.
   */
  open(type: string, data: object, options?: IntentOptions): Promise<Intent>
}

/** What an outcome replaces. */
export interface Replaced {
  readonly suffix: IdSuffix
  readonly earlier: EarlierAttempts
  /** Another process may have recorded the event of the intent. */
  readonly isShared: boolean
}

export interface IntentsDependencies {
  readonly store: EventStore
  readonly now: Clock
  readonly deadlineMs: number
  readonly maxWaiting: number
  readonly makeDraft: (type: string, data: object, context: CallContext) => EventDraft
  /** Records the outcome of an intent as a call of the host. */
  readonly record: (
    type: string,
    data: object,
    options: OutcomeOptions,
    replaced: Replaced,
  ) => Promise<AuditEvent | undefined>
  /** Records a draft that is not a call, unless an earlier attempt has. */
  readonly recordAgain: (draft: EventDraft, earlier: EarlierAttempts) => Promise<unknown>
}

export interface IntentKeeper extends Intents {
  /** Begins to look for the intents of processes that have ended. */
  start(): void
  /** Stops looking. Resolves when nothing is in flight. */
  stop(): Promise<void>
  /** Leaves open intents to the next process. Call it after `stop`, when all outcomes have settled. */
  close(): Promise<void>
}

// An event's `created_at` may be slightly before a time that its store returned earlier.
const CLOCK_MARGIN: Microseconds = 1_000_000
/** How long `close` waits for the store. */
const CLOSE_MS = 1000

const earlierThan = (since: Microseconds): EarlierAttempts => ({ since, until: since })

/** Saves for all callers of a turn together, and one save after another. */
function grouped(save: () => Promise<void>): () => Promise<void> {
  let running: Promise<unknown> = Promise.resolve()
  let next: Promise<void> | undefined
  return () => {
    next ??= running.then(nextTurn).then(() => {
      next = undefined
      const saving = save()
      running = saving.catch(() => {})
      return saving
    })
    return next
  }
}

type OpenIntent = Omit<IntendedEvent, 'since'> & { since?: Microseconds }

/** The open intents of this process. */
interface IntentBook {
  readonly open: Map<IdSuffix, OpenIntent>
  /** Events of open intents that have to be recorded. */
  readonly due: Map<IdSuffix, EventDraft>
  /** True if the store has the open intents and no others. */
  isSaved(): boolean
  /** Resolves once the store has the open intents. */
  save(): Promise<void>
  /** The removal is written with the next intents, or by the next check. */
  remove(suffix: IdSuffix): void
}

function createBook(
  { store, deadlineMs }: Pick<IntentsDependencies, 'store' | 'deadlineMs'>,
  state: IntentState,
): IntentBook {
  const open: IntentBook['open'] = new Map()
  const due: IntentBook['due'] = new Map()
  let isSaved = true
  const withTimes = (time: Microseconds): Record<IdSuffix, IntendedEvent> => {
    for (const intent of open.values()) intent.since ??= time - CLOCK_MARGIN
    return Object.fromEntries(open) as Record<IdSuffix, IntendedEvent>
  }
  return {
    open,
    due,
    isSaved: () => isSaved,
    save: grouped(async () => {
      using wait = timeoutSignal(deadlineMs)
      isSaved = true
      try {
        await state.save(withTimes, wait.signal)
      } catch (thrown) {
        isSaved = false
        const failure = asStoreFailure(store, thrown)
        if (failure.code !== 'ABORTED') throw failure
        const message = `the ${store.name} store did not keep the intent within ${deadlineMs} ms`
        throw new AuditLogError('DEADLINE_EXCEEDED', message, { cause: failure })
      }
    }),
    remove(suffix) {
      open.delete(suffix)
      due.delete(suffix)
      isSaved = false
    },
  }
}

/** What is done every few seconds. */
interface Upkeep {
  /** Sends the heartbeat, and looks for processes that have ended. */
  readonly watch: () => Promise<void>
  /** Records what is due, and the intents of processes that have ended. May take much longer than `watch`. */
  readonly work: () => Promise<void>
}

function createUpkeep(
  { makeDraft, recordAgain, deadlineMs }: IntentsDependencies,
  state: IntentState,
  book: IntentBook,
  isClosed: () => boolean,
): Upkeep {
  let dead: readonly DeadOwner[] = []
  const recordDue = async (): Promise<void> => {
    for (const [suffix, draft] of book.due) {
      await recordAgain(draft, earlierThan(book.open.get(suffix)!.since!))
      book.remove(suffix)
    }
  }
  const takeOver = async (owner: DeadOwner): Promise<void> => {
    using wait = timeoutSignal(deadlineMs)
    const { intents, readAt, forget } = await owner.read(wait.signal)
    const until = readAt - CLOCK_MARGIN
    for (const [suffix, { type, username, attributes, since }] of Object.entries(intents))
      await recordAgain({ ...makeDraft(type, attributes, { username }), suffix }, { since, until })
    await forget(wait.signal)
  }
  return {
    async watch() {
      using wait = timeoutSignal(deadlineMs)
      if (book.open.size > 0) await state.beat(wait.signal)
      dead = await state.dead(wait.signal)
    },
    async work() {
      await recordDue()
      if (!book.isSaved()) await book.save()
      for (const owner of dead) if (!isClosed()) await takeOver(owner)
    },
  }
}

/** Runs work that is not running yet. If the store fails, the next run does what is left. */
function oneAtATime(work: () => Promise<void>): () => Promise<void> {
  let running: Promise<void> | undefined
  return () =>
    (running ??= work()
      .catch(() => {})
      .finally(() => (running = undefined)))
}

/** An intent that is saved. */
function savedIntent(
  { makeDraft, record, deadlineMs }: IntentsDependencies,
  state: IntentState,
  book: IntentBook,
  suffix: IdSuffix,
): Intent {
  const { type, username, attributes, since } = book.open.get(suffix) as IntendedEvent
  const earlier = earlierThan(since)
  const recordLater = (draft: EventDraft): void => void book.due.set(suffix, { ...draft, suffix })
  const fail = (error: string): void =>
    recordLater(makeDraft(type, { ...attributes, error }, { username }))
  return {
    async record(outcome, data, options = {}) {
      checkOptions(options, OUTCOME_OPTIONS, 'record of an intent')
      try {
        const replaced = { suffix, earlier, isShared: !state.isOwnFor(deadlineMs) }
        const event = await record(outcome, data, options, replaced)
        book.remove(suffix)
        // No event has the id of the intent, so another process would record it once more.
        if (!event) void book.save().catch(() => {})
        return event
      } catch (thrown) {
        try {
          recordLater(makeDraft(outcome, data, callContext(options.username)))
        } catch {
          fail((thrown as Error).message)
        }
        throw thrown
      }
    },
    fail,
    async cancel() {
      book.remove(suffix)
      await book.save().catch(() => {})
    },
  }
}

export function createIntents(dependencies: IntentsDependencies): IntentKeeper {
  const { store, now, deadlineMs, maxWaiting, makeDraft } = dependencies
  const state = createIntentState(store)
  const book = createBook(dependencies, state)
  let isClosed = false
  const upkeep = createUpkeep(dependencies, state, book, () => isClosed)
  const [watch, work] = [oneAtATime(upkeep.watch), oneAtATime(upkeep.work)]
  let timer: NodeJS.Timeout | undefined
  let checking: Promise<unknown> = Promise.resolve()
  return {
    async open(type, data, options = {}) {
      checkOptions(options, INTENT_OPTIONS, 'open of intents')
      if (isClosed) throw new AuditLogError('CLOSED', 'the audit log is closed')
      if (book.open.size >= maxWaiting)
        throw new AuditLogError('QUEUE_FULL', `${book.open.size} intents are already open`)
      const occurred_at = formatTimestamp(now())
      const draft = makeDraft(type, { ...data, occurred_at }, callContext(options.username))
      const { suffix, username, attributes } = draft
      book.open.set(suffix, { type, username, attributes })
      try {
        await book.save()
      } catch (error) {
        book.remove(suffix)
        throw error
      }
      return savedIntent(dependencies, state, book, suffix)
    },
    start() {
      // Work that takes long does not delay the heartbeat.
      timer ??= setInterval(() => void (checking = watch().then(work)), HEARTBEAT_MS).unref()
    },
    async stop() {
      isClosed = true
      clearInterval(timer)
      await checking
    },
    async close() {
      using wait = timeoutSignal(Math.min(CLOSE_MS, deadlineMs))
      try {
        await (book.open.size === 0
          ? state.leave(wait.signal)
          : untilAborted(book.save(), wait.signal))
      } catch {
        // The next process finds the outcomes that are recorded.
      }
    },
  }
}
