import { AuditLogError } from '../errors.js'
import type { AuditEvent } from '../event/event.js'
import { idOf } from '../event/event-id.js'
import { formatTimestamp, type Microseconds } from '../event/timestamp.js'
import type { Damage } from '../store/damage.js'
import type { Verification, VerifyOptions } from '../store/verification.js'

/*
 * The reports of damage, in the same words for all stores.
 */

const AFFECTS = 'lists, pages, exports and counts leave the event out, and get rejects with DAMAGED'

const timeText = (time: Microseconds): string => {
  try {
    return formatTimestamp(time)
  } catch {
    return String(time)
  }
}

/** The damage of an event whose row is missing. */
export const missingEvent = (time: Microseconds): Damage => ({
  ...damagedEvent(time, undefined, 'the index has it, it was not removed, and its row is gone'),
  kind: 'missing',
  affects: 'no answer has the event',
})

/**
 * True if an event that one of the segments has at this time was not removed since. `removed` is the count of removed
 * events. Segments may overlap, so each one that covers the time must have been built after the last removal.
 */
export function isSealedSinceRemoval(
  segments: readonly { readonly first: number; readonly last: number; readonly removed: number }[],
  removed: number,
  time: Microseconds,
): boolean {
  const covering = segments.filter(({ first, last }) => first <= time && time <= last)
  return covering.length > 0 && covering.every((segment) => segment.removed === removed)
}

/** The damage of an event; `suffix` is what could be read of the row. */
export function damagedEvent(time: Microseconds, suffix: unknown, reason: string): Damage {
  const id = typeof suffix === 'string' ? idOf(time, suffix) : undefined
  const place = `event ${id ?? `of ${timeText(time)}`}`
  return { kind: 'event', place, reason, affects: AFFECTS, id, from: time, to: time }
}

export const damagedEventError = (id: string, cause?: unknown): AuditLogError =>
  new AuditLogError('DAMAGED', `event ${id} cannot be read, because its row is damaged`, { cause })

function isJsonObject(json: unknown): boolean {
  if (typeof json !== 'string') return false
  try {
    const value: unknown = JSON.parse(json)
    return typeof value === 'object' && value !== null && !Array.isArray(value)
  } catch {
    return false
  }
}

const isTextOrNull = (value: unknown): boolean => value === null || typeof value === 'string'

/** How the row of an open live event is not one that was written; `undefined` if that is not known. It has no checksum. */
export function openEventFault(row: {
  readonly suffix: unknown
  readonly type: unknown
  readonly username: unknown
  readonly source: unknown
  readonly attributes: unknown
}): string | undefined {
  const { suffix, type, username, source, attributes } = row
  const isText = typeof suffix === 'string' && typeof type === 'string'
  if (!isText || !isTextOrNull(username) || !isTextOrNull(source))
    return 'a value of its row is missing or is no text'
  return isJsonObject(attributes) ? undefined : 'its attributes are no JSON object'
}

/** The fields of a segment that a report contains. */
export interface ReportedSegment {
  readonly id: number
  readonly size: number
  readonly first: Microseconds
  readonly last: Microseconds
  /** False if the segment's own row is damaged. */
  readonly isTrusted: boolean
}

export const segmentDamage = (
  { id, size, first, last, isTrusted }: ReportedSegment,
  reason: string,
): Damage => ({
  kind: 'segment',
  place: `segment ${id}`,
  reason,
  affects: isTrusted
    ? `queries read its ${size} events one by one until it is built anew`
    : 'queries read all events one by one until the index is built anew',
  ...(isTrusted && { from: first, to: last }),
})

interface UnindexedEvents {
  count: number
  readonly from: Microseconds
  to: Microseconds
}

/** Events between two times that no list with a filter finds. */
const unindexedEvents = ({ count, from, to }: UnindexedEvents): Damage => ({
  kind: 'index',
  place: 'list of segments',
  reason: `${count} events are in no segment`,
  affects: 'lists with a filter may lack them; audit.rebuildIndex() mends that',
  from,
  to,
})

/** Data that the database reports as damaged, or that contradicts other tables. */
export const databaseDamage = (
  place: string,
  reason: string,
  affects = 'rows of the table may be missing from answers; restore the file from a backup',
): Damage => ({ kind: 'database', place, reason, affects })

/** The newest event is later than the high-water mark. */
export const staleHighWater = (
  table: string,
  highWater: Microseconds,
  last: Microseconds,
): Damage => ({
  kind: 'database',
  place: `table ${table}`,
  reason: 'an event is newer than the high-water mark',
  affects: 'new events may come before older ones',
  from: highWater,
  to: last,
})

/** Stands for an event that cannot be read, in an index that has the times of all events. */
export const DAMAGED_EVENT: AuditEvent = {
  id: '',
  created_at: '',
  username: null,
  system: false,
  type: '',
  source: null,
  attributes: {},
}

/** Damages that `EventStore.verify` has found so far. */
export interface Findings {
  /** Adds the damage, unless damage of that kind and place was added before. */
  readonly found: (damage: Damage) => void
  /** Counts an event, and reports the progress from time to time. */
  readonly countEvent: () => void
  /** Adds an event that no list with a filter finds. Times ascend. */
  readonly unindexed: (time: Microseconds) => void
  readonly result: (segments: number) => Verification
}

export function createFindings({ onProgress }: VerifyOptions): Findings {
  const damage = new Map<string, Damage>()
  let events = 0
  let unindexed: UnindexedEvents | undefined
  return {
    found(one) {
      const key = `${one.kind} ${one.place}`
      if (!damage.has(key)) damage.set(key, one)
    },
    countEvent() {
      events += 1
      if (events % 1000 === 0) onProgress?.({ step: 'events', done: events, total: undefined })
    },
    unindexed(time) {
      unindexed ??= { count: 0, from: time, to: time }
      unindexed.count += 1
      unindexed.to = time
    },
    result(segments) {
      const lacking = unindexed ? [unindexedEvents(unindexed)] : []
      return { events, segments, damage: [...damage.values(), ...lacking] }
    },
  }
}
