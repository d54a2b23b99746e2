import { setImmediate as nextTurn } from 'node:timers/promises'
import { RETRY_MS } from '../async/backoff.js'
import type { AuditEvent } from '../event/event.js'
import type { ChangeTracker, EventChange, NewRevision } from './changes.js'
import type { TailFilter } from './poll.js'
import { type Batch, type RingEntry, rewound } from './ring.js'
import type { PolledRevisions } from './session.js'
import type { SharedTail } from './shared-tail.js'
import { ignoreTransient } from './transient-failures.js'

export interface FollowOptions {
  readonly filter: TailFilter
  /** The matching entries of a batch after the cursor. */
  readonly select: (batch: Batch, cursor: string) => Promise<readonly RingEntry[]>
  readonly start: string
  readonly tracker: ChangeTracker
  readonly signal: AbortSignal
}

type Items = AsyncGenerator<AuditEvent | EventChange, void, void>

/** Yields matching events, and changes of live events, until the signal aborts. */
export async function* followChanges(shared: SharedTail, options: FollowOptions): Items {
  const { filter, select, start, tracker, signal } = options
  const reader = shared.joinChanges(signal)
  const { session } = reader
  const catchUp = shared.createCatchUp(filter, { hasChanges: true })
  let cursor = start
  /**
   * Number of the last poll that began before this reader had its events. The open events of later polls are newer
   * than these events.
   */
  let pollsBefore = session.polls()
  /** The changes among these have been delivered. */
  let delivered: PolledRevisions | undefined
  let hasFailed = false

  async function* deliver(entries: readonly Pick<RingEntry, 'event' | 'revision'>[]): Items {
    for (const { event, revision } of entries) {
      if (signal.aborted) return
      tracker.track(event, revision)
      yield event
    }
  }

  async function* deliverChanges(changed: readonly NewRevision[]): Items {
    hasFailed = false
    for (const one of changed) {
      if (signal.aborted || hasFailed) return
      const loading = tracker.change(one, { signal })
      const change = await ignoreTransient(loading, () => void (hasFailed = true))
      if (change) yield change
    }
  }

  try {
    const ring = await session.ring(signal)
    let seen = ring.latest
    cursor = await shared.startIn(ring, start, { signal })
    while (!signal.aborted) {
      for (; seen.next; seen = seen.next) cursor = rewound(cursor, seen.next)
      if (cursor < ring.floor) {
        const { events, open, cursor: reached } = await catchUp(cursor, { signal })
        pollsBefore = session.polls()
        yield* deliver(events.map((event) => ({ event, revision: open?.get(event.id) })))
        if (open) yield* deliverChanges(tracker.changed(open))
        if (reached === cursor) await reader.sleepAtMost(RETRY_MS)
        cursor = reached
        await nextTurn()
        continue
      }
      const batch = ring.after(cursor)
      if (batch) {
        const entries = await select(batch, cursor)
        cursor = batch.last
        yield* deliver(entries)
        continue
      }
      const open = session.open()
      const isNewer = open !== undefined && open.poll > pollsBefore
      if (isNewer && open !== delivered) {
        yield* deliverChanges(tracker.changed(open.revisions))
        if (hasFailed) await reader.sleepAtMost(RETRY_MS)
        else delivered = open
        continue
      }
      session.check()
      if (!isNewer) session.wake()
      await reader.sleep()
    }
  } catch (error) {
    if (!signal.aborted) throw error
  } finally {
    reader.leave()
  }
}
