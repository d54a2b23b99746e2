import { timeoutSignal } from '../async/timeout-signal.js'
import type { EarlierAttempts } from './earlier-attempts.js'
import { AuditLogError, untilAborted } from '../errors.js'
import type { AuditEvent, EventDraft, JsonObject } from '../event/event.js'
import type { IdSuffix } from '../event/event-id.js'
import type { EventData, EventTypes } from '../event/event-types.js'
import { failureOf } from '../event/failure.js'
import { type JsonLimits, toJsonText } from '../event/json.js'
import { type Clock, formatTimestamp, type Microseconds } from '../event/timestamp.js'
import { createIntentState, type DeadOwner, type IntentState } from './intent-state.js'
import {
  CLOCK_MARGIN,
  createOpenIntents,
  inTurn,
  type OpenIntent,
  type OpenIntents,
} from './open-intents.js'
import { backgroundOf } from '../store/background.js'
import { HEARTBEAT_MS } from '../store/liveness.js'
import { readOnlyError } from '../store/read-only.js'
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

/**
 * An action that is about to begin and that the store has recorded. It becomes exactly one event, or none: the
 * first outcome that is stored stands. Calls of one intent take effect one after the other.
 */
export interface Intent<Types extends EventTypes = EventTypes> {
  /**
   * Records the outcome in place of the intent, as `recordSystem` does. If that rejects, the log tries
   * again every few seconds, and a repeated call at once. Resolves to the event of the intent if it has ended
   * with an event of this type. Rejects with `INTENT_ENDED` if it has ended otherwise, or after `fail`.
   */
  record<Type extends keyof Types & string>(
    type: Type,
    data?: EventData<Types[Type]>,
    options?: OutcomeOptions,
  ): Promise<AuditEvent | undefined>
  /**
   * Records the event of the intent with the attribute `error`, which is the message of an error or a text, and
   * with `backtrace`, the stack of an error; both without recognisable secrets. Resolves to the event once it is durable; to
   * `undefined` if the journal has it. If it rejects, the log tries again every few seconds, and if the process ends,
   * another process records the failure. The error of the first call stands. If `record` has resolved, resolves to
   * its event; if it has rejected, and the store has kept the outcome all the same, the failure becomes an event of its own after it. After
   * `cancel` rejects with `INTENT_ENDED`. Rejects as `recordSystem` does.
   */
  fail(error: unknown): Promise<AuditEvent | undefined>
  /**
   * Removes the intent. Resolves once it is removed; if the store fails, it is removed later. Has no effect
   * if the intent has ended, or after `fail`. Rejects with `CLOSED` if the log is closed: then the intent stays.
   */
  cancel(): Promise<void>
}

/**
 * An intent is durable before the action begins; it is stored outside of the events. If the process
 * ends before an outcome is recorded, another process on the store, or the next one, records the event
 * of the intent when its heartbeat has been missing for about 20 seconds: with `unfinished: true` and, unless the data has
 * it, an `error`; or with the outcome, if the store had only refused its event.
 */
export interface Intents<Types extends EventTypes = EventTypes> {
  /**
   * Resolves once the intent is durable. `type` and `data` are the event that is recorded if the process
   * ends; it gets the time of this call as `occurred_at`. Rejects if the store does not keep it: `STORE_FAILED`, `DEADLINE_EXCEEDED`,
   * `OUTCOME_UNKNOWN`, `QUEUE_FULL`, `CLOSED`, `READ_ONLY`; in strict mode also with `INVALID_DATA` and `INVALID_LINK`.
   */
  open<Type extends keyof Types & string>(
    type: Type,
    data?: EventData<Types[Type]>,
    options?: IntentOptions,
  ): Promise<Intent<Types>>
}

/** What an outcome replaces. */
export interface Replaced {
  readonly suffix: IdSuffix
  readonly earlier: EarlierAttempts
  /** The event of the intent may be stored: by another process, or by an earlier call. */
  readonly isShared: boolean
  /** Called with the draft of the outcome before it is recorded. */
  readonly onDraft?: (draft: EventDraft) => void
}

export interface IntentsDependencies {
  readonly store: EventStore
  readonly now: Clock
  readonly deadlineMs: number
  readonly maxWaiting: number
  readonly limits: JsonLimits
  /** Makes the draft of a call with the attributes of `more` that the data lacks. Throws as the call would reject. */
  readonly makeDraft: (
    type: string,
    data: object,
    username: IntentOptions['username'],
    more: JsonObject,
  ) => EventDraft
  readonly newSuffix: () => IdSuffix
  /** As `makeDraft`, but does not check the data. */
  readonly makeUnchecked: (
    type: string,
    data: object,
    username: IntentOptions['username'],
  ) => EventDraft
  /** Records the outcome of an intent as a call of the host. */
  readonly record: (
    type: string,
    data: object,
    options: OutcomeOptions,
    replaced: Replaced,
  ) => Promise<AuditEvent | undefined>
  /** Records the draft of an outcome as a call of the host. */
  readonly recordDraft: (draft: EventDraft, replaced: Replaced) => Promise<AuditEvent | undefined>
  /** Records a draft that is not a call, unless an earlier attempt has. */
  readonly recordAgain: (
    draft: EventDraft,
    earlier: EarlierAttempts,
  ) => Promise<AuditEvent | undefined>
}

export interface IntentKeeper extends Intents {
  /** Sends heartbeats, and looks for the intents of processes that have ended until `stop`. */
  start(): void
  /** Looks for them now, and while other processes have intents; at most once a minute. Reads one value of the store. */
  look(): void
  /** Stops looking. Resolves when nothing is in flight. */
  stop(): Promise<void>
  /** Leaves open intents to the next process. Call it after `stop`, when all outcomes have settled. */
  close(): Promise<void>
}

/** What the event of an intent has until its outcome is known. */
const UNFINISHED = {
  unfinished: true,
  error: 'the process ended before the outcome was recorded',
}

/** How long `close` waits for the store. */
const CLOSE_MS = 1000
const LOOK_AGAIN_MS = 60_000
/** How many events of intents are recorded at a time. */
const GROUP = 100

const earlierThan = (since: Microseconds): EarlierAttempts => ({ since, until: since })

const endedError = (how: string): AuditLogError =>
  new AuditLogError('INTENT_ENDED', `the outcome is not recorded: the intent ${how}`)

/** Works on a group at a time, until the work on all of one group fails. */
async function inGroups<Item>(
  items: readonly Item[],
  work: (item: Item) => Promise<unknown>,
): Promise<void> {
  for (let start = 0; start < items.length; start += GROUP) {
    const results = await Promise.allSettled(items.slice(start, start + GROUP).map(work))
    if (results.every(({ status }) => status === 'rejected')) return
  }
}

/**
 * Records the failure once more, as an event of its own, if the store has kept an outcome whose call was rejected: a failed
 * action would look done.
 */
async function withFailure(
  { newSuffix, recordAgain }: IntentsDependencies,
  intent: OpenIntent,
  recorded: Promise<AuditEvent | undefined>,
): Promise<AuditEvent | undefined> {
  const event = await recorded
  const { failure, since } = intent
  if (!event || !failure || event.attributes['unfinished'] === true) return event
  if (event.attributes['error'] === failure.attributes['error']) return event
  intent.secondSuffix ??= newSuffix()
  return recordAgain({ ...failure, suffix: intent.secondSuffix }, earlierThan(since!))
}

/** What is done every few seconds. */
interface Upkeep {
  /** Sends the heartbeat, and looks for processes that have ended. Resolves to false if no other process has intents. */
  readonly watch: () => Promise<boolean>
  /** Records what is due, and the intents of processes that have ended. May take much longer than `watch`. */
  readonly work: () => Promise<void>
}

function createUpkeep(
  dependencies: IntentsDependencies,
  state: IntentState,
  book: OpenIntents,
  isClosed: () => boolean,
): Upkeep {
  const { recordAgain, deadlineMs } = dependencies
  let dead: readonly DeadOwner[] = []
  const recordDue = (intent: OpenIntent): Promise<void> =>
    inTurn(intent, async () => {
      const { due, ended, since } = intent
      if (!due || ended) return
      const recording = recordAgain(due, earlierThan(since!))
      const event = await withFailure(dependencies, intent, recording)
      book.end(intent, { type: due.type, event, isKnown: false })
    })
  const takeOver = async (owner: DeadOwner): Promise<void> => {
    using wait = timeoutSignal(deadlineMs)
    const left = await owner.claim(wait.signal)
    if (!left) return
    const until = left.readAt - CLOCK_MARGIN
    const recorded: IdSuffix[] = []
    await inGroups(Object.entries(left.intents), async ([suffix, { since, ...event }]) => {
      const json = JSON.stringify(event.attributes)
      await recordAgain({ ...event, suffix, system: true, json }, { since, until })
      recorded.push(suffix)
    })
    using forgetting = timeoutSignal(deadlineMs)
    await left.forget(recorded, forgetting.signal)
  }
  return {
    async watch() {
      using wait = timeoutSignal(deadlineMs)
      if (book.open.size > 0) await state.beat(wait.signal)
      const others = await state.others(wait.signal)
      dead = others.dead
      return others.areThere
    },
    async work() {
      await inGroups(
        [...book.open.values()].filter(({ due }) => due),
        recordDue,
      )
      if (!book.isSaved()) await book.save()
      for (const owner of dead) if (!isClosed()) await takeOver(owner)
    },
  }
}

/** What two copies of a value have changed. */
function bothChanges(first: JsonObject, second: JsonObject | undefined): JsonObject {
  if (!second) return first
  const pointers = [first, second].flatMap(({ replaced }) => replaced as string[])
  const cut = [first, second].map(({ cut_bytes }) => cut_bytes as number)
  return { replaced: [...new Set(pointers)], cut_bytes: cut[0]! + cut[1]! }
}

/** The draft of an intent's event with the error. Calls no function of the host, which may throw. */
function failedDraft(
  { suffix, opened: { attributes: opened, ...event } }: OpenIntent,
  limits: JsonLimits,
  error: unknown,
): EventDraft {
  const { unfinished: _, recording, ...data } = opened
  const taken = recording === undefined ? 0 : Buffer.byteLength(JSON.stringify({ recording }))
  const room = { ...limits, maxBytes: limits.maxBytes - taken }
  const { attributes, json } = toJsonText({ ...data, ...failureOf(error) }, room)
  const draft = { ...event, suffix, system: true }
  if (recording === undefined) return { ...draft, attributes, json }
  const changes = attributes['recording'] as JsonObject | undefined
  const all = { ...attributes, recording: bothChanges(recording as JsonObject, changes) }
  return { ...draft, attributes: all, json: JSON.stringify(all) }
}

/** What the methods of an intent do when it is their turn. */
interface IntentCalls {
  record(
    intent: OpenIntent,
    type: string,
    data: object,
    options: OutcomeOptions,
  ): Promise<AuditEvent | undefined>
  fail(intent: OpenIntent, draft: EventDraft): Promise<AuditEvent | undefined>
  cancel(intent: OpenIntent): Promise<void>
}

function createIntentCalls(
  dependencies: IntentsDependencies,
  state: IntentState,
  book: OpenIntents,
): IntentCalls {
  const { makeUnchecked, record, recordDraft, deadlineMs, limits } = dependencies
  /** Records an outcome, and ends the intent if that succeeds. */
  const end = async (
    intent: OpenIntent,
    type: string,
    call: (replaced: Replaced) => Promise<AuditEvent | undefined>,
  ): Promise<AuditEvent | undefined> => {
    const { suffix, since, isTried } = intent
    const isShared = isTried || !state.isOwnFor(deadlineMs)
    intent.isTried = true
    const event = await call({ suffix, earlier: earlierThan(since!), isShared })
    book.end(intent, { type, event, isKnown: true })
    // No event has the id of the intent, so another process would record it once more.
    if (!event) book.saveSoon()
    return event
  }
  return {
    async record(intent, type, data, options) {
      const { ended } = intent
      if (ended === 'cancelled') throw endedError('was cancelled')
      if (ended && ended.type !== type) throw endedError(`has ended as an event ${ended.type}`)
      if (ended) return ended.event
      let outcome: EventDraft | undefined
      const onDraft = (draft: EventDraft): void => void (outcome = draft)
      try {
        return await end(intent, type, (replaced) =>
          record(type, data, options, { ...replaced, onDraft }),
        )
      } catch (thrown) {
        try {
          outcome ??= makeUnchecked(type, data, options.username)
        } catch {
          outcome = failedDraft(intent, limits, thrown)
        }
        book.keep(intent, outcome)
        book.saveSoon()
        throw thrown
      }
    },
    async fail(intent, draft) {
      const { ended } = intent
      if (ended === 'cancelled') throw endedError('was cancelled')
      if (ended?.isKnown) return ended.event
      if (ended) {
        const event = await withFailure(dependencies, intent, Promise.resolve(ended.event))
        intent.ended = { ...ended, event, isKnown: true }
        return event
      }
      book.keep(intent, draft)
      try {
        return await end(intent, draft.type, (replaced) =>
          withFailure(dependencies, intent, recordDraft(draft, replaced)),
        )
      } catch (thrown) {
        book.saveSoon()
        throw thrown
      }
    },
    async cancel(intent) {
      if (intent.ended) return
      if (book.isClosed()) throw new AuditLogError('CLOSED', 'the audit log is closed')
      book.end(intent, 'cancelled')
      await book.save().catch(() => {})
    },
  }
}

/** The intent as the host has it. */
const intentOf = (calls: IntentCalls, intent: OpenIntent, limits: JsonLimits): Intent => ({
  async record(type: string, data?: object, options: OutcomeOptions = {}) {
    checkOptions(options, OUTCOME_OPTIONS, 'record of an intent')
    if (intent.failure) throw endedError('has failed')
    return inTurn(intent, () => calls.record(intent, type, data ?? {}, options))
  },
  async fail(error) {
    intent.failure ??= failedDraft(intent, limits, error)
    const draft = intent.failure
    return inTurn(intent, () => calls.fail(intent, draft))
  },
  async cancel() {
    if (!intent.failure) await inTurn(intent, () => calls.cancel(intent))
  },
})

/** Calls `run` every few seconds while it resolves to true, until it is stopped. */
function createRepeated(run: () => Promise<boolean>) {
  let timer: NodeJS.Timeout | undefined
  let running: Promise<void> = Promise.resolve()
  let isStopped = false
  const now = (): void => {
    running = run().then((goesOn) => (goesOn ? start() : pause()))
  }
  const start = (): void => {
    if (!isStopped) timer ??= setInterval(now, HEARTBEAT_MS).unref()
  }
  const pause = (): void => {
    clearInterval(timer)
    timer = undefined
  }
  return {
    isOn: () => timer !== undefined,
    start,
    now,
    async stop() {
      isStopped = true
      pause()
      await running
    },
  }
}

/** Runs work that is not running yet. If the store fails, the next run does what is left. */
function oneAtATime<Result>(work: () => Promise<Result>): () => Promise<Result | undefined> {
  let running: Promise<Result | undefined> | undefined
  return () =>
    (running ??= work()
      .catch(() => undefined)
      .finally(() => (running = undefined)))
}

export function createIntents(dependencies: IntentsDependencies): IntentKeeper {
  const { store, now, deadlineMs, maxWaiting, limits, makeDraft } = dependencies
  const background = backgroundOf(store)
  const state = createIntentState(store, background.store)
  const book = createOpenIntents(dependencies, state)
  const calls = createIntentCalls(dependencies, state, book)
  let isStopped = false
  /** This process opens intents. */
  let isUsed = false
  let lookedAt = background.onLook ? -Infinity : performance.now()
  const upkeep = createUpkeep(dependencies, state, book, () => isStopped)
  const [watch, work] = [oneAtATime(upkeep.watch), oneAtATime(upkeep.work)]
  const checks = createRepeated(async () => {
    if (book.open.size === 0 && !background.isOpen()) return isUsed
    lookedAt = performance.now()
    const found = await watch()
    // Work that takes long does not delay the heartbeat.
    await work()
    return isUsed || found !== false
  })
  const mayLook = (): boolean => !isStopped && !store.readOnly
  const look = (): void => {
    const isDue = performance.now() - lookedAt >= LOOK_AGAIN_MS
    if (mayLook() && isDue && !checks.isOn()) checks.now()
  }
  background.onLook?.(look)
  const hasTimer = mayLook() && !background.onLook
  const first = hasTimer ? setTimeout(checks.now, HEARTBEAT_MS).unref() : undefined
  return {
    async open(type: string, data?: object, options: IntentOptions = {}) {
      checkOptions(options, INTENT_OPTIONS, 'open of intents')
      if (isStopped) throw new AuditLogError('CLOSED', 'the audit log is closed')
      if (store.readOnly) throw readOnlyError()
      if (book.open.size >= maxWaiting)
        throw new AuditLogError('QUEUE_FULL', `${book.open.size} intents are already open`)
      const more = { occurred_at: formatTimestamp(now()), ...UNFINISHED }
      const intent = book.add(makeDraft(type, data ?? {}, options.username, more))
      try {
        await book.save()
      } catch (error) {
        book.end(intent, 'cancelled')
        throw error
      }
      return intentOf(calls, intent, limits)
    },
    start() {
      isUsed = true
      if (mayLook()) checks.start()
    },
    look: background.onLook ? () => {} : look,
    async stop() {
      isStopped = true
      clearTimeout(first)
      await checks.stop()
    },
    async close() {
      book.close()
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
