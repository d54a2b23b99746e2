import type { AuditEvent } from '../../src/event/event.js'
import type { Microseconds } from '../../src/event/timestamp.js'

export interface TimedEvent {
  readonly time: Microseconds
  readonly event: AuditEvent
}

/** Events in the order of their times. An event and its time have the same index. */
export interface TimedEvents {
  /**
   * The events. `addNewest` and `replace` change the arrays in place. Other changes create new arrays, so a running
   * scan keeps the old arrays.
   */
  readonly events: readonly AuditEvent[]
  readonly times: readonly Microseconds[]
  /** Index of the first event. Dropped events stay in the arrays before this index until there are many. */
  readonly start: number
  /** The first index whose time is at or after this time. */
  readonly indexOf: (time: Microseconds) => number
  /** Adds events in order. They must be later than all others. */
  readonly addNewest: (added: readonly TimedEvent[]) => void
  /** Adds events at free times. */
  insert(added: readonly TimedEvent[]): void
  replace(index: number, event: AuditEvent): void
  /** Drops the events before the index. */
  dropBefore(index: number): void
  /** Keeps only the events from index `from` that pass the test. */
  keep(from: number, isKept: (index: number) => boolean): void
}

export function createTimedEvents(): TimedEvents {
  let events: AuditEvent[] = []
  let times: Microseconds[] = []
  let start = 0

  const indexOf = (time: Microseconds): number => {
    let [low, high] = [start, times.length]
    while (low < high) {
      const middle = (low + high) >>> 1
      if (times[middle]! < time) low = middle + 1
      else high = middle
    }
    return low
  }

  const addNewest = (added: readonly TimedEvent[]): void => {
    for (const { time, event } of added) {
      times.push(time)
      events.push(event)
    }
  }

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

  return {
    get events() {
      return events
    },
    get times() {
      return times
    },
    get start() {
      return start
    },
    indexOf,
    addNewest,
    insert(added) {
      const inOrder = added.toSorted((a, b) => a.time - b.time)
      const first = inOrder[0] ? indexOf(inOrder[0].time) : times.length
      const rest = events.slice(first).map((event, i) => ({ time: times[first + i]!, event }))
      if (rest.length > 0) {
        events = events.slice(start, first)
        times = times.slice(start, first)
        start = 0
      }
      addNewest([...rest, ...inOrder].toSorted((a, b) => a.time - b.time))
    },
    replace(index, event) {
      events[index] = event
    },
    dropBefore(index) {
      start = index
      if (start > events.length / 2) keep(start, () => true)
    },
    keep,
  }
}
