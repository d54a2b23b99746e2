import { setImmediate as nextTurn } from 'node:timers/promises'
import { AuditLogError, throwIfAborted } from '../../src/errors.js'
import { type AuditEvent, stampDraft } from '../../src/event.js'
import { parseEventId } from '../../src/event-id.js'
import { timeBounds } from '../../src/filter/bounds.js'
import { pageCollector } from '../../src/filter/collect.js'
import { compileFilter } from '../../src/filter/evaluate.js'
import { createWatchers } from '../../src/following.js'
import { freshEvents } from '../../src/importing.js'
import type { EventStore } from '../../src/store.js'
import { type Clock, type Microseconds, systemClock } from '../../src/timestamp.js'

export interface MemoryStoreOptions {
  /**
   * Most events to keep; the oldest go first. At least 1.
   * @default Infinity
   */
  readonly maxEvents?: number
  /** The present time in microseconds. @default the system's clock */
  readonly clock?: Clock
}

interface TimedEvent {
  readonly time: Microseconds
  readonly event: AuditEvent
}

// A scan gives the event loop a turn after so many events.
const SCAN_SLICE = 10_000

/**
 * Keeps events in this process's memory: for tests, and as the readable definition of what every
 * store must answer. Nothing survives the process. The events it gives out are frozen.
 */
export function memoryStore(options: MemoryStoreOptions = {}): EventStore {
  const { maxEvents = Infinity, clock = systemClock() } = options
  if (!(maxEvents >= 1)) throw new AuditLogError('INVALID_OPTION', 'maxEvents must be at least 1')

  /** In order of time. Appended to in place, else replaced, so that a running scan keeps its own. */
  let events: TimedEvent[] = []
  /** Where the kept events begin; what lies before is dropped in bulk. */
  let start = 0
  let highWater: Microseconds = 0
  /** Times of the ids that do not carry theirs. */
  const foreignIds = new Map<string, Microseconds>()
  const watchers = createWatchers()
  let closed = false

  const check = (signal: AbortSignal | undefined): void => {
    if (closed) throw new AuditLogError('CLOSED', 'the memory store is closed')
    throwIfAborted(signal)
  }

  /** The first index from `start` on whose time is not below. */
  const indexOf = (time: Microseconds): number => {
    let [low, high] = [start, events.length]
    while (low < high) {
      const middle = (low + high) >>> 1
      if (events[middle]!.time < time) low = middle + 1
      else high = middle
    }
    return low
  }

  const at = (time: Microseconds): AuditEvent | undefined => {
    const found = events[indexOf(time)]
    return found?.time === time ? found.event : undefined
  }

  const find = (id: string): AuditEvent | undefined => {
    const time = foreignIds.get(id) ?? parseEventId(id)?.time
    const event = time === undefined ? undefined : at(time)
    return event?.id === id ? event : undefined
  }

  /** Drops so many of the oldest, if that is more than none. */
  const drop = (count: number): void => {
    for (let i = 0; i < count; i++) foreignIds.delete(events[start++]!.event.id)
    if (start > events.length / 2) {
      events = events.slice(start)
      start = 0
    }
  }

  return {
    name: 'memory',
    maxBatch: 1000,

    async append(drafts, { signal, deadline = Infinity } = {}) {
      check(signal)
      if (performance.now() >= deadline) throw new AuditLogError('ABORTED', 'the deadline is over')
      let time = Math.max(highWater, clock() - drafts.length)
      const stored = drafts.map((draft) => {
        time += 1
        return {
          time,
          event: deepFreeze({ ...stampDraft(draft, time), attributes: parse(draft.json) }),
        }
      })
      events.push(...stored)
      highWater = time
      drop(events.length - start - maxEvents)
      watchers.hint()
      return stored.map(({ event }) => event)
    },

    async importEvents(imported, { signal } = {}) {
      check(signal)
      const now = clock()
      const fresh = freshEvents(imported, now, {
        at: (time) => {
          const event = at(time)
          return event && { event, json: JSON.stringify(event.attributes) }
        },
        hasId: (id) => find(id) !== undefined,
      })
      const added = fresh.map(({ event, time, json }) => {
        if (parseEventId(event.id)?.time !== time) foreignIds.set(event.id, time)
        return { time, event: deepFreeze({ ...event, attributes: parse(json) }) }
      })
      events = [...events.slice(start), ...added].toSorted((a, b) => a.time - b.time)
      start = 0
      for (const { time } of fresh) highWater = Math.max(highWater, time)
      drop(events.length - start - maxEvents)
      return { imported: added.length, skipped: imported.length - added.length }
    },

    async get(id, { signal } = {}) {
      check(signal)
      return find(id)
    },

    async list(query, { signal } = {}) {
      check(signal)
      const matches = compileFilter(query.where)
      const collector = pageCollector(query)
      const bounds = timeBounds(query.where)
      const scanned = events
      const [from, to] = [indexOf(bounds.from), indexOf(bounds.to + 1)]
      const step = collector.direction === 'asc' ? 1 : -1
      for (let i = step > 0 ? from : to - 1, seen = 0; i >= from && i < to; i += step) {
        const { event } = scanned[i]!
        if (matches(event) && collector.add(event)) break
        if (++seen % SCAN_SLICE === 0) {
          await nextTurn()
          check(signal)
        }
      }
      return collector.page()
    },

    async removeBefore(time, { signal } = {}) {
      check(signal)
      let removed = 0
      for (;;) {
        const count = Math.min(indexOf(time) - start, SCAN_SLICE)
        drop(count)
        removed += count
        if (count < SCAN_SLICE) return removed
        await nextTurn()
        check(signal)
      }
    },

    watch: (hint) => watchers.add(hint),

    async close() {
      closed = true
      watchers.clear()
    },
  }
}

// Parsing anew gives the store a copy that nobody else can change, in flat strings.
function parse(json: string): AuditEvent['attributes'] {
  return JSON.parse(json) as AuditEvent['attributes']
}

function deepFreeze<Value extends object>(value: Value): Value {
  for (const member of Object.values(value))
    if (member !== null && typeof member === 'object') deepFreeze(member as object)
  return Object.freeze(value)
}
