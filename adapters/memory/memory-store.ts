import { setImmediate as nextTurn } from 'node:timers/promises'
import { AuditLogError, queryTimedOut, throwIfAborted } from '../../src/errors.js'
import { type AuditEvent, type EventDraft, stampDraft } from '../../src/event/event.js'
import { createClockGuard, guardedClock } from '../../src/store/clock-guard.js'
import { createWatchers } from '../../src/store-kit/watchers.js'
import { freshEvents } from '../../src/event/importing.js'
import { type QueryTimeoutOptions, readQueryTimeout } from '../../src/store/query-timeout.js'
import type { EventStore } from '../../src/store/store.js'
import { type Clock, type Microseconds, systemClock } from '../../src/event/timestamp.js'
import { countEvents } from './count.js'
import { excessBefore } from './excess.js'
import { createEventIndex } from './event-index.js'
import { parseFrozen } from './frozen.js'
import { listEvents, type MemoryTuning } from './list.js'
import { createLiveEvents } from './live.js'
import { createState } from './state.js'
import { createThrottles } from './throttles.js'
import { createTimeline } from './timeline.js'

export interface MemoryStoreOptions extends QueryTimeoutOptions {
  /**
   * Maximum number of events to keep, at least 1. The oldest events are dropped first, open live events too.
   * @default Infinity
   */
  readonly maxEvents?: number
  /** The current time in microseconds. @default the system's clock */
  readonly clock?: Clock
}

// Events between two pauses.
const SCAN_SLICE = 10_000

// Counts of suppressed calls that one event records.
const MAX_RECORDED = 1000

// Smaller than for an index on disk, as this index needs no reads.
const FIRST_PROBE_SIZE = 16

/**
 * Keeps events in the memory of this process, for tests and as a readable reference for other stores.
 * Nothing survives the process. Returned events are frozen. With 10,000 events or more, it indexes the
 * attributes that queries use.
 */
export const memoryStore = (options: MemoryStoreOptions = {}): EventStore =>
  createMemoryStore(options, { minIndexed: 10_000, probe: FIRST_PROBE_SIZE })

export function createMemoryStore(options: MemoryStoreOptions, tuning: MemoryTuning): EventStore {
  const { maxEvents = Infinity, clock: given = systemClock() } = options
  const guard = createClockGuard(given.monotonic)
  const clock = guardedClock(given, guard)
  if (!(maxEvents >= 1)) throw new AuditLogError('INVALID_OPTION', 'maxEvents must be at least 1')

  const queryTimeoutMs = readQueryTimeout(options)

  const timeline = createTimeline()
  const throttles = createThrottles()
  const live = createLiveEvents(timeline)
  const index = createEventIndex(timeline, live)
  const state = createState()
  const watchers = createWatchers()
  let highWater: Microseconds = 0
  let closed = false

  const check = (signal: AbortSignal | undefined): void => {
    if (closed) throw new AuditLogError('CLOSED', 'the memory store is closed')
    throwIfAborted(signal)
  }

  const isClosed = (event: AuditEvent): boolean => !live.isOpen(event)

  /** Drops the oldest events beyond `maxEvents`. */
  const dropExcess = (): void => {
    const excess = timeline.size - maxEvents
    if (excess <= 0) return
    const { events, from } = timeline.between(-Infinity, Infinity)
    for (const { id } of events.slice(from, from + excess)) live.close(id)
    timeline.drop(excess)
  }

  const store = (draft: EventDraft, time: Microseconds): AuditEvent => {
    const event = Object.freeze({ ...stampDraft(draft, time), attributes: parseFrozen(draft.json) })
    timeline.append([{ time, event }])
    highWater = time
    if (draft.live) live.open(event)
    return event
  }

  return {
    name: 'memory',
    maxBatch: 1000,
    clock,

    async append(drafts, { signal, deadline = Infinity, since, onSuppressed } = {}) {
      check(signal)
      if (performance.now() >= deadline)
        throw new AuditLogError('ABORTED', 'the deadline has passed')
      const stored = since === undefined ? undefined : timeline.suffixesAfter(since)
      const now = clock()
      let time = Math.max(highWater, now - drafts.length)
      const events: AuditEvent[] = []
      const suppressed: [EventDraft, Microseconds][] = []
      for (const draft of drafts) {
        const recovered = stored?.get(draft.suffix)
        const opensIn = recovered ? 0 : throttles.opensIn(draft, now)
        if (recovered) events.push(recovered)
        else if (opensIn > 0) suppressed.push([draft, opensIn])
        else {
          time += 1
          events.push(store(throttles.close(draft, Math.min(time, now)), time))
        }
      }
      dropExcess()
      watchers.hint()
      for (const [draft, opensIn] of suppressed) onSuppressed?.(draft, opensIn)
      return events
    },

    async importEvents(imported, { signal } = {}) {
      check(signal)
      const fresh = freshEvents(imported, clock(), {
        at: (time) => {
          const event = timeline.at(time)
          return event && { event, json: JSON.stringify(event.attributes) }
        },
        hasId: (id) => timeline.find(id) !== undefined,
      })
      timeline.insert(
        fresh.map(({ event, time, json }) => ({
          time,
          event: Object.freeze({ ...event, attributes: parseFrozen(json) }),
        })),
      )
      for (const { time } of fresh) {
        highWater = Math.max(highWater, time)
        index.addLate(time)
      }
      dropExcess()
      return { imported: fresh.length, skipped: imported.length - fresh.length }
    },

    async get(id, { signal } = {}) {
      check(signal)
      return timeline.find(id)?.event
    },

    async list(query, { signal, trace } = {}) {
      check(signal)
      const end = performance.now() + queryTimeoutMs
      const pause = async (): Promise<void> => {
        await nextTurn()
        check(signal)
        if (performance.now() >= end) throw queryTimedOut(queryTimeoutMs)
      }
      return listEvents({ timeline, index, tuning, pause }, query, trace)
    },

    async count(query, { signal } = {}) {
      check(signal)
      const within = Math.min(query.within, queryTimeoutMs)
      return countEvents(timeline, { ...query, within }, clock(), async () => {
        await nextTurn()
        check(signal)
      })
    },

    async removeBefore(time, { signal, onProgress } = {}) {
      check(signal)
      for (let removed = 0; ;) {
        const count = timeline.removeBefore(time, SCAN_SLICE, isClosed)
        removed += count
        if (count > 0) {
          index.reset()
          onProgress?.(removed)
        }
        if (count < SCAN_SLICE) return removed
        await nextTurn()
        check(signal)
      }
    },

    async remove(ids, { signal } = {}) {
      check(signal)
      const gone = new Set(
        ids.filter((id) => {
          const found = timeline.find(id)
          return found && isClosed(found.event)
        }),
      )
      if (gone.size > 0) {
        timeline.remove(gone)
        index.reset()
      }
      return gone.size
    },

    async excess(bounds, { signal } = {}) {
      check(signal)
      const walk = excessBefore(timeline.between(-Infinity, Infinity), isClosed, bounds)
      for (let seen = 1; ; seen++) {
        const step = walk.next()
        if (step.done) {
          const before = step.value
          return { before, count: timeline.countBefore(before) - live.countBefore(before) }
        }
        if (seen % SCAN_SLICE === 0) {
          await nextTurn()
          check(signal)
        }
      }
    },

    async reportSuppressed(report, { signal } = {}) {
      check(signal)
      throttles.report(report, clock())
    },

    async recordSuppressed(draftOf, { signal } = {}) {
      check(signal)
      const now = clock()
      const counts = throttles.unclaimed(now, MAX_RECORDED)
      if (counts.length > 0) {
        store(draftOf(counts), Math.max(highWater + 1, now))
        throttles.clear(counts)
        dropExcess()
        watchers.hint()
      }
      throttles.prune(now)
      return counts.length
    },

    async updateState(key, change, { signal, keepFor } = {}) {
      check(signal)
      return state.change(key, change, clock(), keepFor)
    },

    async changeLive(id, change, { signal } = {}) {
      check(signal)
      const isOpen = live.change(id, change)
      if (isOpen) watchers.hint()
      return isOpen
    },

    // Needs no heartbeats: open events end with this process, as does the store.
    async touchLive(_ids, { signal } = {}) {
      check(signal)
    },

    async closeLive(id, change, { signal } = {}) {
      check(signal)
      if (live.change(id, change)) {
        live.close(id)
        const found = timeline.find(id)
        if (found) index.addLate(found.time)
        watchers.hint()
      }
      return timeline.find(id)?.event
    },

    async openEvents({ signal } = {}) {
      check(signal)
      return live.list()
    },

    // The memory of a process is neither checked nor mended.
    async verify({ signal } = {}) {
      check(signal)
      return { events: timeline.size, segments: 0, damage: [] }
    },

    async rebuildIndex({ signal } = {}) {
      check(signal)
    },

    watch: (hint) => watchers.add(hint),
    watchClock: (handler) => guard.watch(handler),
    acceptClock: () => guard.accept(),

    async close() {
      closed = true
      watchers.clear()
    },
  }
}
