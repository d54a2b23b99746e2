import type { AuditEvent, EventDraft } from '../../../src/event/event.js'
import { sql } from '../../../src/store-kit/sql.js'
import type { AppendOptions } from '../../../src/store/store.js'
import type { Microseconds } from '../../../src/event/timestamp.js'
import { EVENT_COLUMNS, type EventRow, type EventValues, rowToEvent } from '../schema/rows.js'
import { scanEvents } from '../read/scan.js'
import type { Tables } from '../schema/log-tables.js'

/** Events of drafts that earlier attempts with unknown outcomes have stored. */
export interface Recovered {
  readonly events: ReadonlyMap<string, AuditEvent>
  /** Events that became visible later were not searched. */
  readonly searchedTo: Microseconds
}

const suffixesOf = (drafts: readonly Pick<EventDraft, 'suffix'>[]): ReadonlySet<string> =>
  new Set(drafts.map(({ suffix }) => suffix))

const whereSuffixIn = (suffixes: ReadonlySet<string>) =>
  sql('suffix IN (SELECT value FROM json_each(?))', JSON.stringify([...suffixes]))

/** Looks for drafts that may have been stored later than `since`. */
export async function recover(
  tables: Tables,
  drafts: readonly EventDraft[],
  since: Microseconds,
  options: AppendOptions,
): Promise<Recovered> {
  const { connection, events } = tables
  const suffixes = suffixesOf(drafts)
  const found = new Map<string, AuditEvent>()
  const take = (row: EventRow): boolean => {
    if (suffixes.has(row.suffix)) found.set(row.suffix, rowToEvent(row))
    return found.size === suffixes.size
  }
  const where = whereSuffixIn(suffixes)
  const end = await connection.retry(() => events.highWater(), options)
  const bounds = { from: since + 1, to: end }
  await scanEvents(tables, { bounds, direction: 'asc', where: () => where }, take, options)
  return { events: found, searchedTo: Math.max(since, end) }
}

/** All of these events, also those that became visible since the search. Call it in the transaction that appends. */
export function recoverRest(
  { connection, events, live }: Tables,
  drafts: readonly Pick<EventDraft, 'suffix'>[],
  { events: before, searchedTo }: Recovered,
): ReadonlyMap<string, AuditEvent> {
  const isStored = ({ id }: AuditEvent): boolean => !!(live.find(id) ?? events.find(id))
  // Found in another snapshot: events of rejected drafts may have been removed since.
  const found = new Map([...before].filter(([, event]) => isStored(event)))
  const suffixes = suffixesOf(drafts)
  const from = searchedTo + 1
  const where = whereSuffixIn(suffixes)
  const text = `SELECT ${EVENT_COLUMNS} FROM daybook_events WHERE created_at >= ? AND ${where.text}`
  const values = connection
    .statement(text)
    .raw(true)
    .all(from, ...where.params) as EventValues[]
  const rows = values.map((one) => events.open(one))
  for (const row of [...live.between({ from, to: Number.MAX_SAFE_INTEGER }), ...rows])
    if (suffixes.has(row.suffix) && events.check(row)) found.set(row.suffix, rowToEvent(row))
  return found
}
