import { setImmediate as nextTurn } from 'node:timers/promises'
import { RETRY_MS } from '../async/backoff.js'
import { runOutside } from '../async/outside.js'
import type { AuditEvent } from '../event/event.js'
import { formatTimestamp, parseTimestamp } from '../event/timestamp.js'
import { createTimeSlices } from '../filter/time-slices.js'
import type { EventStore, ReadOptions as StoreReadOptions } from '../store/store.js'
import { type CatchUp, createCatchUp } from './catch-up.js'
import { type LoadLive, sharedLoads } from './changes.js'
import { newestCursor, type TailFilter } from './poll.js'
import { Reader } from './reader.js'
import { type Batch, type Ring, rewound } from './ring.js'
import { startInRing } from './fork.js'
import { openSession, type Session, type SessionOptions } from './session.js'
import { createFilterSelections, type FilterSelections } from './selections.js'
import { createTurns } from './turns.js'

/** A filter, and how a reader converts the matching events. */
export interface View<Item> extends TailFilter {
  /** Makes an item of the matching events of a batch after the cursor; `undefined` without such events. */
  ofBatch(batch: Batch, cursor: string): Item | undefined | Promise<Item | undefined>
  /** Makes items of matching events that were read from the store. */
  ofEvents(events: readonly AuditEvent[]): Iterable<Item>
  /**
   * Makes an item of the cursor to which a reader goes back if the log has lost the events after it. Without it, the
   * reader only gets the next events.
   */
  readonly ofRewind?: (cursor: string) => Item
}

export interface ReadOptions {
  /** Events after this `created_at`, in the format of events. @default events from now on */
  readonly after?: string | undefined
  /** Ends the reader, also while it waits. It must abort at some time, because that frees the reader. */
  readonly signal: AbortSignal
}

/**
 * Reads new events of a store for any number of readers, with one query for all of them. Each reader stores only a
 * cursor. A reader that is far behind reads from the store until it has caught up.
 */
export interface SharedTail {
  /** The cursor of the time of the call, after the newest event, also if the store answers late. */
  currentCursor(options: StoreReadOptions): Promise<string>
  /**
   * Returns items of the matching events that become visible after the promise has resolved, each event once, in the
   * order of `created_at`. Rejects if the newest event cannot be read. The generator throws the error that ends the
   * session.
   */
  read<Item>(view: View<Item>, options: ReadOptions): Promise<AsyncGenerator<Item, void, void>>
  /** A reader of the session that also reads the open live events. It must leave at its end. */
  joinChanges(signal: AbortSignal): Reader
  /**
   * The cursor from which a reader begins: the given cursor, or an earlier one if the log has lost the event there.
   */
  startIn(ring: Ring, cursor: string, options: StoreReadOptions): Promise<string>
  createCatchUp(filter: TailFilter, options: { readonly hasChanges: boolean }): CatchUp
  readonly loadLive: LoadLive
  /** Shared by all readers with the same filter, apart from those of changes. */
  readonly selections: FilterSelections
  /** Shared by all readers of changes with the same filter. Only their entries have revisions. */
  readonly changeSelections: FilterSelections
  /** To be called with the events that this process has stored. */
  stored(events: readonly AuditEvent[]): void
  /** Makes the sessions poll soon. */
  wake(): void
}

type Starts = Pick<SharedTail, 'currentCursor' | 'stored'>

function createStarts(store: EventStore): Starts {
  /** The calls of `currentCursor` in progress, with the first event that this process has stored since. */
  const pending = new Set<{ first: string | undefined }>()
  return {
    async currentCursor(options) {
      const start: { first: string | undefined } = { first: undefined }
      pending.add(start)
      try {
        const found = await newestCursor(store, options)
        const { first } = start
        if (first === undefined || found < first) return found
        return formatTimestamp(parseTimestamp(first)! - 1)
      } finally {
        pending.delete(start)
      }
    },
    stored(events) {
      for (const start of pending) start.first ??= events[0]?.created_at
    },
  }
}

interface RunOptions {
  readonly startIn: SharedTail['startIn']
  readonly after: string
  readonly signal: AbortSignal
  readonly openCatchUp: SharedTail['createCatchUp']
}

/*
 * Every event up to `cursor` has been returned or does not match. The ring holds every event after
 * its floor. A cursor at or after the floor continues in the ring; an older one reads from the store
 * until it reaches the floor. Both are ordered by `created_at`, the order in which events become
 * visible, so no event is missed or returned twice.
 */
async function* run<Item>(
  reader: Reader,
  view: View<Item>,
  { startIn, after, signal, openCatchUp }: RunOptions,
): AsyncGenerator<Item, void, void> {
  /** Created at its first use, because few readers read from the store. */
  let catchUp: CatchUp | undefined
  let cursor = after
  try {
    const ring = await reader.session.ring(signal)
    let seen = ring.latest
    cursor = await startIn(ring, after, { signal })
    if (cursor !== after && view.ofRewind) yield view.ofRewind(cursor)
    while (!signal.aborted) {
      const last = cursor
      for (; seen.next; seen = seen.next) cursor = rewound(cursor, seen.next)
      if (cursor !== last && view.ofRewind) yield view.ofRewind(cursor)
      if (cursor < ring.floor) {
        catchUp ??= openCatchUp(view, { hasChanges: false })
        const { events, cursor: reached } = await catchUp(cursor, { signal })
        if (reached === cursor) await reader.sleepAtMost(RETRY_MS)
        cursor = reached
        const slices = createTimeSlices()
        for (const item of view.ofEvents(events)) {
          yield item
          if (slices.isOver()) await slices.next()
        }
        await nextTurn()
        continue
      }
      const batch = ring.after(cursor)
      if (batch) {
        const item = await view.ofBatch(batch, cursor)
        cursor = batch.last
        if (item !== undefined) yield item
      } else {
        reader.session.check()
        await reader.sleep()
      }
    }
  } catch (error) {
    if (!signal.aborted) throw error
  } finally {
    reader.leave()
  }
}

export function createSharedTail(store: EventStore, options: SessionOptions = {}): SharedTail {
  const { currentCursor, stored } = createStarts(store)
  const turns = createTurns()
  let plain: Session | undefined
  let withChanges: Session | undefined

  // The session outlives the call that opens it, so it runs outside of the call's context.
  const open = (hasChanges: boolean): Session =>
    runOutside(() => openSession(store, hasChanges, options))

  const openCatchUp: SharedTail['createCatchUp'] = (filter, { hasChanges }) =>
    createCatchUp(store, filter, { turns, hasChanges })

  const startIn: SharedTail['startIn'] = (ring, cursor, given) =>
    startInRing(store, ring, cursor, given)

  return {
    currentCursor,
    stored,
    startIn,
    createCatchUp: openCatchUp,
    loadLive: sharedLoads(store),
    selections: createFilterSelections(),
    changeSelections: createFilterSelections(),
    async read(view, { after, signal }) {
      if (!plain || plain.hasEnded()) plain = open(false)
      const reader = new Reader(plain, signal)
      try {
        const start = after ?? (await currentCursor({ signal }))
        return run(reader, view, { startIn, after: start, signal, openCatchUp })
      } catch (error) {
        reader.leave()
        throw error
      }
    },
    joinChanges(signal) {
      if (!withChanges || withChanges.hasEnded()) withChanges = open(true)
      return new Reader(withChanges, signal)
    },
    wake() {
      plain?.wake()
      withChanges?.wake()
    },
  }
}

const sharedTails = new WeakMap<EventStore, SharedTail>()

/** The shared tail of all readers of this store in this process. */
export function sharedTail(store: EventStore): SharedTail {
  const known = sharedTails.get(store)
  if (known) return known
  const created = createSharedTail(store)
  sharedTails.set(store, created)
  return created
}
