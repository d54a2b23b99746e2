import {
  type AuditEvent,
  type EventDraft,
  type JsonObject,
  stampDraft,
} from '../../../src/event/event.js'
import type { IdSuffix } from '../../../src/event/event-id.js'
import type { Microseconds } from '../../../src/event/timestamp.js'
import { ask, type PostgresPoolClient } from '../connection/client.js'
import type { PostgresLog } from '../log/log.js'

export interface StoredEvent {
  readonly event: AuditEvent
  readonly time: Microseconds
}

/** The event of a stored draft; `json` has its attributes if they may differ from the draft's. */
export function storedEvent(draft: EventDraft, time: Microseconds, json?: string): StoredEvent {
  const event = stampDraft(draft, time)
  if (json === undefined) return { event, time }
  return { event: { ...event, attributes: JSON.parse(json) as JsonObject }, time }
}

/** The result of the search for drafts that another process may have stored. */
export interface Recovered {
  /** The times of the drafts that were found. `append` checks whether they are still stored. */
  readonly foundAt: ReadonlyMap<IdSuffix, Microseconds>
  /** A draft that was not found can only be stored later than this. */
  readonly since: Microseconds
}

/**
 * Looks for drafts that may have been stored later than `since`. That may be long ago, so the search
 * takes no lock; `append` itself looks for what becomes visible afterwards.
 */
export async function recover(
  client: PostgresPoolClient,
  { names: { events, liveEvents } }: PostgresLog,
  drafts: readonly EventDraft[],
  since: Microseconds,
): Promise<Recovered> {
  const recent = (table: string): string =>
    `SELECT created_at, suffix FROM ${table} WHERE created_at > $1 AND suffix = ANY ($2::text[])`
  const newest = (table: string): string => `(SELECT max(created_at) FROM ${table})`
  const rows = await ask(
    client,
    `SELECT greatest($1, ${newest(events)}, ${newest(liveEvents)})::bigint, NULL
     UNION ALL ${recent(events)} UNION ALL ${recent(liveEvents)}`,
    since,
    drafts.map(({ suffix }) => suffix),
  )
  const [first, ...found] = rows
  return {
    foundAt: new Map(found.map(([time, suffix]) => [suffix!, Number(time)])),
    since: Number(first![0]),
  }
}
