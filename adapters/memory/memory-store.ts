import { setImmediate as nextTurn } from 'node:timers/promises'
import { AuditLogError, throwIfAborted } from '../../src/errors.js'
import { type AuditEvent, type EventDraft, stampDraft } from '../../src/event/event.js'
import { createWatchers } from '../../src/store-kit/watchers.js'
import { freshEvents } from '../../src/event/importing.js'
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

export interface MemoryStoreOptions {
  /**
   * Most events to keep; the oldest go first, live ones too. At least 1.
   * @default Infinity
   */
  readonly maxEvents?: number
  /** The present time in microseconds. @default the system's clock */
  readonly clock?: Clock
}

// A scan gives the event loop a turn after so many events.
const SCAN_SLICE = 10_000

const MOST_TOLD = 1000

// Fewer than where an index is in a file.
const FIRST_PROBE = 16

/**
 * Keeps events in this process's memory: for tests, and as the readable definition of what every
 * store must answer. Nothing survives the process. The events it gives out are frozen. From 10,000
 * events on it indexes the attributes that queries ask for.
 */
export const memoryStore = (options: MemoryStoreOptions = {}): EventStore =>
  createMemoryStore(options, { minIndexed: 10_000, probe: FIRST_PROBE })

export function createMemoryStore(options: MemoryStoreOptions, tuning: MemoryTuning): EventStore {
  const { maxEvents = Infinity, clock = systemClock() } = options
  if (!(maxEvents >= 1)) throw new AuditLogError('INVALID_OPTION', 'maxEvents must be at least 1')

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

  /** Lets go of the oldest that are too many. */
  const makeRoom = (): void => {
    const excess = timeline.size - maxEvents
    if (excess <= 0) return
    const { events, from } = timeline.between(-Infinity, Infinity)
    for (const { id } of events.slice(from, from + excess)) live.close(id)
    timeline.drop(excess)
  }

  const keep = (draft: EventDraft, time: Microseconds): AuditEvent => {
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
      if (performance.now() >= deadline) throw new AuditLogError('ABORTED', 'the deadline is over')
      const there = since === undefined ? undefined : timeline.tailsAfter(since)
      const now = clock()
      let time = Math.max(highWater, now - drafts.length)
      const kept: AuditEvent[] = []
      const heldBack: [EventDraft, Microseconds][] = []
      for (const draft of drafts) {
        const found = there?.get(draft.tail)
        const opensIn = found ? 0 : throttles.opensIn(draft, now)
        if (found) kept.push(found)
        else if (opensIn > 0) heldBack.push([draft, opensIn])
        else {
          time += 1
          kept.push(keep(throttles.close(draft, Math.min(time, now)), time))
        }
      }
      makeRoom()
      watchers.hint()
      for (const [draft, opensIn] of heldBack) onSuppressed?.(draft, opensIn)
      return kept
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
        index.cameLate(time)
      }
      makeRoom()
      return { imported: fresh.length, skipped: imported.length - fresh.length }
    },

    async get(id, { signal } = {}) {
      check(signal)
      return timeline.find(id)?.event
    },

    async list(query, { signal, trace } = {}) {
      check(signal)
      const pause = async (): Promise<void> => {
        await nextTurn()
        check(signal)
      }
      return listEvents({ timeline, index, tuning, pause }, query, trace)
    },

    async count(query, { signal } = {}) {
      check(signal)
      return countEvents(timeline, query, clock(), async () => {
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
          index.forget()
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
        index.forget()
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
      const counts = throttles.unclaimed(now, MOST_TOLD)
      if (counts.length > 0) {
        keep(draftOf(counts), Math.max(highWater + 1, now))
        throttles.clear(counts)
        makeRoom()
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

    // Those who hold the events live and die with this store.
    async touchLive(_ids, { signal } = {}) {
      check(signal)
    },

    async closeLive(id, change, { signal } = {}) {
      check(signal)
      if (live.change(id, change)) {
        live.close(id)
        const found = timeline.find(id)
        if (found) index.cameLate(found.time)
        watchers.hint()
      }
      return timeline.find(id)?.event
    },

    async openEvents({ signal } = {}) {
      check(signal)
      return live.list()
    },

    watch: (hint) => watchers.add(hint),

    async close() {
      closed = true
      watchers.clear()
    },
  }
}
