import type { AuditEvent, JsonObject } from '../../../src/event/event.js'
import { eventId, parseEventId } from '../../../src/event/event-id.js'
import { isUuid } from '../../../src/event/uuid.js'
import { isNextRevision } from '../../../src/store/live-revision.js'
import type { LiveChange } from '../../../src/store/store.js'
import { ask, askToCommit, DURABLE, type PostgresPoolClient } from '../connection/client.js'
import { createAsk } from '../connection/connection.js'
import { codeOf, NO_PARTITION } from '../connection/failures.js'
import type { PostgresLog } from '../log/log.js'
import { LIVE_COLUMNS, type LiveRow, readLiveRow, readOpen } from '../schema/live-rows.js'
import { findEvent } from '../schema/rows.js'
import { eventChecksum } from '../schema/event-checksum.js'

/** The key of a live event, parsed from its id; imported events are never live. */
type Key = NonNullable<ReturnType<typeof parseEventId>>

async function findRow(
  client: PostgresPoolClient,
  { names: { liveEvents } }: PostgresLog,
  { time, suffix }: Key,
): Promise<LiveRow | undefined> {
  const [row] = await ask(
    client,
    `SELECT ${LIVE_COLUMNS} FROM ${liveEvents} WHERE created_at = $1 AND suffix = $2`,
    time,
    suffix,
  )
  return row && readLiveRow(row, eventId(time, suffix))
}

type TextChange = NonNullable<LiveChange['texts']>[number]

/** The texts, without the ones that a later text of the same key replaces. */
function withoutReplaced(texts: readonly TextChange[]): readonly TextChange[] {
  const replaced = new Map<string, number>()
  for (const [i, { key, replaces }] of texts.entries()) if (replaces) replaced.set(key, i)
  return texts.filter(({ key }, i) => i >= (replaced.get(key) ?? 0))
}

/** Applies the change in one statement, so that readers see all of it or none. True if it took effect. */
async function apply(
  client: PostgresPoolClient,
  { names: { liveEvents, liveTexts } }: PostgresLog,
  { time, suffix }: Key,
  { revision, json, ...change }: LiveChange,
): Promise<boolean> {
  const texts = withoutReplaced(change.texts ?? [])
  const rows = await askToCommit(
    client,
    `WITH changed AS (
       UPDATE ${liveEvents} SET
         revision = $3, heartbeats = heartbeats + 1,
         attributes = coalesce($4::json, attributes),
         base_revision = CASE WHEN $4::json IS NULL THEN base_revision ELSE $3 END
       WHERE created_at = $1 AND suffix = $2 AND revision = $3 - 1
       RETURNING created_at
     ), dropped AS (
       DELETE FROM ${liveTexts} AS text USING changed
       WHERE text.created_at = changed.created_at AND (
         text.key = ANY ($5::text[])
         OR $4::json IS NOT NULL AND json_typeof($4::json -> text.key) IS DISTINCT FROM 'string'
       )
     ), added AS (
       INSERT INTO ${liveTexts}
       SELECT created_at, $3, position, key, text, replaces
       FROM changed, unnest($6::text[], $7::text[], $8::boolean[]) WITH ORDINALITY
         AS added(key, text, replaces, position)
     )
     SELECT ${DURABLE} FROM changed`,
    time,
    suffix,
    revision,
    json ?? null,
    texts.filter(({ replaces }) => replaces).map(({ key }) => key),
    texts.map(({ key }) => key),
    texts.map(({ text }) => text),
    texts.map(({ replaces }) => replaces),
  )
  return rows.length > 0
}

/** Like `EventStore.changeLive`; may be repeated. */
export async function changeLive(
  client: PostgresPoolClient,
  log: PostgresLog,
  id: string,
  change: LiveChange,
): Promise<boolean> {
  const key = parseEventId(id)
  if (!key) return false
  for (;;) {
    if (await apply(client, log, key, change)) return true
    const row = await findRow(client, log, key)
    if (!row) return false
    // If it is the next one, another attempt has just changed the row: retry.
    if (!isNextRevision(row.revision, change)) return true
  }
}

/** Moves an open event to the closed ones; `undefined` if its row has changed meanwhile. */
async function tryMove(
  client: PostgresPoolClient,
  { names: { events, liveEvents, liveTexts, late } }: PostgresLog,
  { time, revision, heartbeats }: LiveRow,
  event: AuditEvent,
): Promise<AuditEvent | undefined> {
  const { suffix } = parseEventId(event.id)!
  const json = JSON.stringify(event.attributes)
  const rows = await askToCommit(
    client,
    `WITH closed AS (
       DELETE FROM ${liveEvents}
       WHERE created_at = $1 AND suffix = $2 AND revision = $3 AND heartbeats = $4
       RETURNING created_at, suffix, type, username, source, system
     ), dropped AS (
       DELETE FROM ${liveTexts} WHERE created_at = (SELECT created_at FROM closed)
     ), noted AS (
       INSERT INTO ${late} (created_at) SELECT created_at FROM closed
     ), added AS (
       INSERT INTO ${events}
       SELECT created_at, suffix, type, username, source, system, $5::json, $6::int4 FROM closed
       RETURNING 1
     )
     SELECT ${DURABLE} FROM added`,
    time,
    suffix,
    revision,
    heartbeats,
    json,
    eventChecksum({ ...event, suffix, json }, time),
  )
  return rows.length > 0 ? event : undefined
}

/** Like {@link tryMove}; creates the partition of the event's time if it has been dropped. */
async function move(
  client: PostgresPoolClient,
  log: PostgresLog,
  row: LiveRow,
  change: (attributes: JsonObject) => JsonObject,
): Promise<AuditEvent | undefined> {
  const [open] = await readOpen(createAsk(client), log.names, [row])
  const event = { ...open!, attributes: change(open!.attributes) }
  try {
    return await tryMove(client, log, row, event)
  } catch (error) {
    if (codeOf(error) !== NO_PARTITION) throw error
    await log.makePartitions(client, [row.time])
    return tryMove(client, log, row, event)
  }
}

const unchanged = (attributes: JsonObject): JsonObject => attributes

/** Like `EventStore.closeLive`; may be repeated. */
export async function closeLive(
  client: PostgresPoolClient,
  log: PostgresLog,
  id: string,
  change: LiveChange,
): Promise<AuditEvent | undefined> {
  const key = parseEventId(id)
  for (let row = key && (await findRow(client, log, key)); key && row;) {
    if (isNextRevision(row.revision, change)) await apply(client, log, key, change)
    else {
      const event = await move(client, log, row, unchanged)
      if (event) return event
    }
    row = await findRow(client, log, key)
  }
  return isUuid(id) ? findEvent(createAsk(client), log.names, id) : undefined
}

/** Closes an event whose process is gone as unfinished, unless it got a heartbeat since `heartbeats`. */
export async function abandonLive(
  client: PostgresPoolClient,
  log: PostgresLog,
  id: string,
  heartbeats: number,
): Promise<boolean> {
  const row = await findRow(client, log, parseEventId(id)!)
  if (row?.heartbeats !== heartbeats) return false
  const event = await move(client, log, row, (attributes) => ({
    ...attributes,
    unfinished: true,
  }))
  return event !== undefined
}

/** Like `EventStore.touchLive`. */
export async function touchLive(
  client: PostgresPoolClient,
  { names: { liveEvents } }: PostgresLog,
  ids: readonly string[],
): Promise<void> {
  const keys = ids.flatMap((id) => parseEventId(id) ?? [])
  await askToCommit(
    client,
    `UPDATE ${liveEvents} SET heartbeats = heartbeats + 1
     FROM unnest($1::bigint[], $2::text[]) AS touched(time, key_suffix)
     WHERE created_at = time AND suffix = key_suffix`,
    keys.map(({ time }) => time),
    keys.map(({ suffix }) => suffix),
  )
}
