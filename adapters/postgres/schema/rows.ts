import type { AuditEvent } from '../../../src/event/event.js'
import { idOf, parseEventId } from '../../../src/event/event-id.js'
import { formatTimestamp } from '../../../src/event/timestamp.js'
import { LazyEvent } from '../../../src/store-kit/lazy-event.js'
import type { TextRow } from '../connection/client.js'
import type { Ask } from '../connection/connection.js'
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

/** How the row is not what was written; `undefined` if nothing is wrong with it. */
export function faultOf(row: TextRow): string | undefined {
  try {
    JSON.parse(jsonOf(row))
    return undefined
  } catch {
    return 'its attributes are no JSON'
  }
}

/** The event of a row with the columns {@link EVENT_COLUMNS}. */
export function rowToEvent(row: TextRow): AuditEvent {
  const attributes = JSON.parse(jsonOf(row)) as AuditEvent['attributes']
  return { ...ownFields(row), attributes }
}

/** One of the members that SQL adds to attributes, always together. */
const ADDED_MEMBER = '"suppressed_since"'

/** Like `rowToEvent`; parses the attributes when they are read. */
export function rowToLazyEvent(row: TextRow): AuditEvent {
  const json = jsonOf(row)
  // If the caller's data has a member of that name, the JSON has it twice, so it has to be parsed.
  return json.includes(ADDED_MEMBER) ? rowToEvent(row) : new LazyEvent(ownFields(row), json)
}

/** The event with this id, or `undefined`; open live events are not found. */
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
