import type { AuditEvent, EventDraft } from '../../../src/event/event.js'
import { sql } from '../../../src/store-kit/sql.js'
import type { AppendOptions } from '../../../src/store/store.js'
import type { Microseconds } from '../../../src/event/timestamp.js'
import { EVENT_COLUMNS, type EventRow, rowToEvent } from '../schema/rows.js'
import { scanEvents } from '../read/scan.js'
import type { Tables } from '../schema/tables.js'

/** The events of drafts that an earlier attempt with an unknown outcome has stored. */
export interface Recovered {
  /** All of these events, by their suffixes. Call it in the transaction that appends the other drafts. */
  events(): ReadonlyMap<string, AuditEvent>
}

/**
 * Looks for drafts that may have been stored later than `since`. Most of the search runs outside of a
 * write transaction; `events` searches only what became visible since.
 */
export async function recover(
  tables: Tables,
  drafts: readonly EventDraft[],
  since: Microseconds,
  options: AppendOptions,
): Promise<Recovered> {
  const { connection, events, live } = tables
  const suffixes = new Set(drafts.map(({ suffix }) => suffix))
  const found = new Map<string, AuditEvent>()
  const take = (row: EventRow): boolean => {
    if (suffixes.has(row.suffix)) found.set(row.suffix, rowToEvent(row))
    return found.size === suffixes.size
  }
  const where = sql('suffix IN (SELECT value FROM json_each(?))', JSON.stringify([...suffixes]))
  const end = await connection.retry(() => events.highWater(), options)
  const bounds = { from: since + 1, to: end }
  await scanEvents(tables, { bounds, direction: 'asc', where: () => where }, take, options)
  return {
    events() {
      const from = Math.max(since, end) + 1
      const text = `SELECT ${EVENT_COLUMNS} FROM daybook_events WHERE created_at >= ? AND ${where.text}`
      const select = connection.statement(text).raw(false)
      const rows = select.all(from, ...where.params) as EventRow[]
      for (const row of [...live.between({ from, to: Number.MAX_SAFE_INTEGER }), ...rows])
        if (events.check(row)) take(row)
      return found
    },
  }
}
