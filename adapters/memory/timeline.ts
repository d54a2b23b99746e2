import type { AuditEvent } from '../../src/event/event.js'
import { type IdTail, parseEventId } from '../../src/event/event-id.js'
import type { Microseconds } from '../../src/event/timestamp.js'

export interface TimedEvent {
  readonly time: Microseconds
  readonly event: AuditEvent
}

/** A stretch of a timeline, as it is at this moment: later additions and removals leave it alone. */
export interface EventRange {
  readonly events: readonly AuditEvent[]
  /** Of the events at the same indexes. */
  readonly times: readonly Microseconds[]
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
  between(from: Microseconds, to: Microseconds): EventRange
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
  /** Both are appended to in place, else replaced, so that a running scan keeps its own. */
  let events: AuditEvent[] = []
  let times: Microseconds[] = []
  /** Where the kept events begin; what lies before is dropped in bulk. */
  let start = 0
  /** Times of the ids that do not carry theirs. */
  const foreignIds = new Map<string, Microseconds>()

  /** The first index from `start` on whose time is not below. */
  const indexOf = (time: Microseconds): number => {
    let [low, high] = [start, times.length]
    while (low < high) {
      const middle = (low + high) >>> 1
      if (times[middle]! < time) low = middle + 1
      else high = middle
    }
    return low
  }

  const eventAt = (time: Microseconds): AuditEvent | undefined => {
    const index = indexOf(time)
    return times[index] === time ? events[index] : undefined
  }

  const append = (added: readonly TimedEvent[]): void => {
    for (const { time, event } of added) {
      times.push(time)
      events.push(event)
    }
  }

  /** Leaves none but those from `from` on that are to stay. */
  const keep = (from: number, stays: (index: number) => boolean): void => {
    const [keptEvents, keptTimes]: [AuditEvent[], Microseconds[]] = [[], []]
    for (let i = from; i < events.length; i++)
      if (stays(i)) {
        keptEvents.push(events[i]!)
        keptTimes.push(times[i]!)
      }
    events = keptEvents
    times = keptTimes
    start = 0
  }

  const drop = (count: number): void => {
    for (const end = start + count; start < end; start++)
      if (foreignIds.size > 0) foreignIds.delete(events[start]!.id)
    if (start > events.length / 2) keep(start, () => true)
  }

  return {
    get size() {
      return events.length - start
    },
    get ends(): Timeline['ends'] {
      const last = times.length - 1
      return start <= last ? [times[start]!, times[last]!] : undefined
    },
    between: (from, to) => ({ events, times, from: indexOf(from), to: indexOf(to + 1) }),
    countBefore: (time) => indexOf(time) - start,
    at: eventAt,
    find(id) {
      const time = foreignIds.get(id) ?? parseEventId(id)?.time
      const event = time === undefined ? undefined : eventAt(time)
      return event?.id === id ? { time: time!, event } : undefined
    },
    tailsAfter(time) {
      const tails = new Map<IdTail, AuditEvent>()
      for (let i = indexOf(time + 1); i < events.length; i++) {
        const event = events[i]!
        const tail = parseEventId(event.id)?.tail
        if (tail !== undefined && !foreignIds.has(event.id)) tails.set(tail, event)
      }
      return tails
    },
    append,
    insert(added) {
      for (const { time, event } of added)
        if (parseEventId(event.id)?.time !== time) foreignIds.set(event.id, time)
      const inOrder = added.toSorted((a, b) => a.time - b.time)
      const first = inOrder[0] ? indexOf(inOrder[0].time) : times.length
      const rest = events.slice(first).map((event, i) => ({ time: times[first + i]!, event }))
      if (rest.length > 0) {
        events = events.slice(start, first)
        times = times.slice(start, first)
        start = 0
      }
      append([...rest, ...inOrder].toSorted((a, b) => a.time - b.time))
    },
    replace({ time, event }) {
      events[indexOf(time)] = event
    },
    drop,
    removeBefore(time, most, mayGo) {
      const end = indexOf(time)
      const staying = new Set<number>()
      let next = start
      for (; next < end && next - start - staying.size < most; next++)
        if (!mayGo(events[next]!)) staying.add(next)
      const removed = next - start - staying.size
      if (removed === 0) return 0
      if (staying.size === 0) drop(removed)
      else {
        for (let i = start; i < next; i++) if (!staying.has(i)) foreignIds.delete(events[i]!.id)
        keep(start, (index) => index >= next || staying.has(index))
      }
      return removed
    },
    remove(ids) {
      keep(start, (index) => !ids.has(events[index]!.id))
      for (const id of ids) foreignIds.delete(id)
    },
  }
}
