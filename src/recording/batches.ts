import { setImmediate as nextTurn } from 'node:timers/promises'
import { type FirstTimer, timerDelay } from '../async/timers.js'
import { abortedError, asStoreFailure, type AuditLogError, isOutcomeUnknown } from '../errors.js'
import type { AuditEvent, EventDraft } from '../event/event.js'
import { innermostError } from '../event/realm.js'
import { type Microseconds, parseTimestamp } from '../event/timestamp.js'
import { type AppendOptions, readTuning } from '../store/store.js'
import type { Journaling } from './journaling.js'
import { dueAt, isOpen, type QueueEntry } from './queue.js'
import { createDeadlines, type Recording, type Settlement } from './settlement.js'

/** The drafts that an attempt has stored. */
interface Stored {
  /** The events of the drafts that were not suppressed, in order. */
  readonly events: readonly AuditEvent[]
  /** Drafts with a closed throttle, and the time until it opens. */
  readonly suppressed: ReadonlyMap<EventDraft, Microseconds>
}

/** Attempts to store drafts. At most one of them has not stored its drafts yet. */
export interface Attempts {
  /** The signal of the next attempt. */
  start(): AbortSignal
  readonly abort: () => void
  /** Appends the drafts to the store. Rejects as the store does. */
  run(
    drafts: readonly EventDraft[],
    options: AppendOptions & { readonly signal: AbortSignal },
  ): Promise<Stored>
  /** A time before every event that this process stores from now on. */
  readonly lowerBound: () => Microseconds
}

/** Awaited before each attempt to store drafts with throttles. */
export type BeforeThrottled = (signal: AbortSignal) => Promise<void>

/**
 * Maximum difference by which the clock of this machine may be ahead of the store's clock, before the first attempt.
 */
const MAX_CLOCK_LEAD: Microseconds = 86_400_000_000

export function createAttempts(
  {
    store,
    availability,
    retriedLater,
    now,
  }: Pick<Recording, 'store' | 'availability' | 'retriedLater' | 'now'>,
  beforeThrottled: BeforeThrottled | undefined,
): Attempts {
  let controller = new AbortController()
  /** The greatest `created_at` that the store has returned to this process. */
  let newest: string | undefined
  return {
    start() {
      if (controller.signal.aborted) controller = new AbortController()
      return controller.signal
    },
    abort: () => controller.abort(),
    async run(drafts, options) {
      const suppressed = new Map<EventDraft, Microseconds>()
      if (beforeThrottled && drafts.some((draft) => draft.throttle))
        await beforeThrottled(options.signal)
      const onSuppressed = (draft: EventDraft, opensIn: Microseconds): void =>
        void suppressed.set(draft, opensIn)
      const events = await store.append(drafts, { ...options, retriedLater, onSuppressed })
      availability.on('storeSucceeded')
      const last = events.at(-1)
      // The last event may be older than the newest, if an earlier attempt stored it.
      if (last && (newest === undefined || last.created_at > newest)) newest = last.created_at
      return { events, suppressed }
    },
    lowerBound: () => (newest === undefined ? now() - MAX_CLOCK_LEAD : parseTimestamp(newest)!),
  }
}

/** The parts that write a batch. */
interface Writing extends Recording {
  readonly attempts: Attempts
  readonly settlement: Settlement
  readonly deadlines: FirstTimer
}

/** The result of an attempt to store a batch. */
interface Attempted {
  readonly isStored: boolean
  /**
   * Settles the calls of the batch; `undefined` if they are already settled. Must be called within a turn of the
   * event loop.
   */
  readonly settle: (() => void) | undefined
  /** The entries that need another attempt. */
  readonly again: readonly QueueEntry[]
}

const NONE: readonly never[] = []

/** The events of entries that have not been reported as stored before. */
function newEvents(
  events: readonly AuditEvent[],
  entries: readonly QueueEntry[],
): readonly AuditEvent[] {
  if (!entries.some(({ earlier }) => earlier)) return events
  return events.filter(({ created_at }, i) => {
    const { earlier } = entries[i]!
    return !earlier || parseTimestamp(created_at)! > earlier.until
  })
}

/** Settles the calls of a batch that is stored and durable. */
function settle(
  { settlement, outcomes }: Writing,
  batch: readonly QueueEntry[],
  { events: all, suppressed: times }: Stored,
): void {
  let events = all
  let storedEntries = times.size === 0 ? batch : batch.filter(({ draft }) => !times.has(draft))
  const suppressed =
    times.size === 0 ? NONE : batch.filter((entry) => isOpen(entry) && times.has(entry.draft))
  // Some entries have expired before the disk confirmed the batch.
  if (!storedEntries.every(isOpen)) {
    const entries = storedEntries
    events = events.filter((_, i) => isOpen(entries[i]!))
    storedEntries = entries.filter(isOpen)
  }
  for (const entry of suppressed) {
    settlement.finish(entry)
    outcomes.suppressed(entry.draft, times.get(entry.draft)!)
  }
  for (const entry of storedEntries) settlement.finish(entry)
  const stored = storedEntries.map((entry) => entry.draft)
  if (stored.length > 0) outcomes.stored(newEvents(events, storedEntries), stored)
  for (const [i, entry] of storedEntries.entries()) entry.resolve(events[i])
  for (const entry of suppressed) entry.resolve(undefined)
}

/** `: <message of the innermost cause>` if the store gave a cause of its own, else an empty string. */
function reasonOf(failure: AuditLogError, { reason: abortReason }: AbortSignal): string {
  const innermost = innermostError(failure)
  const { message } = innermost
  return innermost === failure || innermost === abortReason || message === '' ? '' : `: ${message}`
}

/** Settles the calls of a batch whose attempt has failed, or leaves them for another attempt. */
function fail(
  { settlement, availability, attempts }: Writing,
  batch: readonly QueueEntry[],
  failure: AuditLogError,
  signal: AbortSignal,
): Attempted {
  const isDue = dueAt(performance.now())
  const isUnknown = isOutcomeUnknown(failure)
  const isVisible = batch.some(({ stage }) => stage === 'stored')
  if (isUnknown) for (const entry of batch) entry.isInDoubt = true
  const isOver = isUnknown && !isVisible && (signal.aborted || batch.some(isDue))
  if (failure.code !== 'ABORTED' && !isOver) {
    availability.on('storeFailed')
    const settleAll = (): void => {
      for (const entry of batch) settlement.fail(entry, failure)
    }
    return { isStored: false, settle: settleAll, again: NONE }
  }
  const reason = reasonOf(failure, signal)
  const isForJournal = ({ policy }: QueueEntry): boolean => policy === 'queue'
  const lastDue = batch.findLastIndex((entry) => isForJournal(entry) && isDue(entry))
  for (const [i, entry] of batch.entries()) {
    if (isDue(entry)) settlement.expire(entry, failure, reason)
    else if (entry.signal?.aborted) settlement.reject(entry, abortedError(entry.signal))
    // Older calls must get into the journal before newer ones.
    else if (i < lastDue && isForJournal(entry)) settlement.toJournal(entry)
  }
  const again = batch.filter(({ stage }) => stage === 'waiting')
  // The store may have these events already, so the next attempt looks for them.
  if (isUnknown)
    for (const entry of again) entry.earlier ??= { since: attempts.lowerBound(), until: 0 }
  return { isStored: false, settle: undefined, again }
}

/** Tries to store a batch once. `onStored` is called if it is stored before it is durable. */
async function attempt(
  writing: Writing,
  batch: readonly QueueEntry[],
  onStored: () => void,
): Promise<Attempted> {
  const { store, attempts, deadlines, retriedLater } = writing
  const signal = attempts.start()
  let deadline = Infinity
  /** The drafts may have been stored after this time. */
  let since: Microseconds | undefined
  for (const entry of batch) {
    const { earlier, policy } = entry
    if (entry.deadline < deadline) deadline = entry.deadline
    if (earlier) since = Math.min(earlier.since, since ?? Infinity)
    if (policy !== 'queue') continue
    // The journal may give the draft to the store again.
    entry.since ??= attempts.lowerBound()
    retriedLater.add(entry.draft.suffix)
  }
  deadlines.watch(deadline)
  const noteStored = (): void => {
    for (const entry of batch) {
      entry.stage = 'stored'
      entry.isInDoubt = true
    }
    onStored()
  }
  try {
    const drafts = batch.map((entry) => entry.draft)
    const stored = await attempts.run(drafts, { signal, deadline, since, onStored: noteStored })
    return { isStored: true, settle: () => settle(writing, batch, stored), again: NONE }
  } catch (error) {
    return fail(writing, batch, asStoreFailure(store, error), signal)
  }
}

/**
 * The drafts, each suffix once. If a call with an idempotency key is repeated while the store is down, the journal
 * contains the same draft several times.
 */
function uniqueDrafts(drafts: readonly EventDraft[]): readonly EventDraft[] {
  const suffixes = new Set<string>()
  return drafts.filter(({ suffix }) => suffixes.size < suffixes.add(suffix).size)
}

/** Tries once to move the oldest drafts of the journal to the store. Never rejects. */
async function replay(writing: Writing, journaling: Journaling, maxBatch: number): Promise<void> {
  const { availability, attempts, deadlineMs, outcomes, retriedLater } = writing
  const signal = attempts.start()
  const deadline = performance.now() + deadlineMs
  const timer = setTimeout(() => attempts.abort(), timerDelay(deadlineMs)).unref()
  try {
    const floor = attempts.lowerBound()
    await journaling.replay(maxBatch, floor, async (journalled, since) => {
      const drafts = uniqueDrafts(journalled)
      for (const { suffix } of drafts) retriedLater.add(suffix)
      const { events, suppressed } = await attempts.run(drafts, { signal, deadline, since })
      return () => {
        for (const { suffix } of drafts) retriedLater.delete(suffix)
        outcomes.replayed(events, drafts, suppressed)
      }
    })
  } catch {
    availability.on('storeFailed')
  } finally {
    clearTimeout(timer)
  }
}

/** Writes batches and replays the journal while there is work. */
export interface Batches {
  /** Writes the entries of the queue at the end of this turn of the event loop. */
  start(): void
  /** Enforces the deadline of an entry that was added to the queue. */
  readonly watch: FirstTimer['watch']
  /** Aborts a replay; resolves when nothing is in flight. */
  readonly close: () => Promise<void>
}

export function createBatches(
  recording: Recording,
  settlement: Settlement,
  attempts: Attempts,
): Batches {
  const { store, queue, availability, journaling } = recording
  const { maxBatch, appendsInBackground } = readTuning(store)
  const deadlines = createDeadlines(recording, settlement, attempts.abort)
  const writing: Writing = { ...recording, settlement, attempts, deadlines }
  let running: Promise<void> | undefined
  /** Resolves when the calls of all batches so far have their results. */
  let settled: Promise<void> = Promise.resolve()
  let isRetryDue = false
  let isClosing = false
  let endClosing = (): void => {}
  const closing = new Promise<void>((resolve) => (endClosing = resolve))
  const isReplayDue = (): boolean => !isClosing && journaling?.isDue() === true
  const hasWork = (): boolean => !queue.isEmpty() || isReplayDue()
  const isNextDue = (): boolean => appendsInBackground && queue.has(maxBatch) && !isReplayDue()

  /** Resolves when the calls of the batch have their results, after the calls of `earlier` batches. */
  const write = async (
    batch: readonly QueueEntry[],
    earlier: Promise<void>,
    onStored: () => void,
  ): Promise<void> => {
    const { isStored, settle, again } = await attempt(writing, batch, onStored)
    isRetryDue = again.length > 0
    if (settle) await earlier
    if (isStored && isNextDue()) {
      // Starts the next batch in this turn, so that the store works while the calls of this batch continue.
      onStored()
      await nextTurn()
    }
    settle?.()
    queue.land(batch)
    queue.putBack(again)
    if (availability.isDown()) settlement.allToJournal()
  }
  /**
   * Writes the next batch. Resolves when another batch may follow, so that at most two are stored but not durable.
   */
  const writeNext = async (): Promise<void> => {
    isRetryDue = false
    const batch = queue.take(maxBatch)
    if (batch.length === 0) return queue.land(batch)
    const earlier = settled
    await new Promise<void>((resolve) => {
      settled = write(batch, earlier, resolve)
      void settled.then(resolve)
    })
    await Promise.race([earlier, closing])
  }
  const run = async (): Promise<void> => {
    while (hasWork()) {
      // Collects all calls of this turn, and gives the event loop a turn between two commits.
      if (!isNextDue()) await nextTurn()
      if (!queue.isEmpty()) await writeNext()
      // A retry precedes any replay. Otherwise the store would remove events that the failed attempt may have stored.
      if (isRetryDue || !journaling || !isReplayDue()) continue
      await Promise.race([settled, closing])
      await replay(writing, journaling, maxBatch)
    }
    running = undefined
  }
  return {
    start() {
      if (hasWork()) running ??= run()
    },
    watch: deadlines.watch,
    async close() {
      isClosing = true
      endClosing()
      if (queue.inFlight().length === 0 && running) attempts.abort()
      await running
      deadlines.clear()
    },
  }
}
