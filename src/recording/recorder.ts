import { createAdmission } from './admission.js'
import { createAppender } from './appender.js'
import { createAvailability } from './availability.js'
import { createCommitter } from './committer.js'
import { createDeadlines } from './deadlines.js'
import type { EarlierAttempts } from './earlier-attempts.js'
import { createEnlisting, type Enlisting } from './enlisting.js'
import { type AuditLogError, throwIfAborted } from '../errors.js'
import type { AuditEvent, EventDraft } from '../event/event.js'
import type { FailurePolicy } from './failure-policy.js'
import { createJournalReplay } from './journal-replay.js'
import type { Journaling } from './journaling.js'
import { createQueue, type QueueEntry } from './queue.js'
import { createSettlement } from './settlement.js'
import type { EventStore, WaitOptions } from '../store/store.js'
import type { Microseconds } from '../event/timestamp.js'
import { createWriteLoop } from './write-loop.js'
import { createWaitingRoom, type RecorderOptions } from './queue-limits.js'

export interface AddOptions extends WaitOptions {
  /** @default 'block' */
  readonly policy?: FailurePolicy | undefined
  /** When it has waited for long enough, on the scale of `performance.now()`. */
  readonly expires?: number | undefined
  readonly earlier?: EarlierAttempts | undefined
  /** Not a call of the host's: `waiting` leaves it out. */
  readonly isOwn?: boolean | undefined
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
  const { deadlineMs } = options
  const room = createWaitingRoom(store.name, options)
  const enlisting = createEnlisting(store, room, observer)
  const queue = createQueue()
  const availability = createAvailability()
  const appender = createAppender(store, availability, beforeThrottled)
  const common = { store, deadlineMs, room, queue, availability, appender, journaling, observer }
  const settlement = createSettlement(common)
  const deadlines = createDeadlines(queue, {
    abortAttempt: () => appender.abortAttempt(),
    expire: (entry) => settlement.expire(entry),
  })
  const admit = createAdmission({ ...common, settlement, deadlines })
  const loop = createWriteLoop({
    ...common,
    settlement,
    attempt: createCommitter({ ...common, settlement, deadlines }),
    replay: createJournalReplay(common),
  })
  journaling?.onDue(() => loop.start())

  return {
    add(draft, { signal, policy = 'block', isOwn = false, expires, earlier } = {}) {
      throwIfAborted(signal)
      const full = room.fullness()
      if (full && policy === 'block') throw full
      const bytes = Buffer.byteLength(draft.json)
      room.enter(bytes, isOwn)
      return new Promise((resolve, reject) => {
        const entry: QueueEntry = {
          draft,
          policy,
          isOwn,
          bytes,
          deadline: expires ?? performance.now() + deadlineMs,
          resolve,
          reject,
          signal,
          onAbort: undefined,
          stage: 'waiting',
          calledAt: policy === 'queue' ? journaling!.now() : undefined,
          earlier,
          since: earlier?.since,
          onSettled: undefined,
        }
        if (admit(entry, full)) loop.start()
      })
    },
    enlist: (draft, transaction, given) => enlisting.enlist(draft, transaction, given),
    hold: (draft) => room.hold(Buffer.byteLength(draft.json)),
    waiting: () => room.calls(),
    isDown: () => availability.isDown(),
    async flush() {
      const pending = queue.all().filter(({ stage }) => stage !== 'settled')
      const settled = pending.map(
        (entry) => new Promise<void>((resolve) => (entry.onSettled ??= []).push(resolve)),
      )
      // Settles entries at once, so it comes after their promises.
      journaling?.flush()
      await Promise.all([enlisting.flush(), ...settled])
    },
    close: () => loop.close(),
  }
}
