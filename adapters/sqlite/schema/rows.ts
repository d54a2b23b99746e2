import type { AuditEvent } from '../../../src/event/event.js'
import { eventId, SUFFIX_LENGTH } from '../../../src/event/event-id.js'
import { formatTimestamp, type Microseconds } from '../../../src/event/timestamp.js'
import { LazyEvent } from '../../../src/store-kit/lazy-event.js'

/** A row of `daybook_events` as {@link EVENT_COLUMNS} selects it. */
export interface EventRow {
  readonly created_at: Microseconds
  readonly suffix: string
  readonly type: string
  readonly username: string | null
  readonly source: string | null
  readonly system: 0 | 1
  /** JSON text. */
  readonly attributes: string
}

export const EVENT_COLUMNS =
  'created_at, suffix, type, username, source, system, json(attributes) AS attributes'

/** The values of {@link EVENT_COLUMNS}. The driver returns arrays in two thirds of the time of objects. */
export type EventValues = readonly [
  created_at: Microseconds,
  suffix: string,
  type: string,
  username: string | null,
  source: string | null,
  system: 0 | 1,
  attributes: string,
]

/** Reads the values by index: destructuring an array uses its iterator, which is slower. */
export const valuesToRow = (values: EventValues): EventRow => ({
  created_at: values[0],
  suffix: values[1],
  type: values[2],
  username: values[3],
  source: values[4],
  system: values[5],
  attributes: values[6],
})

/** Lists all fields: spreading the row would take longer than everything else here. */
const eventOf = (row: EventRow, attributes: AuditEvent['attributes']): AuditEvent => ({
  id: row.suffix.length === SUFFIX_LENGTH ? eventId(row.created_at, row.suffix) : row.suffix,
  created_at: formatTimestamp(row.created_at),
  username: row.username,
  system: row.system === 1,
  type: row.type,
  source: row.source,
  attributes,
})

export const rowToEvent = (row: EventRow): AuditEvent =>
  eventOf(row, JSON.parse(row.attributes) as AuditEvent['attributes'])

const NO_ATTRIBUTES: AuditEvent['attributes'] = {}

/** Returns an event that parses its attributes when they are first read. */
export const rowToLazyEvent = (row: EventRow): AuditEvent =>
  new LazyEvent(eventOf(row, NO_ATTRIBUTES), row.attributes)
