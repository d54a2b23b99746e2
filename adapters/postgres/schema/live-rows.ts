import type { AuditEvent, JsonObject } from '../../../src/event/event.js'
import { setKey } from '../../../src/event/json-copy.js'
import { damagedEvent, damagedEventError, openEventFault } from '../../../src/store-kit/damages.js'
import type { DamageReporter } from '../../../src/store/damage.js'
import type { Microseconds } from '../../../src/event/timestamp.js'
import type { TextRow } from '../connection/client.js'
import type { Ask } from '../connection/connection.js'
import type { Names } from './names.js'
import { EVENT_COLUMNS, rowToEvent } from './rows.js'

/** The row of an open live event, without the texts that were appended to its attributes. */
export interface LiveRow {
  readonly time: Microseconds
  readonly revision: number
  readonly heartbeats: number
  /** The revision that wrote the attributes. */
  readonly baseRevision: number
  readonly base: AuditEvent
}

export const LIVE_COLUMNS = `${EVENT_COLUMNS}, revision, heartbeats, base_revision`

const faultOf = ([, suffix, type, username, source, , attributes]: TextRow): string | undefined =>
  openEventFault({ suffix, type, username, source, attributes })

/** The rows with the {@link LIVE_COLUMNS} that can be read; reports the others. */
export const readLiveRows = (rows: readonly TextRow[], damages: DamageReporter): LiveRow[] =>
  rows
    .filter((row) => {
      const fault = faultOf(row)
      if (fault !== undefined) damages.report(damagedEvent(Number(row[0]), row[1], fault))
      return fault === undefined
    })
    .map(toLiveRow)

/** The row of the event with this id. Throws `DAMAGED` if it cannot be read. */
export function readLiveRow(row: TextRow, id: string): LiveRow {
  if (faultOf(row) !== undefined) throw damagedEventError(id)
  return toLiveRow(row)
}

function toLiveRow(row: TextRow): LiveRow {
  const [revision, heartbeats, baseRevision] = row.slice(7).map(Number)
  return {
    time: Number(row[0]),
    revision: revision!,
    heartbeats: heartbeats!,
    baseRevision: baseRevision!,
    base: rowToEvent(row),
  }
}

/** Appends the text to the attribute, or replaces the attribute by it. */
function applyText(attributes: JsonObject, key: string, text: string, replaces: boolean): void {
  const before = Object.hasOwn(attributes, key) ? attributes[key] : ''
  setKey(attributes, key, replaces || typeof before !== 'string' ? text : before + text)
}

/** The open events of the rows, with their texts. `ask` must read in the snapshot of the rows. */
export async function readOpen(
  ask: Ask,
  { liveTexts }: Names,
  rows: readonly LiveRow[],
): Promise<AuditEvent[]> {
  if (rows.length === 0) return []
  const texts = await ask(
    `SELECT created_at, key, text, replaces, revision FROM ${liveTexts}
     WHERE created_at = ANY ($1::bigint[]) ORDER BY created_at, revision, position`,
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
    // A replacement that is older than the attributes is appended to the text in them.
    const isReplaced = replaces === 't' && Number(revision) >= baseRevision
    applyText(event.attributes, key!, text!, isReplaced)
  }
  return rows.map(({ time }) => byTime.get(time)!.event)
}
