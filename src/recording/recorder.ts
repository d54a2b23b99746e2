import { setImmediate as nextTurn } from 'node:timers/promises'
import { type EarlierAttempts, newsOf, onceEach, searchedSince } from './earlier-attempts.js'
import { createEnlisting, type Enlisting } from './enlisting.js'
import { abortedError, AuditLogError, throwIfAborted } from '../errors.js'
import type { AuditEvent, EventDraft } from '../event/event.js'
import type { IdTail } from '../event/event-id.js'
import { type FailurePolicy, isCovered } from './failure-policy.js'
import type { Journaling } from './journaling.js'
import { asStoreFailure, reasonOf } from './store-failure.js'
import type { AppendOptions, EventStore, WaitOptions } from '../store/store.js'
import { MAX_TIMER_MS } from '../async/timers.js'
import { type Microseconds, parseTimestamp } from '../event/timestamp.js'
import { createWaitingRoom, type RecorderOptions } from './queue-limits.js'

/** How far this machine's clock may be ahead of the store's, where nothing better is known. */
const DAY: Microseconds = 86_400_000_000

const timerMs = (ms: number): number => Math.min(Math.max(1, Math.ceil(ms)), MAX_TIMER_MS)

export interface AddOptions extends WaitOptions {
  /** @default 'block' */
  readonly policy?: FailurePolicy | undefined
  /** When it has waited for long enough, on the scale of `performance.now()`. */
  readonly expires?: number | undefined
  readonly earlier?: EarlierAttempts | undefined
  /** Not a call of the host's: `waiting` leaves it out. */
  readonly isOwn?: boolean | undefined
}

interface Entry {
  readonly draft: EventDraft
  readonly policy: FailurePolicy
  readonly isOwn: boolean
  /** Bytes of its JSON text. */
  readonly bytes: number
  /** On the scale of `performance.now()`. */
  readonly expires: number
  readonly resolve: (event: AuditEvent | undefined) => void
  readonly reject: (error: AuditLogError) => void
  readonly signal: AbortSignal | undefined
  onAbort: (() => void) | undefined
  settled: boolean
  /** On its way into the journal. */
  isLeaving: boolean
  /** When the call was made, for the journal. */
  readonly calledAt: Microseconds | undefined
  readonly earlier: EarlierAttempts | undefined
  /** What an attempt may have kept of it is later than this; without an attempt there is none. */
  since: Microseconds | undefined
  /** Those who flush; mostly nobody does. */
  onSettled: (() => void)[] | undefined
}

/** Told of what became of drafts, in order, before their calls settle and after they count as such. */
export interface RecorderObserver {
  /** The drafts are events now; of these the news are given. */
  stored(news: readonly AuditEvent[], drafts: readonly EventDraft[]): void
  /** The draft's throttle is closed, for so long. */
  heldBack(draft: EventDraft, opensIn: Microseconds): void
  /** Handed over to a transaction of the host's. */
  enlisted(draft: EventDraft): void
  rejected(draft: EventDraft, error: AuditLogError): void
  dropped(draft: EventDraft, error: AuditLogError): void
  journalled(draft: EventDraft): void
  /** Drafts of the journal became these events, but for those that are held back for so long. */
  replayed(
    events: readonly AuditEvent[],
    drafts: readonly EventDraft[],
    held: ReadonlyMap<EventDraft, Microseconds>,
  ): void
}

/** The queue before the store: calls of one turn, and of the time a commit takes, go together. */
export interface Recorder {
  /**
   * Resolves to the durable event, or to `undefined` where there is none: held back by its throttle,
   * journalled or dropped by its policy. Drafts are stored in the order they are added. Throws at
   * once what refuses the draft: `QUEUE_FULL`, `ABORTED`.
   */
  add(draft: EventDraft, options?: AddOptions): Promise<AuditEvent | undefined>
  readonly enlist: Enlisting['enlist']
  /**
   * Counts a draft that is to be added later among those that wait, until the function that it gives is
   * called. Throws `QUEUE_FULL`.
   */
  hold(draft: EventDraft): () => void
  /** Events of the host's that neither the store nor an error has settled yet. */
  waiting(): number
  /** True from when the store did not take something until it takes something again. */
  isDown(): boolean
  /** Resolves when all that was added before is settled. */
  flush(): Promise<void>
  /** Ends the replay of the journal, with what is on its way. Nothing is added any more. */
  close(): Promise<void>
}

export interface RecorderParts {
  readonly observer: RecorderObserver
  /** Where there is one, for the policy `queue`. */
  readonly journaling?: Journaling | undefined
  /** Comes before each attempt to append drafts with throttles. */
  readonly beforeThrottled?: ((signal: AbortSignal) => Promise<void>) | undefined
}

/**
 * Group commit without a timer: the first call schedules a flush for the end of the event loop's
 * turn; whatever is added until a commit returns makes up the next batch. An event that cannot be
 * stored within its deadline goes the way of its policy, and is never stored afterwards but from the
 * journal.
 */
export function createRecorder(
  store: EventStore,
  options: RecorderOptions,
  { observer, journaling, beforeThrottled }: RecorderParts,
): Recorder {
  let queue: Entry[] = []
  let inFlight: readonly Entry[] = []
  let running: Promise<void> | undefined
  let sweeper: NodeJS.Timeout | undefined
  /** When it comes, on the scale of `performance.now()`. */
  let sweepsAt = Infinity
  let giveUp = new AbortController()
  let isDown = false
  /** Entries on their way into the journal. */
  let leaving = 0
  /** The journal refused what came last: what comes next tries the store, as nothing else would. */
  let isRefused = false
  let isClosing = false
  /** Tails of what was tried, and goes to the store from the journal if not from here. */
  const comingAgain = new Set<IdTail>()
  /** When the newest event became visible that this process has stored. */
  let newest: string | undefined
  const room = createWaitingRoom(store.name, options)
  const enlisting = createEnlisting(store, room, observer)

  const settle = (entry: Entry): void => {
    entry.settled = true
    room.leave(entry.bytes, entry.isOwn)
    if (entry.onAbort) entry.signal?.removeEventListener('abort', entry.onAbort)
    for (const tell of entry.onSettled ?? []) tell()
  }
  /** The store has it, or never will. */
  const finish = (entry: Entry): void => {
    settle(entry)
    comingAgain.delete(entry.draft.tail)
  }
  const reject = (entry: Entry, error: AuditLogError): void => {
    finish(entry)
    observer.rejected(entry.draft, error)
    entry.reject(error)
  }
  const drop = (entry: Entry, error: AuditLogError): void => {
    finish(entry)
    observer.dropped(entry.draft, error)
    entry.resolve(undefined)
  }

  const toJournal = (entry: Entry): void => {
    entry.isLeaving = true
    leaving += 1
    // Nobody holds it any more when it gets to the store.
    const draft = { ...entry.draft, live: undefined }
    journaling!.add({ draft, recordedAt: entry.calledAt!, since: entry.since }, (error) => {
      leaving -= 1
      // Nothing may overtake those behind it that the journal still takes.
      isRefused = error !== undefined && leaving === 0
      if (error) return reject(entry, error)
      settle(entry)
      observer.journalled(entry.draft)
      entry.resolve(undefined)
    })
  }

  /** What its policy does with an event that the store did not take. */
  const resign = (entry: Entry, error: AuditLogError): void => {
    if (entry.settled || entry.isLeaving) return
    if (!isCovered(error) || entry.policy === 'block') return reject(entry, error)
    if (entry.policy === 'drop') return drop(entry, error)
    toJournal(entry)
  }
  const expire = (entry: Entry, cause?: unknown, reason = ''): void => {
    isDown = true
    const message = `the ${store.name} store did not take the event within ${options.deadlineMs} ms`
    resign(entry, new AuditLogError('DEADLINE_EXCEEDED', message + reason, { cause }))
  }
  const isDue = (entry: Entry): boolean => entry.expires <= performance.now()

  /** True where an earlier event may still go to the journal: that comes first. */
  const isBehind = (): boolean =>
    [inFlight, queue].some((entries) =>
      entries.some(
        ({ policy, settled, isLeaving }) => policy === 'queue' && !settled && !isLeaving,
      ),
    )

  /** What waits for the journal must not be overtaken by what was added later. */
  const journalWaiting = (): void => {
    if (!journaling) return
    const behind = queue.filter((entry) => entry.policy === 'queue' && !entry.settled)
    if (behind.length === 0) return
    queue = queue.filter((entry) => entry.policy !== 'queue')
    for (const entry of behind) toJournal(entry)
  }

  /** Gives up a commit that takes too long, and what waits behind it, oldest first. */
  const sweep = (): void => {
    const now = performance.now()
    sweepsAt = Infinity
    if (inFlight.some(isDue)) giveUp.abort()
    // Those for the journal follow the batch in flight, which comes before them.
    const due = queue.filter((entry) => isDue(entry) && entry.policy !== 'queue')
    if (due.length > 0) queue = queue.filter((entry) => !due.includes(entry))
    for (const entry of due) if (!entry.settled) expire(entry)
    let next = Infinity
    // What is due and still there waits for the batch in flight.
    for (const { expires } of [...inFlight, ...queue])
      if (expires > now && expires < next) next = expires
    sweepBy(next)
  }
  // One timer for all: it comes to the first deadline, and mostly finds that event stored.
  const sweepBy = (deadline: number): void => {
    if (deadline >= sweepsAt) return
    clearTimeout(sweeper)
    sweepsAt = deadline
    sweeper = setTimeout(sweep, timerMs(deadline - performance.now()))
    sweeper.unref()
  }

  /** Whatever this process stores from now on is later. */
  const lowest = (): Microseconds =>
    newest === undefined ? journaling!.now() - DAY : parseTimestamp(newest)!

  const takeBatch = (): Entry[] => {
    const batch: Entry[] = []
    let taken = 0
    for (const entry of queue) {
      if (batch.length === store.maxBatch) break
      taken++
      if (!entry.settled) batch.push(entry)
    }
    queue = queue.slice(taken)
    return batch
  }

  const append = async (
    drafts: readonly EventDraft[],
    options: AppendOptions & { readonly signal: AbortSignal },
  ): Promise<{ events: readonly AuditEvent[]; held: ReadonlyMap<EventDraft, Microseconds> }> => {
    const held = new Map<EventDraft, Microseconds>()
    if (beforeThrottled && drafts.some((draft) => draft.throttle))
      await beforeThrottled(options.signal)
    const onHeldBack = (draft: EventDraft, opensIn: Microseconds): void =>
      void held.set(draft, opensIn)
    const events = await store.append(drafts, { ...options, comingAgain, onHeldBack })
    isDown = false
    const last = events.at(-1)
    // One that was found may be older than what this process has stored before.
    if (last && (newest === undefined || last.created_at > newest)) newest = last.created_at
    return { events, held }
  }

  const commit = async (batch: readonly Entry[], signal: AbortSignal): Promise<void> => {
    let deadline = Infinity
    const drafts = batch.map((entry) => entry.draft)
    for (const entry of batch) {
      if (entry.expires < deadline) deadline = entry.expires
      if (entry.policy !== 'queue') continue
      entry.since ??= lowest()
      comingAgain.add(entry.draft.tail)
    }
    sweepBy(deadline)
    const since = searchedSince(batch)
    const { events, held } = await append(drafts, { signal, deadline, since })
    const kept = held.size === 0 ? batch : batch.filter((entry) => !held.has(entry.draft))
    const heldBack = held.size === 0 ? [] : batch.filter((entry) => held.has(entry.draft))
    for (const entry of heldBack) {
      finish(entry)
      observer.heldBack(entry.draft, held.get(entry.draft)!)
    }
    for (const entry of kept) finish(entry)
    const stored = held.size === 0 ? drafts : kept.map((entry) => entry.draft)
    if (stored.length > 0) observer.stored(newsOf(events, kept), stored)
    for (const [i, entry] of kept.entries()) entry.resolve(events[i])
    for (const entry of heldBack) entry.resolve(undefined)
  }

  /** One attempt for one batch; gives back what is to be tried again. */
  const attempt = async (batch: readonly Entry[]): Promise<Entry[]> => {
    if (giveUp.signal.aborted) giveUp = new AbortController()
    const { signal } = giveUp
    try {
      await commit(batch, signal)
      return []
    } catch (error) {
      const failure = asStoreFailure(store, error)
      if (failure.code !== 'ABORTED') {
        isDown = true
        for (const entry of batch) resign(entry, failure)
        return []
      }
      const reason = reasonOf(failure, signal)
      for (const entry of batch) {
        if (isDue(entry)) expire(entry, failure, reason)
        else if (entry.signal?.aborted) reject(entry, abortedError(entry.signal))
      }
      return batch.filter((entry) => !entry.settled && !entry.isLeaving)
    }
  }

  /** One attempt for what is oldest in the journal. */
  const replay = async (): Promise<void> => {
    if (giveUp.signal.aborted) giveUp = new AbortController()
    const deadline = performance.now() + options.deadlineMs
    const { signal } = giveUp
    const timer = setTimeout(() => giveUp.abort(), timerMs(options.deadlineMs)).unref()
    try {
      await journaling!.replay(store.maxBatch, lowest(), async (journalled, since) => {
        const drafts = onceEach(journalled)
        for (const { tail } of drafts) comingAgain.add(tail)
        const { events, held } = await append(drafts, { signal, deadline, since })
        return () => {
          for (const { tail } of drafts) comingAgain.delete(tail)
          observer.replayed(events, drafts, held)
        }
      })
    } catch {
      isDown = true
    } finally {
      clearTimeout(timer)
    }
  }

  const isReplayDue = (): boolean => !isClosing && journaling?.isDue() === true
  const hasWork = (): boolean => queue.length > 0 || isReplayDue()
  const run = async (): Promise<void> => {
    while (hasWork()) {
      // The turn's other calls come along, and the event loop gets its turn between two commits.
      await nextTurn()
      const batch = takeBatch()
      if (batch.length > 0) {
        inFlight = batch
        const again = await attempt(batch)
        inFlight = []
        if (again.length > 0) queue = [...again, ...queue]
        if (isDown) journalWaiting()
        // Nothing of it comes between, or the store would remove what it may have kept of it.
        if (again.length > 0) continue
      }
      if (isReplayDue()) await replay()
    }
    running = undefined
  }
  const start = (): void => {
    if (hasWork()) running ??= run()
  }
  journaling?.onDue(start)

  return {
    add(draft, { signal, policy = 'block', isOwn = false, expires, earlier } = {}) {
      throwIfAborted(signal)
      const full = room.fullness()
      if (full && policy === 'block') throw full
      const bytes = Buffer.byteLength(draft.json)
      room.enter(bytes, isOwn)
      return new Promise((resolve, rejectCall) => {
        const entry: Entry = {
          draft,
          policy,
          isOwn,
          bytes,
          expires: expires ?? performance.now() + options.deadlineMs,
          resolve,
          reject: rejectCall,
          signal,
          onAbort: undefined,
          settled: false,
          isLeaving: false,
          calledAt: policy === 'queue' ? journaling!.now() : undefined,
          earlier,
          since: earlier?.since,
          onSettled: undefined,
        }
        isRefused &&= isDown
        const isAway = isDown && !isRefused
        if (policy === 'queue' && (full || ((isAway || journaling!.length() > 0) && !isBehind())))
          return toJournal(entry)
        // While the store is away one event at a time finds out whether it is back.
        if (policy === 'drop' && (full || (isDown && room.count() > 1)))
          return drop(
            entry,
            full ?? new AuditLogError('STORE_FAILED', `the ${store.name} store is away`),
          )
        if (signal) {
          // Once the store has it, only the store's answer can tell whether it is kept.
          entry.onAbort = () => {
            if (queue.includes(entry)) reject(entry, abortedError(signal))
          }
          signal.addEventListener('abort', entry.onAbort, { once: true })
        }
        queue.push(entry)
        sweepBy(entry.expires)
        start()
        return undefined
      })
    },
    enlist: (draft, transaction, options) => enlisting.enlist(draft, transaction, options),
    hold(draft) {
      const full = room.fullness()
      if (full) throw full
      const bytes = Buffer.byteLength(draft.json)
      room.enter(bytes, false)
      let isHeld = true
      return () => {
        if (isHeld) room.leave(bytes, false)
        isHeld = false
      }
    },
    waiting: () => room.calls(),
    isDown: () => isDown,
    async flush() {
      const pending = [...inFlight, ...queue].filter((entry) => !entry.settled)
      journaling?.flush()
      await Promise.all([
        enlisting.flush(),
        ...pending.map(
          (entry) => new Promise<void>((resolve) => (entry.onSettled ??= []).push(resolve)),
        ),
      ])
    },
    async close() {
      isClosing = true
      if (inFlight.length === 0 && running) giveUp.abort()
      await running
    },
  }
}
