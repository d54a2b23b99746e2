import type { AuditEvent } from '../../../src/event/event.js'
import { eventId, parseEventId, TAIL_LENGTH } from '../../../src/event/event-id.js'
import { formatTimestamp } from '../../../src/event/timestamp.js'
import { LazyEvent } from '../../../src/store-kit/lazy-event.js'
import type { TextRow } from '../connection/client.js'
import type { Ask } from '../connection/connection.js'
import type { Names } from './names.js'

export const EVENT_COLUMNS = 'created_at, tail, type, username, source, system, attributes'

function ownFields(row: TextRow): Omit<AuditEvent, 'attributes'> {
  const [created_at, tail, type, username, source, system] = row
  const time = Number(created_at)
  return {
    id: tail!.length === TAIL_LENGTH ? eventId(time, tail!) : tail!,
    created_at: formatTimestamp(time),
    username: username!,
    system: system === 't',
    type: type!,
    source: source!,
  }
}

const jsonOf = (row: TextRow): string => row[6]!

/** A row of the events as {@link EVENT_COLUMNS} selects it. */
export function rowToEvent(row: TextRow): AuditEvent {
  const attributes = JSON.parse(jsonOf(row)) as AuditEvent['attributes']
  return { ...ownFields(row), attributes }
}

/** Of the members that the server adds in SQL, which are added together. */
const ADDED = '"suppressed_since"'

/** As `rowToEvent`, the attributes not read. */
export function rowToUnread(row: TextRow): AuditEvent {
  const json = jsonOf(row)
  // The caller's data may have had one of that name, which is then there twice.
  return json.includes(ADDED) ? rowToEvent(row) : new LazyEvent(ownFields(row), json)
}

/** The event with this id that is not open, or `undefined`. */
export async function findEvent(
  ask: Ask,
  { events, foreignIds }: Names,
  id: string,
): Promise<AuditEvent | undefined> {
  const rows = await ask(
    `SELECT ${EVENT_COLUMNS} FROM ${events} WHERE created_at =
       coalesce((SELECT created_at FROM ${foreignIds} WHERE id = $1), $2)`,
    id,
    parseEventId(id)?.time ?? null,
  )
  return rows.map(rowToEvent).find((event) => event.id === id)
}
