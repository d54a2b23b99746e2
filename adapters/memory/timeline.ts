import type { AuditEvent } from '../../src/event.js'
import { type IdTail, parseEventId } from '../../src/event-id.js'
import type { Microseconds } from '../../src/timestamp.js'

export interface TimedEvent {
  readonly time: Microseconds
  readonly event: AuditEvent
}

/** A stretch of a timeline, as it is at this moment: later additions and removals leave it alone. */
export interface Stretch {
  readonly events: readonly TimedEvent[]
  /** Of `events`, those from index `from` on, before `to`. */
  readonly from: number
  readonly to: number
}

/** Events in the order of their times, found by time and by id. */
export interface Timeline {
  readonly size: number
  /** The times of the oldest and of the newest. */
  readonly ends: readonly [first: Microseconds, last: Microseconds] | undefined
  /** Those whose time is not before `from`, and not after `to`. */
  between(from: Microseconds, to: Microseconds): Stretch
  countBefore(time: Microseconds): number
  at(time: Microseconds): AuditEvent | undefined
  find(id: string): TimedEvent | undefined
  /** The events later than `time` whose ids this log has given them, by the tails of these. */
  tailsAfter(time: Microseconds): ReadonlyMap<IdTail, AuditEvent>
  /** Adds events that are later than all there are, in their order. */
  append(added: readonly TimedEvent[]): void
  /** Adds events at any times that are free. */
  insert(added: readonly TimedEvent[]): void
  /** Puts the event in the place of the one with its time. */
  replace(changed: TimedEvent): void
  /** Drops so many of the oldest, if that is more than none. */
  drop(count: number): void
  /** Removes the oldest before `time` that may go, at most so many; gives their number. */
  removeBefore(time: Microseconds, most: number, mayGo: (event: AuditEvent) => boolean): number
  remove(ids: ReadonlySet<string>): void
}

export function createTimeline(): Timeline {
  /** Appended to in place, else replaced, so that a running scan keeps its own. */
  let events: TimedEvent[] = []
  /** Where the kept events begin; what lies before is dropped in bulk. */
  let start = 0
  /** Times of the ids that do not carry theirs. */
  const foreignIds = new Map<string, Microseconds>()

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

  const entryAt = (time: Microseconds): TimedEvent | undefined => {
    const found = events[indexOf(time)]
    return found?.time === time ? found : undefined
  }

  const drop = (count: number): void => {
    for (let i = 0; i < count; i++) foreignIds.delete(events[start++]!.event.id)
    if (start > events.length / 2) {
      events = events.slice(start)
      start = 0
    }
  }

  return {
    get size() {
      return events.length - start
    },
    get ends(): Timeline['ends'] {
      const [first, last] = [events[start], events.at(-1)]
      return first && last ? [first.time, last.time] : undefined
    },
    between: (from, to) => ({ events, from: indexOf(from), to: indexOf(to + 1) }),
    countBefore: (time) => indexOf(time) - start,
    at: (time) => entryAt(time)?.event,
    find(id) {
      const time = foreignIds.get(id) ?? parseEventId(id)?.time
      const found = time === undefined ? undefined : entryAt(time)
      return found?.event.id === id ? found : undefined
    },
    tailsAfter(time) {
      const tails = new Map<IdTail, AuditEvent>()
      for (const { event } of events.slice(indexOf(time + 1))) {
        const tail = parseEventId(event.id)?.tail
        if (tail !== undefined && !foreignIds.has(event.id)) tails.set(tail, event)
      }
      return tails
    },
    append(added) {
      for (const one of added) events.push(one)
    },
    insert(added) {
      for (const { time, event } of added)
        if (parseEventId(event.id)?.time !== time) foreignIds.set(event.id, time)
      events = [...events.slice(start), ...added].toSorted((a, b) => a.time - b.time)
      start = 0
    },
    replace(changed) {
      events[indexOf(changed.time)] = changed
    },
    drop,
    removeBefore(time, most, mayGo) {
      const end = indexOf(time)
      const staying: TimedEvent[] = []
      let next = start
      for (; next < end && next - start - staying.length < most; next++)
        if (!mayGo(events[next]!.event)) staying.push(events[next]!)
      const removed = next - start - staying.length
      if (removed === 0) return 0
      drop(next - start)
      if (staying.length > 0) {
        events = [...staying, ...events.slice(start)]
        start = 0
      }
      return removed
    },
    remove(ids) {
      events = events.slice(start).filter(({ event }) => !ids.has(event.id))
      start = 0
      for (const id of ids) foreignIds.delete(id)
    },
  }
}
