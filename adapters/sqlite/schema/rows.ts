import zlib from 'node:zlib'
import type { AuditEvent } from '../../../src/event/event.js'
import { idOf } from '../../../src/event/event-id.js'
import { formatTimestamp, type Microseconds } from '../../../src/event/timestamp.js'
import { LazyEvent } from '../../../src/event/lazy-event.js'
import { MIN_SEARCHED } from '../../../src/store-kit/stored-filter.js'

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
  /** See {@link checksumOf}; open live events have none. */
  readonly checksum?: number | undefined
}

// The attributes are empty bytes if they are packed: see packed-rows.ts.
export const EVENT_COLUMNS = `created_at, suffix, type, username, source, system,
  iif(octet_length(attributes) > 0, json(attributes), packed) AS attributes, checksum`

/** A row as it is in the table. */
export interface StoredRow extends Omit<EventRow, 'attributes'> {
  /** JSON text; the packed value of attributes and source; or null if the row has lost them. */
  readonly attributes: string | Uint8Array | null
}

/** True if the row has the JSON text of its attributes. */
export const isPlain = (row: StoredRow): row is EventRow => typeof row.attributes === 'string'

/** The values of {@link EVENT_COLUMNS}. The driver returns arrays in two thirds of the time of objects. */
export type EventValues = readonly [
  created_at: Microseconds,
  suffix: string,
  type: string,
  username: string | null,
  source: string | null,
  system: 0 | 1,
  attributes: string | Uint8Array | null,
  checksum: number,
]

/** Reads the values by index: destructuring an array uses its iterator, which is slower. */
export const valuesToRow = (values: EventValues): StoredRow => ({
  created_at: values[0],
  suffix: values[1],
  type: values[2],
  username: values[3],
  source: values[4],
  system: values[5],
  attributes: values[6],
  checksum: values[7],
})

/** The CRC-32 of a row, which SQLite returns with the same JSON text that it was given. */
export const checksumOf = (row: EventRow): number =>
  zlib.crc32(
    `${row.created_at} ${row.suffix} ${row.system} ${row.type} ${row.username} ${row.source}${row.attributes}`,
  )

/** False if the row does not have its checksum. */
export const isIntact = (row: EventRow): boolean =>
  row.checksum === undefined ||
  (typeof row.attributes === 'string' && row.checksum === checksumOf(row))

/** Lists all fields: spreading the row would take longer than everything else here. */
const eventOf = (row: EventRow, attributes: AuditEvent['attributes']): AuditEvent => ({
  id: idOf(row.created_at, row.suffix),
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

/** An event to be checked by `compileStoredFilter`: a large one is not parsed before. */
export const rowToCheckedEvent = (row: EventRow): AuditEvent =>
  row.attributes.length < MIN_SEARCHED ? rowToEvent(row) : rowToLazyEvent(row)
