import type { AuditEvent } from '../../src/event/event.js'
import { type IdSuffix, parseEventId } from '../../src/event/event-id.js'
import type { Microseconds } from '../../src/event/timestamp.js'
import { createTimedEvents, type TimedEvent } from './timed-events.js'

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
  /** Adds events in order. They must be later than all others. */
  addNewest(added: readonly TimedEvent[]): void
  /** Adds events at free times. */
  insert(added: readonly TimedEvent[]): void
  /** Replaces the event at this time. */
  replace(changed: TimedEvent): void
  /** Drops this many of the oldest events; none for a negative number. */
  drop(count: number): void
  /** Removes up to `max` of the oldest events before `time` that pass the test. Returns their number. */
  removeBefore(time: Microseconds, max: number, isRemovable: (event: AuditEvent) => boolean): number
  remove(ids: ReadonlySet<string>): void
}

export function createTimeline(): Timeline {
  const timed = createTimedEvents()
  const { indexOf } = timed
  /** The times of events whose ids do not contain them. */
  const foreignIds = new Map<string, Microseconds>()

  const eventAt = (time: Microseconds): AuditEvent | undefined => {
    const index = indexOf(time)
    return timed.times[index] === time ? timed.events[index] : undefined
  }

  const drop = (count: number): void => {
    if (count <= 0) return
    const { events, start } = timed
    const end = start + count
    if (foreignIds.size > 0) for (let i = start; i < end; i++) foreignIds.delete(events[i]!.id)
    timed.dropBefore(end)
  }

  return {
    get size() {
      return timed.events.length - timed.start
    },
    get ends(): Timeline['ends'] {
      const { times, start } = timed
      const last = times.length - 1
      return start <= last ? [times[start]!, times[last]!] : undefined
    },
    between(from, to) {
      const { events, times } = timed
      return { events, times, from: indexOf(from), to: indexOf(to + 1) }
    },
    countBefore: (time) => indexOf(time) - timed.start,
    at: eventAt,
    find(id) {
      const time = foreignIds.get(id) ?? parseEventId(id)?.time
      const event = time === undefined ? undefined : eventAt(time)
      return event?.id === id ? { time: time!, event } : undefined
    },
    suffixesAfter(time) {
      const { events } = timed
      const suffixes = new Map<IdSuffix, AuditEvent>()
      for (let i = indexOf(time + 1); i < events.length; i++) {
        const event = events[i]!
        const suffix = parseEventId(event.id)?.suffix
        if (suffix !== undefined && !foreignIds.has(event.id)) suffixes.set(suffix, event)
      }
      return suffixes
    },
    addNewest: timed.addNewest,
    insert(added) {
      for (const { time, event } of added)
        if (parseEventId(event.id)?.time !== time) foreignIds.set(event.id, time)
      timed.insert(added)
    },
    replace({ time, event }) {
      timed.replace(indexOf(time), event)
    },
    drop,
    removeBefore(time, max, isRemovable) {
      const { events, start } = timed
      const range = { events, from: start, to: indexOf(time) }
      const { end, kept } = findRemovable(range, max, isRemovable)
      const removed = end - start - kept.size
      if (removed === 0) return 0
      if (kept.size === 0) drop(removed)
      else {
        for (let i = start; i < end; i++) if (!kept.has(i)) foreignIds.delete(events[i]!.id)
        timed.keep(start, (index) => index >= end || kept.has(index))
      }
      return removed
    },
    remove(ids) {
      const { events, start } = timed
      timed.keep(start, (index) => !ids.has(events[index]!.id))
      for (const id of ids) foreignIds.delete(id)
    },
  }
}

/** Tests events until `max` pass. Returns the index after them, and the indexes of the failing events. */
function findRemovable(
  { events, from, to }: Pick<EventRange, 'events' | 'from' | 'to'>,
  max: number,
  isRemovable: (event: AuditEvent) => boolean,
): { readonly end: number; readonly kept: ReadonlySet<number> } {
  const kept = new Set<number>()
  let end = from
  for (; end < to && end - from - kept.size < max; end++)
    if (!isRemovable(events[end]!)) kept.add(end)
  return { end, kept }
}
