import type { NamedChunk } from '../../../src/store-kit/index-builder/column-chunks.js'
import type {
  BatchLimits,
  NewSegment,
  WrittenSegment,
} from '../../../src/store-kit/index-builder/index-driver.js'
import { keyOf, SegmentState } from '../../../src/store-kit/index/segment-source.js'
import { ask, type PostgresPoolClient } from '../connection/client.js'
import type { Names } from '../schema/names.js'
import { byteaArray, int4Array, textArray } from './binary-array.js'
import type { DriverContext } from './driver-context.js'
import { keyBytes } from './segment-keys.js'
import { ASYNC_COMMIT } from './transaction-settings.js'

export const BATCH_LIMITS: BatchLimits = { bytes: 262_144, rows: Infinity }

/** Commits durably, so that no id is used again after a crash. */
export async function beginSegment(
  { names, run }: DriverContext,
  { level, times, isPartial }: NewSegment,
): Promise<number> {
  const [row] = await run((client) =>
    ask(
      client,
      `INSERT INTO ${names.segments} (state, level, size, first, last, partial)
       VALUES (${SegmentState.building}, $1, $2, $3, $4, $5) RETURNING id`,
      level,
      times.length,
      times[0],
      times[times.length - 1],
      Number(isPartial),
    ),
  )
  return Number(row![0])
}

/** The row lock makes a process that is about to remove the segment wait. */
export async function insertChunks(
  { names: { segments, chunks }, run }: DriverContext,
  id: number,
  from: number,
  rows: readonly NamedChunk<number>[],
): Promise<boolean> {
  const [row] = await run((client) =>
    ask(
      client,
      `WITH building AS MATERIALIZED (
         SELECT id FROM ${segments} WHERE id = $1 AND state = ${SegmentState.building} FOR SHARE
       ), added AS (
         INSERT INTO ${chunks}
         SELECT building.id, $2::int4 + place - 1, name, kind, first, ordinal, vals, posts
         FROM building, unnest($3::int4[], $4::int4[], $5::bytea[], $6::int4[], $7::text[], $8::bytea[])
           WITH ORDINALITY AS chunk(name, kind, first, ordinal, vals, posts, place)
         RETURNING 1
       )
       SELECT count(*), ${ASYNC_COMMIT} FROM added`,
      id,
      from,
      int4Array(rows.map(({ name }) => name)),
      int4Array(rows.map(({ kind }) => kind)),
      byteaArray(rows.map(({ chunk }) => keyBytes(keyOf(chunk.first)))),
      int4Array(rows.map(({ chunk }) => chunk.ordinal)),
      textArray(rows.map(({ chunk }) => chunk.values)),
      byteaArray(rows.map(({ chunk }) => chunk.postings)),
    ),
  )
  return Number(row![0]) === rows.length
}

/**
 * Makes queries read the segment, within a transaction. False if it is not complete: it was taken for
 * abandoned, or a crash has lost chunks whose commit was not durable yet.
 */
export async function setVisible(
  client: PostgresPoolClient,
  { segments, chunks }: Names,
  { id, chunks: count }: WrittenSegment,
): Promise<boolean> {
  const rows = await ask(
    client,
    `UPDATE ${segments} SET state = ${SegmentState.visible}
     WHERE id = $1 AND state = ${SegmentState.building}
       AND (SELECT count(*) FROM ${chunks} WHERE segment = $1) = $2
     RETURNING 1`,
    id,
    count,
  )
  return rows.length > 0
}
