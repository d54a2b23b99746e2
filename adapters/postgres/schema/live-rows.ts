import type { AuditEvent, JsonObject } from '../../../src/event/event.js'
import { setKey } from '../../../src/event/json-copy.js'
import type { Microseconds } from '../../../src/event/timestamp.js'
import type { TextRow } from '../connection/client.js'
import type { Ask } from '../connection/connection.js'
import type { Names } from './names.js'
import { EVENT_COLUMNS, rowToEvent } from './rows.js'

/** An open live event as its row has it: the texts that were added to its attributes are apart. */
export interface LiveRow {
  readonly time: Microseconds
  readonly revision: number
  readonly beats: number
  /** The change that the attributes are from. */
  readonly baseRevision: number
  readonly base: AuditEvent
}

export const LIVE_COLUMNS = `${EVENT_COLUMNS}, revision, beats, base_revision`

export function readLiveRow(row: TextRow): LiveRow {
  const [revision, beats, baseRevision] = row.slice(7).map(Number)
  return {
    time: Number(row[0]),
    revision: revision!,
    beats: beats!,
    baseRevision: baseRevision!,
    base: rowToEvent(row),
  }
}

/** The attributes with a text added, or in place of what is there. */
function withText(attributes: JsonObject, key: string, text: string, replaces: boolean): void {
  const before = Object.hasOwn(attributes, key) ? attributes[key] : ''
  setKey(attributes, key, replaces || typeof before !== 'string' ? text : before + text)
}

/** The events as the rows and their texts make them; `ask` reads in the rows' snapshot. */
export async function readOpen(
  ask: Ask,
  { liveTexts }: Names,
  rows: readonly LiveRow[],
): Promise<AuditEvent[]> {
  if (rows.length === 0) return []
  const texts = await ask(
    `SELECT created_at, key, text, replaces, revision FROM ${liveTexts}
     WHERE created_at = ANY ($1::bigint[]) ORDER BY created_at, revision, place`,
    rows.map(({ time }) => time),
  )
  const byTime = new Map(
    rows.map(({ time, baseRevision, base }) => [
      time,
      { baseRevision, event: { ...base, attributes: { ...base.attributes } } },
    ]),
  )
  for (const [created_at, key, text, replaces, revision] of texts) {
    const { baseRevision, event } = byTime.get(Number(created_at))!
    // What came in place of a text stands behind the text of attributes that came later.
    const isFirst = replaces === 't' && Number(revision) >= baseRevision
    withText(event.attributes, key!, text!, isFirst)
  }
  return rows.map(({ time }) => byTime.get(time)!.event)
}
