import type { AuditEvent } from '../../../src/event/event.js'
import { idOf, parseEventId } from '../../../src/event/event-id.js'
import { formatTimestamp } from '../../../src/event/timestamp.js'
import { DAMAGED_EVENT, damagedEvent, damagedEventError } from '../../../src/store-kit/damages.js'
import { LazyEvent } from '../../../src/event/lazy-event.js'
import { MIN_SEARCHED } from '../../../src/store-kit/stored-filter.js'
import { createDamageReporter, type DamageReporter } from '../../../src/store/damage.js'
import type { TextRow } from '../connection/client.js'
import type { Ask } from '../connection/connection.js'
import { isIntact } from './event-checksum.js'
import { isCorrupt } from '../connection/failures.js'
import type { Names } from './names.js'

export const EVENT_COLUMNS = 'created_at, suffix, type, username, source, system, attributes'

function ownFields(row: TextRow): Omit<AuditEvent, 'attributes'> {
  const [created_at, suffix, type, username, source, system] = row
  const time = Number(created_at)
  return {
    id: idOf(time, suffix!),
    created_at: formatTimestamp(time),
    username: username!,
    system: system === 't',
    type: type!,
    source: source!,
  }
}

const jsonOf = (row: TextRow): string => row[6]!

/** {@link EVENT_COLUMNS} and what `faultOf` needs of a row of the table of events. */
export const STORED_COLUMNS = `${EVENT_COLUMNS}, checksum`

/** Returns the fault of a row with the {@link STORED_COLUMNS}; `undefined` if it is intact. */
export function faultOf(row: TextRow): string | undefined {
  const [time, suffix, type, username, source, system, json, checksum] = row
  // Rows that were not written by this store have none.
  if (checksum === null || checksum === undefined) return isJson(json!) ? undefined : NOT_JSON
  const event = {
    suffix: suffix!,
    type: type!,
    username: username!,
    source: source!,
    system: system === 't',
    json: json!,
  }
  return isIntact(event, Number(time), Number(checksum)) ? undefined : 'its checksum is wrong'
}

const NOT_JSON = 'its attributes are not JSON'

function isJson(json: string): boolean {
  try {
    JSON.parse(json)
    return true
  } catch {
    return false
  }
}

/** Passes on intact rows with the {@link STORED_COLUMNS}, and reports the damaged ones. */
export type CheckRows = (rows: readonly TextRow[]) => readonly TextRow[]

export const checkRows =
  (damages: DamageReporter): CheckRows =>
  (rows) =>
    rows.filter((row) => {
      const fault = faultOf(row)
      if (fault !== undefined) damages.report(damagedEvent(Number(row[0]), row[1], fault))
      return fault === undefined
    })

/**
 * The event of a row with the {@link STORED_COLUMNS}; one without values if it cannot be read. `lists` decides whether to
 * parse the JSON text of its attributes.
 */
export function rowToIndexed(row: TextRow, lists: (json: string) => boolean): AuditEvent {
  if (faultOf(row) !== undefined) return DAMAGED_EVENT
  return lists(jsonOf(row)) ? rowToEvent(row) : rowToLazyEvent(row)
}

/** The event of a row with the columns {@link EVENT_COLUMNS}. */
export function rowToEvent(row: TextRow): AuditEvent {
  const attributes = JSON.parse(jsonOf(row)) as AuditEvent['attributes']
  return { ...ownFields(row), attributes }
}

/** One of the members that SQL adds to attributes, always together. */
const ADDED_MEMBER = '"suppressed_since"'

/** Like `rowToEvent`, for the {@link STORED_COLUMNS}; parses the attributes when they are read. */
export function rowToLazyEvent(row: TextRow): AuditEvent {
  const json = jsonOf(row)
  // If the caller's data has a member of that name, the JSON has it twice, so it has to be parsed.
  if (json.includes(ADDED_MEMBER)) return rowToEvent(row)
  // Triggers write JSON in another form, and no checksum.
  return new LazyEvent(ownFields(row), json, row[7] !== null)
}

/** An event to be checked by `compileStoredFilter`: a large one is not parsed before. */
export const rowToCheckedEvent = (row: TextRow): AuditEvent =>
  jsonOf(row).length < MIN_SEARCHED ? rowToEvent(row) : rowToLazyEvent(row)

/**
 * The event with this id, or `undefined`; open live events are not found. Throws `DAMAGED` if it cannot
 * be read.
 */
export async function findEvent(
  ask: Ask,
  { events, foreignIds }: Names,
  id: string,
  damages = createDamageReporter(),
): Promise<AuditEvent | undefined> {
  const select = `SELECT ${STORED_COLUMNS} FROM ${events} WHERE created_at =
    coalesce((SELECT created_at FROM ${foreignIds} WHERE id = $1), $2)`
  const parsed = parseEventId(id)
  const rows = await ask(select, id, parsed?.time ?? null).catch((cause: unknown) => {
    if (!isCorrupt(cause)) throw cause
    if (parsed) damages.report(damagedEvent(parsed.time, parsed.suffix, (cause as Error).message))
    throw damagedEventError(id, cause)
  })
  if (checkRows(damages)(rows).length < rows.length) throw damagedEventError(id)
  return rows.map(rowToEvent).find((event) => event.id === id)
}
