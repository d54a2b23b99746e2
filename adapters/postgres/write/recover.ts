import {
  type AuditEvent,
  type EventDraft,
  type JsonObject,
  stampDraft,
} from '../../../src/event/event.js'
import type { IdTail } from '../../../src/event/event-id.js'
import type { Microseconds } from '../../../src/event/timestamp.js'
import { ask, type PostgresPoolClient } from '../connection/client.js'
import type { Names } from '../schema/names.js'

export interface KeptEvent {
  readonly event: AuditEvent
  readonly time: Microseconds
}

/** The event that the server has kept; `json` where its attributes may be others than the draft's. */
export function keptEvent(draft: EventDraft, time: Microseconds, json?: string): KeptEvent {
  const event = stampDraft(draft, time)
  if (json === undefined) return { event, time }
  return { event: { ...event, attributes: JSON.parse(json) as JsonObject }, time }
}

/** What was found of drafts that another process may have had kept. */
export interface Recovered {
  /** Only the append can tell whether one is still there, and answer for it. */
  readonly foundAt: ReadonlyMap<IdTail, Microseconds>
  /** What else may be kept of them is later. */
  readonly since: Microseconds
}

/**
 * Looks for drafts that may have been kept later than `since`. That may be long ago, so nobody who
 * appends waits for it: what becomes visible afterwards is left to the append.
 */
export async function recover(
  client: PostgresPoolClient,
  { events, liveEvents }: Names,
  drafts: readonly EventDraft[],
  since: Microseconds,
): Promise<Recovered> {
  const recent = (table: string): string =>
    `SELECT created_at, tail FROM ${table} WHERE created_at > $1 AND tail = ANY ($2::text[])`
  const newest = (table: string): string => `(SELECT max(created_at) FROM ${table})`
  const rows = await ask(
    client,
    `SELECT greatest($1, ${newest(events)}, ${newest(liveEvents)})::bigint, NULL
     UNION ALL ${recent(events)} UNION ALL ${recent(liveEvents)}`,
    since,
    drafts.map(({ tail }) => tail),
  )
  const [first, ...found] = rows
  return {
    foundAt: new Map(found.map(([time, tail]) => [tail!, Number(time)])),
    since: Number(first![0]),
  }
}
