import { AuditLogError, throwIfAborted } from '../../src/errors.js'
import { type AuditEvent, type EventDraft, stampDraft } from '../../src/event/event.js'
import type { Clock, Microseconds } from '../../src/event/timestamp.js'
import { createWatchers, type Watchers } from '../../src/store-kit/watchers.js'
import { createEventIndex, type EventIndex } from './event-index.js'
import { parseFrozen } from './frozen.js'
import { createLateEvents, type LateEvents } from './late-events.js'
import { createLiveEvents, type LiveEvents } from './live.js'
import { createThrottles, type Throttles } from './throttles.js'
import { createTimeline, type Timeline } from './timeline.js'

/** The number of events between two pauses. */
export const EVENTS_PER_SLICE = 10_000

/** The data of a memory store. */
export interface MemoryLog {
  readonly timeline: Timeline
  readonly live: LiveEvents
  readonly index: EventIndex
  readonly late: LateEvents
  readonly throttles: Throttles
  readonly watchers: Watchers
  readonly clock: Clock
  /** The time of the newest event that was ever stored; 0 before the first. */
  readonly highWater: Microseconds
  /** Throws if the store is closed or the signal has aborted. */
  check(signal: AbortSignal | undefined): void
  /** Stores an event with a time above the high-water mark. */
  store(draft: EventDraft, time: Microseconds): AuditEvent
  raiseHighWater(time: Microseconds): void
  /** Must be called for an event that became visible behind others. */
  addLate(time: Microseconds): void
  /** Drops the oldest events beyond `maxEvents`. */
  dropExcess(): void
  close(): void
}

export function createMemoryLog(maxEvents: number, clock: Clock): MemoryLog {
  const timeline = createTimeline()
  const live = createLiveEvents(timeline)
  const watchers = createWatchers()
  const index = createEventIndex(timeline, live)
  const late = createLateEvents()
  let highWater: Microseconds = 0
  let isClosed = false

  return {
    timeline,
    live,
    index,
    late,
    throttles: createThrottles(),
    watchers,
    clock,
    get highWater() {
      return highWater
    },
    check(signal) {
      if (isClosed) throw new AuditLogError('CLOSED', 'the memory store is closed')
      throwIfAborted(signal)
    },
    store(draft, time) {
      const event = Object.freeze({
        ...stampDraft(draft, time),
        attributes: parseFrozen(draft.json),
      })
      timeline.addNewest([{ time, event }])
      highWater = time
      if (draft.live) live.open(event)
      return event
    },
    raiseHighWater(time) {
      highWater = Math.max(highWater, time)
    },
    addLate(time) {
      index.addLate(time)
      late.add(time)
    },
    dropExcess() {
      const excess = timeline.size - maxEvents
      if (excess <= 0) return
      const { events, from } = timeline.between(-Infinity, Infinity)
      for (const { id } of events.slice(from, from + excess)) live.close(id)
      timeline.drop(excess)
    },
    close() {
      isClosed = true
      watchers.clear()
    },
  }
}
