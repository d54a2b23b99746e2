import { setImmediate as nextTurn } from 'node:timers/promises'
import { untilAborted } from '../errors.js'
import type { EventStore, ReadOptions } from '../store/store.js'
import { forkCursor, isBehind, isNotReached } from './fork.js'
import { BEGINNING, newestCursor, newestTime, pollSession, type PollResult } from './poll.js'
import { createRing, type Rewind, type Ring, type RingBounds } from './ring.js'
import { ignoreTransient } from './transient-failures.js'
import { createWaitingReaders, type SessionReader, type WaitingReaders } from './waiting-readers.js'
import { createWaker, type Waker } from './waker.js'

export interface SessionOptions extends RingBounds {
  /** Time for which a session without readers keeps its ring for returning readers. @default 5 seconds */
  readonly lingerMs?: number | undefined
}

/** The revisions of the open live events, by id. */
export type OpenRevisions = ReadonlyMap<string, number>

/** The open live events at the time of a poll. */
export interface PolledRevisions {
  /** The number of the poll. */
  readonly poll: number
  readonly revisions: OpenRevisions
}

/** Polls the store for all of its readers, and keeps the newest events in a ring. */
export interface Session {
  /** True if the session accepts no new readers. */
  hasEnded(): boolean
  /** Number of the last poll that has begun. */
  polls(): number
  /**
   * The open live events that the last successful poll has read. If an event of the ring is not among them, it has
   * been closed. `undefined` before the first poll, and in a session without changes.
   */
  open(): PolledRevisions | undefined
  join(reader: SessionReader): void
  /** Safe to call twice. */
  leave(reader: SessionReader): void
  /** Readers that are woken once after the next poll with news. The session only polls while it has such readers. */
  readonly waiting: WaitingReaders
  /** Makes the session poll soon. */
  wake(): void
  /**
   * Resolves with the ring once its first cursor is known. Rejects with the error that ended the
   * session, or with `ABORTED`.
   */
  ring(signal: AbortSignal): Promise<Ring>
  /** Throws the error that ended the session, if any. */
  check(): void
}

// Bounds the delay of an event if a hint is lost.
const POLL_MS = 1000

// Minimum time between polls; it grows with the number of readers, to bound the share of CPU time.
const GAP_MS = 10
const GAP_PER_READER_MS = 0.1
const MAX_GAP_MS = 250

const LINGER_MS = 5000

/** The ring after the newest event. Retries while the store fails. */
async function startRing(
  store: EventStore,
  { waker, signal, bounds }: { waker: Waker; signal: AbortSignal; bounds: RingBounds },
): Promise<Ring> {
  for (;;) {
    const start = await ignoreTransient(newestCursor(store, { signal }), () => {})
    if (start !== undefined) return createRing(start, bounds)
    await waker.pause(POLL_MS, false)
  }
}

interface Polled extends PollResult {
  readonly revisions: OpenRevisions
  /** Set to the cursor if the log has lost the event there; then there are no events. */
  readonly rewind?: Rewind
}

interface PollFrom extends ReadOptions {
  readonly after: string
  readonly hasChanges: boolean
}

async function pollOnce(
  store: EventStore,
  ring: Ring,
  { after, hasChanges, ...options }: PollFrom,
): Promise<Polled> {
  const upTo = await newestTime(store, options)
  // Read after `upTo`, so it contains every event up to there that is still open.
  const open = hasChanges ? await store.openEvents(options) : []
  const revisions = new Map(open.map(({ id, revision }) => [id, revision]))
  const { isCursorGone, ...polled } = await pollSession(store, { after, upTo }, options)
  const isOlder = (upTo ?? BEGINNING) < after
  const isLost = isCursorGone || (isOlder && (await isBehind(store, after, options)))
  const to = isLost ? await forkCursor(store, ring, options) : after
  if (to === after) return { ...polled, revisions }
  return { events: [], cursor: to, hasMore: true, revisions, rewind: { from: after, to } }
}

/**
 * The new events; `undefined` after a temporary failure of the store, or if the store has lost the events of the
 * hint.
 */
async function pollNew(
  store: EventStore,
  ring: Ring,
  hints: Hints,
  from: Omit<PollFrom, 'consistencyToken'>,
): Promise<Polled | undefined> {
  const consistencyToken = hints.token()
  try {
    const polling = pollOnce(store, ring, { ...from, consistencyToken })
    return await ignoreTransient(polling, () => {})
  } catch (error) {
    if (consistencyToken === undefined || !isNotReached(error)) throw error
    hints.forget()
    return undefined
  }
}

async function untilNextPoll(waker: Waker, readers: number, canWake: boolean): Promise<void> {
  await waker.pause(Math.min(GAP_MS + readers * GAP_PER_READER_MS, MAX_GAP_MS), false)
  await waker.pause(POLL_MS, canWake)
}

/** The hints of a store, which wake a session. */
interface Hints {
  /** The token of the last hint with a token. */
  token(): string | undefined
  /** Drops that token. */
  forget(): void
  /** False if it has started already. */
  start(): boolean
  stop(): void
}

function createHints(store: EventStore, waker: Waker): Hints {
  let last: string | undefined
  let unwatch: (() => void) | undefined
  return {
    token: () => last,
    forget: () => void (last = undefined),
    start() {
      if (unwatch) return false
      unwatch = store.watch((token: unknown) => {
        // A store of the host may call this with anything.
        if (typeof token === 'string') last = token
        waker.wake()
      })
      return true
    },
    stop() {
      unwatch?.()
      unwatch = undefined
    },
  }
}

/** Opens a session. With `hasChanges`, it also reads the open live events. */
export function openSession(
  store: EventStore,
  hasChanges: boolean,
  { lingerMs = LINGER_MS, ...bounds }: SessionOptions = {},
): Session {
  const stop = new AbortController()
  const { signal } = stop
  const waker = createWaker(signal)
  const hints = createHints(store, waker)
  const readers = new Set<SessionReader>()
  /** The waiting readers, which are a part of `readers`. */
  const waiting = createWaitingReaders(waker.keepAlive)
  let end: { readonly error: unknown } | undefined
  let linger: NodeJS.Timeout | undefined
  let polls = 0
  let open: PolledRevisions | undefined

  const opening = startRing(store, { waker, signal, bounds })

  const add = (ring: Ring, { events, revisions, rewind }: Polled): void => {
    if (rewind) return ring.rewind(rewind)
    ring.add(events.map((event) => ({ event, revision: revisions.get(event.id) })))
    if (hasChanges) open = { poll: polls, revisions }
    if (hasChanges || events.length > 0) waiting.wakeAll()
  }

  const follow = async (): Promise<void> => {
    const ring = await opening
    let after = ring.floor
    while (!signal.aborted) {
      await waiting.untilAny()
      waker.reset()
      polls += 1
      const polled = await pollNew(store, ring, hints, { after, hasChanges, signal })
      if (polled) add(ring, polled)
      after = polled?.cursor ?? after
      if (polled?.hasMore) await nextTurn()
      else await untilNextPoll(waker, readers.size, polled !== undefined)
    }
  }

  const onEnd = (error: unknown): void => {
    end = { error }
    clearTimeout(linger)
    hints.stop()
    waiting.wakeAll()
  }
  follow().catch(onEnd)

  return {
    hasEnded: () => end !== undefined || signal.aborted,
    polls: () => polls,
    open: () => open,
    join(reader) {
      clearTimeout(linger)
      readers.add(reader)
      if (end || !hints.start()) return
      // Events may have been stored while the session did not watch the store.
      waker.wake()
    },
    leave(reader) {
      if (!readers.delete(reader)) return
      waiting.delete(reader)
      if (readers.size > 0 || end) return
      hints.stop()
      linger = setTimeout(() => stop.abort(), lingerMs).unref()
    },
    waiting,
    wake: () => waker.wake(),
    ring: (waitSignal) => untilAborted(opening, waitSignal),
    check() {
      if (end) throw end.error
    },
  }
}
