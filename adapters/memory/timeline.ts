import type { AuditEvent } from '../../src/event/event.js'
import { type IdSuffix, parseEventId } from '../../src/event/event-id.js'
import type { Microseconds } from '../../src/event/timestamp.js'

export interface TimedEvent {
  readonly time: Microseconds
  readonly event: AuditEvent
}

/** A range of a timeline. Later additions and removals do not change it. */
export interface EventRange {
  readonly events: readonly AuditEvent[]
  /** The times of the events at the same indexes. */
  readonly times: readonly Microseconds[]
  /** The range has the indexes from `from` to before `to`. */
  readonly from: number
  readonly to: number
}

/** Events in the order of their times, found by time and by id. */
export interface Timeline {
  readonly size: number
  /** The times of the oldest and the newest event. */
  readonly ends: readonly [first: Microseconds, last: Microseconds] | undefined
  /** The events from time `from` to time `to`, both included. */
  between(from: Microseconds, to: Microseconds): EventRange
  countBefore(time: Microseconds): number
  at(time: Microseconds): AuditEvent | undefined
  find(id: string): TimedEvent | undefined
  /** The events later than `time`, without those with imported ids, by the suffixes of their ids. */
  suffixesAfter(time: Microseconds): ReadonlyMap<IdSuffix, AuditEvent>
  /** Adds events, in order, that are later than all others. */
  append(added: readonly TimedEvent[]): void
  /** Adds events at times that no other event has. */
  insert(added: readonly TimedEvent[]): void
  /** Replaces the event at this time. */
  replace(changed: TimedEvent): void
  /** Drops this many of the oldest events; none if the number is negative. */
  drop(count: number): void
  /** Removes up to `max` of the oldest events before `time` that pass the test; returns their number. */
  removeBefore(time: Microseconds, max: number, isRemovable: (event: AuditEvent) => boolean): number
  remove(ids: ReadonlySet<string>): void
}

export function createTimeline(): Timeline {
  /** Appending changes both in place. Other changes replace them, so a running scan keeps the old arrays. */
  let events: AuditEvent[] = []
  let times: Microseconds[] = []
  /** Index of the first event. Dropped events stay in the arrays before it until there are many. */
  let start = 0
  /** The times of events whose ids do not contain them. */
  const foreignIds = new Map<string, Microseconds>()

  /** The first index whose time is not before this one. */
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

  /** Keeps only the events from index `from` that pass the test. */
  const keep = (from: number, isKept: (index: number) => boolean): void => {
    const [keptEvents, keptTimes]: [AuditEvent[], Microseconds[]] = [[], []]
    for (let i = from; i < events.length; i++)
      if (isKept(i)) {
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
    suffixesAfter(time) {
      const suffixes = new Map<IdSuffix, AuditEvent>()
      for (let i = indexOf(time + 1); i < events.length; i++) {
        const event = events[i]!
        const suffix = parseEventId(event.id)?.suffix
        if (suffix !== undefined && !foreignIds.has(event.id)) suffixes.set(suffix, event)
      }
      return suffixes
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
    removeBefore(time, max, isRemovable) {
      const end = indexOf(time)
      const kept = new Set<number>()
      let next = start
      for (; next < end && next - start - kept.size < max; next++)
        if (!isRemovable(events[next]!)) kept.add(next)
      const removed = next - start - kept.size
      if (removed === 0) return 0
      if (kept.size === 0) drop(removed)
      else {
        for (let i = start; i < next; i++) if (!kept.has(i)) foreignIds.delete(events[i]!.id)
        keep(start, (index) => index >= next || kept.has(index))
      }
      return removed
    },
    remove(ids) {
      keep(start, (index) => !ids.has(events[index]!.id))
      for (const id of ids) foreignIds.delete(id)
    },
  }
}
