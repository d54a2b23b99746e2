import type { AuditEvent } from '../../../src/event/event.js'
import { eventId, TAIL_LENGTH } from '../../../src/event/event-id.js'
import { formatTimestamp, type Microseconds } from '../../../src/event/timestamp.js'
import { LazyEvent } from '../../../src/store-kit/lazy-event.js'

/** A row of `daybook_events` as {@link EVENT_COLUMNS} selects it. */
export interface EventRow {
  readonly created_at: Microseconds
  readonly tail: string
  readonly type: string
  readonly username: string | null
  readonly source: string | null
  readonly system: 0 | 1
  /** JSON text. */
  readonly attributes: string
}

export const EVENT_COLUMNS =
  'created_at, tail, type, username, source, system, json(attributes) AS attributes'

/** The values of {@link EVENT_COLUMNS}: of many rows the driver gives these in two thirds of the time. */
export type EventValues = readonly [
  created_at: Microseconds,
  tail: string,
  type: string,
  username: string | null,
  source: string | null,
  system: 0 | 1,
  attributes: string,
]

/** By their places, as to take an array apart goes by its iterator. */
export const valuesToRow = (values: EventValues): EventRow => ({
  created_at: values[0],
  tail: values[1],
  type: values[2],
  username: values[3],
  source: values[4],
  system: values[5],
  attributes: values[6],
})

/** All fields are named, as to spread them takes longer than all else here. */
const eventOf = (row: EventRow, attributes: AuditEvent['attributes']): AuditEvent => ({
  id: row.tail.length === TAIL_LENGTH ? eventId(row.created_at, row.tail) : row.tail,
  created_at: formatTimestamp(row.created_at),
  username: row.username,
  system: row.system === 1,
  type: row.type,
  source: row.source,
  attributes,
})

export const rowToEvent = (row: EventRow): AuditEvent =>
  eventOf(row, JSON.parse(row.attributes) as AuditEvent['attributes'])

const UNREAD: AuditEvent['attributes'] = {}

/** As `rowToEvent`, the attributes not read. */
export const rowToLazyEvent = (row: EventRow): AuditEvent =>
  new LazyEvent(eventOf(row, UNREAD), row.attributes)
