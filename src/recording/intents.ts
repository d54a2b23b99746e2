import { createIntervalLoop } from '../async/loops.js'
import { timeoutSignal } from '../async/timeout-signal.js'
import { createAbandonedCheck, type Heartbeat } from '../coordination/heartbeats.js'
import { TIMES } from '../coordination/times.js'
import { AuditLogError, untilAborted } from '../errors.js'
import type { IdSuffix } from '../event/event-id.js'
import type { AuditEvent, EventDraft, JsonObject } from '../event/event.js'
import type { EventData, EventTypes } from '../event/event-types.js'
import type { LinkTable } from '../event/links.js'
import { backgroundOf } from '../store/background.js'
import { checkOptions } from '../options.js'
import { readOnlyError } from '../store/read-only.js'
import { countedEvents } from './counted-events.js'
import {
  earlierThan,
  INTENT_OPTIONS,
  type Intent,
  intendedDraft,
  intentOf,
  type IntentOptions,
  type IntentParts,
  recordAgain,
  withFailure,
  withMissing,
} from './intent.js'
import { createIntentState } from './intent-state.js'
import {
  CLOCK_MARGIN,
  createOpenIntents,
  inTurn,
  type OpenIntent,
  type OpenIntents,
} from './open-intents.js'

/**
 * An intent is durable before the action begins. It is stored outside of the events. If the process ends without an
 * outcome, its heartbeat stops. After about 20 seconds, another process on the store, or the next one, records the
 * event of the intent with `unfinished: true` and, unless the data has one, an `error`. If the store had only refused
 * the event of an outcome, that outcome is recorded.
 */
export interface Intents<
  Types extends EventTypes = EventTypes,
  Links extends LinkTable = LinkTable,
> {
  /**
   * Resolves once the intent is durable. `type` and `data` are the event that is recorded if the process
   * ends; it gets the time of this call as `occurred_at`. Rejects if the store does not keep it: `STORE_FAILED`, `DEADLINE_EXCEEDED`,
   * `OUTCOME_UNKNOWN`, `QUEUE_FULL`, `CLOSED`, `READ_ONLY`; with `INVALID_DATA` for data with an `outcome` and without a reason that the type
   * requires; in strict mode also for other data, and with `INVALID_LINK`.
   */
  open<Type extends keyof Types & string>(
    type: Type,
    data?: EventData<Types[Type], Links>,
    options?: IntentOptions,
  ): Promise<Intent<Types, Links>>
}

/** An intent of the log itself: an event that changes until it is recorded. */
export interface KeptEvent {
  /** Replaces the attributes of the event that another process records if this one ends. They are in the store after the next `save`. */
  change(attributes: JsonObject): void
  /**
   * Records this event, within `ms` milliseconds, and resolves to it, or to the one that another process has recorded. If it
   * rejects, the log tries again every few seconds, and leaves the event to the next process.
   */
  record(draft: EventDraft, ms: number): Promise<AuditEvent | undefined>
}

export interface IntentKeeper extends Intents {
  /** Opens an intent without a limit to their number. It is in the store after the next `save`. */
  keep(draft: EventDraft): KeptEvent
  /** Resolves once the store has all open intents. */
  save(): Promise<void>
  /** The events of counted calls that no process has recorded yet: those of this process, and those of the others as they were saved last. */
  counted(signal: AbortSignal | undefined): Promise<readonly AuditEvent[]>
  /** Sends heartbeats, and looks for the intents of ended processes, until `stop`. */
  start(): void
  /**
   * Searches for these intents now, and repeats this while other processes have intents, at most once a minute. Reads
   * one value of the store.
   */
  look(): void
  /** Stops looking. Resolves when nothing is in flight. */
  stop(): Promise<void>
  /** Leaves open intents to the next process. Call it after `stop`, when all outcomes have settled. */
  close(): Promise<void>
}

/** Maximum time that `close` waits for the store. */
const CLOSE_MS = 1000
const LOOK_AGAIN_MS = 60_000
/** Number of events of intents that are recorded at a time. */
const GROUP = 100

/** Works on one group after another. Stops if all work of a group fails. */
async function inGroups<Item>(
  items: readonly Item[],
  work: (item: Item) => Promise<unknown>,
): Promise<void> {
  for (let start = 0; start < items.length; start += GROUP) {
    const results = await Promise.allSettled(items.slice(start, start + GROUP).map(work))
    if (results.every(({ status }) => status === 'rejected')) return
  }
}

/** Work that is done every few seconds. */
interface Upkeep {
  /**
   * Sends the heartbeat, and searches for processes that have ended. Resolves to false if no other process has
   * intents.
   */
  readonly watch: () => Promise<boolean>
  /** Records the due intents, and the intents of processes that have ended. May take much longer than `watch`. */
  readonly work: () => Promise<void>
  /** Records the event that is due. */
  readonly recordDue: (intent: OpenIntent, ms?: number) => Promise<AuditEvent | undefined>
}

function createUpkeep(parts: IntentParts, isClosed: () => boolean): Upkeep {
  const { book, state, recorder, deadlineMs } = parts
  const findAbandoned = createAbandonedCheck()
  let dead: readonly Heartbeat[] = []
  const recordDue: Upkeep['recordDue'] = (intent, ms) =>
    inTurn(intent, async () => {
      const { due, ended } = intent
      if (!due || ended) return undefined
      // Before the first attempt only another process can have recorded the event.
      const isShared = intent.isTried || (intent.since !== undefined && !state.isOwnFor(deadlineMs))
      const since = (intent.since ??= recorder.lowerBound())
      intent.isTried = true
      const recording = recordAgain(parts, due, isShared ? earlierThan(since) : undefined, ms)
      const recorded = await withFailure(parts, intent, recording)
      const event = await withMissing(parts, intent, due, recorded)
      book.end(intent, { type: due.type, event, isKnown: false })
      return event
    })
  const takeOver = async (owner: Heartbeat): Promise<void> => {
    using wait = timeoutSignal(deadlineMs)
    const left = await state.claim(owner, wait.signal)
    if (!left) return
    const until = left.readAt - CLOCK_MARGIN
    const recorded: IdSuffix[] = []
    await inGroups(Object.entries(left.intents), async ([suffix, { since, ...event }]) => {
      const json = JSON.stringify(event.attributes)
      await recordAgain(parts, { ...event, suffix, system: true, json }, { since, until })
      recorded.push(suffix)
    })
    using forgetting = timeoutSignal(deadlineMs)
    await left.forget(recorded, forgetting.signal)
  }
  return {
    recordDue,
    async watch() {
      using wait = timeoutSignal(deadlineMs)
      book.checkOwner()
      if (book.open.size > 0) await state.beat(wait.signal)
      const others = await state.others(wait.signal)
      dead = findAbandoned(others)
      return others.length > 0
    },
    async work() {
      await inGroups(
        [...book.open.values()].filter(({ due }) => due),
        (intent) => recordDue(intent),
      )
      if (!book.isSaved()) await book.save()
      for (const owner of dead) if (!isClosed()) await takeOver(owner)
    },
  }
}

function keptEvent(
  book: OpenIntents,
  { recordDue }: Pick<Upkeep, 'recordDue'>,
  draft: EventDraft,
): KeptEvent {
  const intent = book.add(draft, true)
  return {
    change: (attributes) => book.change(intent, attributes),
    record(event, ms) {
      book.keep(intent, event)
      return recordDue(intent, ms)
    },
  }
}

export function createIntents(given: Omit<IntentParts, 'state' | 'book'>): IntentKeeper {
  const { store, deadlineMs, maxWaiting } = given
  const background = backgroundOf(store)
  const state = createIntentState(store, background.store)
  const book = createOpenIntents(given, state)
  const parts = { ...given, state, book }
  let isStopped = false
  /** True once this process has opened an intent. */
  let isUsed = false
  let lookedAt = background.onLook ? -Infinity : performance.now()
  const upkeep = createUpkeep(parts, () => isStopped)
  /** The work in progress. It must not delay the heartbeat. If the store fails, the next call completes it. */
  let working: Promise<void> | undefined
  const settled = (): void => void (working = undefined)
  const work = (): void => void (working ??= upkeep.work().then(settled, settled))
  const checks = createIntervalLoop(async () => {
    let goesOn = isUsed
    if (book.open.size > 0 || background.isOpen()) {
      lookedAt = performance.now()
      const areOthersThere = await upkeep.watch().catch(() => true)
      work()
      goesOn = isUsed || areOthersThere || book.open.size > 0
    }
    if (goesOn) checks.start()
    else checks.pause()
  }, TIMES.work.everyMs)
  const mayLook = (): boolean => !isStopped && !store.readOnly
  const look = (): void => {
    const isDue = performance.now() - lookedAt >= LOOK_AGAIN_MS
    if (mayLook() && isDue && !checks.isOn()) checks.now()
  }
  background.onLook?.(look)
  const hasTimer = mayLook() && !background.onLook
  const first = hasTimer ? setTimeout(checks.now, TIMES.work.everyMs).unref() : undefined
  return {
    async open(type: string, data: object = {}, options: IntentOptions = {}) {
      checkOptions(options, INTENT_OPTIONS, 'open of intents')
      if (isStopped) throw new AuditLogError('CLOSED', 'the audit log is closed')
      if (store.readOnly) throw readOnlyError()
      if (book.hosted() >= maxWaiting)
        throw new AuditLogError('QUEUE_FULL', `${book.hosted()} intents are already open`)
      const intent = book.add(intendedDraft(parts, type, data, options))
      try {
        await book.save()
      } catch (error) {
        book.end(intent, 'cancelled')
        throw error
      }
      return intentOf(parts, intent)
    },
    keep(draft) {
      if (mayLook()) checks.start()
      return keptEvent(book, upkeep, draft)
    },
    save: () => book.save(),
    counted: (signal) => countedEvents(parts, signal),
    start() {
      isUsed = true
      if (mayLook()) checks.start()
    },
    look: background.onLook ? () => {} : look,
    async stop() {
      isStopped = true
      clearTimeout(first)
      await checks.stop()
      await working
    },
    async close() {
      book.close()
      using wait = timeoutSignal(Math.min(CLOSE_MS, deadlineMs))
      try {
        await (book.open.size === 0
          ? state.leave(wait.signal)
          : untilAborted(book.save(), wait.signal))
      } catch {
        // After a failure, the next process finds the recorded outcomes.
      }
    },
  }
}
