import { AuditLogError } from '../../../src/errors.js'
import type { AuditEvent, JsonObject } from '../../../src/event/event.js'
import { isUuid, parseEventId } from '../../../src/event/event-id.js'
import type { LiveChange } from '../../../src/store/store.js'
import type { Microseconds } from '../../../src/event/timestamp.js'
import { ask, DURABLE, type PostgresPoolClient } from '../connection/client.js'
import { asker } from '../connection/connection.js'
import { codeOf, NO_PARTITION } from '../connection/failures.js'
import { LIVE_COLUMNS, type LiveRow, readLiveRow, readOpen } from '../schema/live-rows.js'
import type { Names, Partitions } from '../schema/names.js'
import { makePartitions } from '../schema/partitions.js'
import { findEvent } from '../schema/rows.js'
import { termsOf } from '../schema/terms.js'

/** Where an event of this log would be: imported ones are never live. */
interface Place {
  readonly time: Microseconds
  readonly tail: string
}

async function findRow(
  client: PostgresPoolClient,
  { liveEvents }: Names,
  { time, tail }: Place,
): Promise<LiveRow | undefined> {
  const [row] = await ask(
    client,
    `SELECT ${LIVE_COLUMNS} FROM ${liveEvents} WHERE created_at = $1 AND tail = $2`,
    time,
    tail,
  )
  return row && readLiveRow(row)
}

/** True where the change comes right after the one that is stored; false where it has been applied. */
function isNext({ revision }: LiveRow, change: LiveChange): boolean {
  if (change.revision > revision + 1)
    throw new AuditLogError(
      'INVALID_OPTION',
      `the change ${change.revision} of a live event comes after ${revision}`,
    )
  return change.revision > revision
}

type GrownText = NonNullable<LiveChange['texts']>[number]

/** Without what another of them replaces. */
function lasting(texts: readonly GrownText[]): readonly GrownText[] {
  const replaced = new Map<string, number>()
  for (const [i, { key, replaces }] of texts.entries()) if (replaces) replaced.set(key, i)
  return texts.filter(({ key }, i) => i >= (replaced.get(key) ?? 0))
}

/** In one statement, so that a reader finds all of the change. True where it has taken effect. */
async function apply(
  client: PostgresPoolClient,
  { liveEvents, liveTexts }: Names,
  { time, tail }: Place,
  { revision, json, ...change }: LiveChange,
): Promise<boolean> {
  const texts = lasting(change.texts ?? [])
  const rows = await ask(
    client,
    `WITH changed AS (
       UPDATE ${liveEvents} SET
         revision = $3, beats = beats + 1,
         attributes = coalesce($4::json, attributes),
         base_revision = CASE WHEN $4::json IS NULL THEN base_revision ELSE $3 END
       WHERE created_at = $1 AND tail = $2 AND revision = $3 - 1
       RETURNING created_at, ${DURABLE}
     ), dropped AS (
       DELETE FROM ${liveTexts} AS text USING changed
       WHERE text.created_at = changed.created_at AND (
         text.key = ANY ($5::text[])
         OR $4::json IS NOT NULL AND json_typeof($4::json -> text.key) IS DISTINCT FROM 'string'
       )
     ), added AS (
       INSERT INTO ${liveTexts}
       SELECT created_at, $3, place, key, text, replaces
       FROM changed, unnest($6::text[], $7::text[], $8::boolean[]) WITH ORDINALITY
         AS added(key, text, replaces, place)
     )
     SELECT FROM changed`,
    time,
    tail,
    revision,
    json ?? null,
    texts.filter(({ replaces }) => replaces).map(({ key }) => key),
    texts.map(({ key }) => key),
    texts.map(({ text }) => text),
    texts.map(({ replaces }) => replaces),
  )
  return rows.length > 0
}

/** As `EventStore.changeLive`; can be repeated. */
export async function changeLive(
  client: PostgresPoolClient,
  names: Names,
  id: string,
  change: LiveChange,
): Promise<boolean> {
  const place = parseEventId(id)
  if (!place) return false
  for (;;) {
    if (await apply(client, names, place, change)) return true
    const row = await findRow(client, names, place)
    if (!row) return false
    // Where it is the next one after all, another attempt was at the row until now.
    if (!isNext(row, change)) return true
  }
}

/** What makes an event that is open one of the others; `undefined` where it has changed meanwhile. */
async function move(
  client: PostgresPoolClient,
  { events, liveEvents }: Names,
  { time, tail }: Place,
  { revision, beats }: LiveRow,
  event: AuditEvent,
): Promise<AuditEvent | undefined> {
  const rows = await ask(
    client,
    `WITH closed AS (
       DELETE FROM ${liveEvents}
       WHERE created_at = $1 AND tail = $2 AND revision = $3 AND beats = $4
       RETURNING created_at, tail, type, username, source, system, ${DURABLE}
     )
     INSERT INTO ${events}
     SELECT created_at, tail, type, username, source, system, $5::json, $6::int4[] FROM closed
     RETURNING 1`,
    time,
    tail,
    revision,
    beats,
    JSON.stringify(event.attributes),
    termsOf(event),
  )
  return rows.length > 0 ? event : undefined
}

/** In a table that is there: that of the event's time may have been dropped, with all the others. */
async function moveOut(
  client: PostgresPoolClient,
  names: Names,
  partitions: Partitions,
  place: Place,
  row: LiveRow,
  change: (attributes: JsonObject) => JsonObject,
): Promise<AuditEvent | undefined> {
  const [open] = await readOpen(asker(client), names, [row])
  const event = { ...open!, attributes: change(open!.attributes) }
  try {
    return await move(client, names, place, row, event)
  } catch (error) {
    if (codeOf(error) !== NO_PARTITION) throw error
    await makePartitions(client, names, partitions, [place.time])
    return move(client, names, place, row, event)
  }
}

const asItIs = (attributes: JsonObject): JsonObject => attributes

/** As `EventStore.closeLive`; can be repeated. */
export async function closeLive(
  client: PostgresPoolClient,
  names: Names,
  partitions: Partitions,
  id: string,
  change: LiveChange,
): Promise<AuditEvent | undefined> {
  const place = parseEventId(id)
  for (let row = place && (await findRow(client, names, place)); place && row;) {
    if (isNext(row, change)) await apply(client, names, place, change)
    else {
      const event = await moveOut(client, names, partitions, place, row, asItIs)
      if (event) return event
    }
    row = await findRow(client, names, place)
  }
  return isUuid(id) ? findEvent(asker(client), names, id) : undefined
}

/** Closes an event as one that nobody finishes, unless it has given a sign since it had so many beats. */
export async function abandonLive(
  client: PostgresPoolClient,
  names: Names,
  partitions: Partitions,
  id: string,
  beats: number,
): Promise<boolean> {
  const place = parseEventId(id)!
  const row = await findRow(client, names, place)
  if (row?.beats !== beats) return false
  const event = await moveOut(client, names, partitions, place, row, (attributes) => ({
    ...attributes,
    unfinished: true,
  }))
  return event !== undefined
}

/** As `EventStore.touchLive`. */
export async function touchLive(
  client: PostgresPoolClient,
  { liveEvents }: Names,
  ids: readonly string[],
): Promise<void> {
  const places = ids.flatMap((id) => parseEventId(id) ?? [])
  await ask(
    client,
    `UPDATE ${liveEvents} SET beats = beats + 1
     FROM unnest($1::bigint[], $2::text[]) AS held(time, end_of_id)
     WHERE created_at = time AND tail = end_of_id`,
    places.map(({ time }) => time),
    places.map(({ tail }) => tail),
  )
}
