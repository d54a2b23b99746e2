import type { NamedChunk } from '../../../src/store-kit/index-builder/column-chunks.js'
import type {
  BatchLimits,
  NewSegment,
  WrittenSegment,
} from '../../../src/store-kit/index-builder/index-driver.js'
import { keyOf, UNNAMED_LISTS, SegmentState } from '../../../src/store-kit/index/segment-source.js'
import { ask, ASYNC_COMMIT, type PostgresPoolClient } from '../connection/client.js'
import { type Names, quoteText } from '../schema/names.js'
import type { Microseconds } from '../../../src/event/timestamp.js'
import { eventsDigest } from '../../../src/store-kit/index/checksums.js'
import { TIMES_PER_BLOCK } from '../../../src/store-kit/index/time-blocks.js'
import { byteaArray, int4Array, textArray } from './binary-array.js'
import { chunkChecksum } from './checksums.js'
import type { DriverContext } from './driver-context.js'
import { sumSegment } from './index-state.js'
import { keyBytes } from './segment-keys.js'

export const BATCH_LIMITS: BatchLimits = { bytes: 262_144, rows: Infinity }

const startsDigest = (times: ArrayLike<Microseconds>): number =>
  eventsDigest(
    Float64Array.from(
      { length: Math.ceil(times.length / TIMES_PER_BLOCK) },
      (_, block) => times[block * TIMES_PER_BLOCK]!,
    ),
  )

/**
 * SQL for the id of a new segment. On Citus, the sequences of a node have its number in the bits from 48 on. Ids have it
 * in those from 32 on, so that JavaScript has exact numbers for them.
 */
const newId = ({ segments }: Names): string =>
  `SELECT (next >> 48 << 32) + (next & ((1::bigint << 48) - 1))
   FROM nextval(pg_get_serial_sequence(${quoteText(segments)}, 'id')) AS next`

/** Commits durably, so that no id is used again after a crash. */
export async function beginSegment(
  { names, run }: DriverContext,
  { level, times, removed, isPartial }: NewSegment,
): Promise<number> {
  return run(async (client) => {
    const [row] = await ask(client, newId(names))
    const id = Number(row![0])
    await ask(
      client,
      `INSERT INTO ${names.segments}
         (id, state, level, size, first, last, partial, removed, digest, starts)
       OVERRIDING SYSTEM VALUE
       VALUES ($1, ${SegmentState.building}, $2, $3, $4, $5, $6, $7, $8, $9)`,
      id,
      level,
      times.length,
      times[0],
      times[times.length - 1],
      Number(isPartial),
      removed,
      eventsDigest(times),
      startsDigest(times),
    )
    return id
  })
}

/**
 * The row lock makes a process that is about to remove the segment wait. The chunks become durable with the
 * transaction that makes the segment visible, or a crash removes them as if they had never been written.
 */
export async function insertChunks(
  { names: { segments, chunks }, start }: DriverContext,
  id: number,
  from: number,
  rows: readonly NamedChunk<number>[],
): Promise<boolean> {
  const firsts = rows.map(({ chunk }) => keyBytes(keyOf(chunk.first)))
  const checksums = rows.map(({ name, kind, chunk: { ordinal, values, postings } }, i) => {
    const place = { segment: id, number: from + i, name, kind, ordinal }
    return chunkChecksum({ ...place, first: firsts[i]!.toString('hex'), values, postings })
  })
  const [row] = await start((client) =>
    ask(
      client,
      `WITH building AS MATERIALIZED (
         SELECT id FROM ${segments} WHERE id = $1 AND state = ${SegmentState.building} FOR SHARE
       ), added AS (
         INSERT INTO ${chunks}
         SELECT building.id, $2::int4 + place - 1, name, kind, first, ordinal, vals, posts, checksum
         FROM building, unnest(
           $3::int4[], $4::int4[], $5::bytea[], $6::int4[], $7::text[], $8::bytea[], $9::int4[]
         ) WITH ORDINALITY AS chunk(name, kind, first, ordinal, vals, posts, checksum, place)
         RETURNING 1
       )
       SELECT count(*), ${ASYNC_COMMIT} FROM added`,
      id,
      from,
      int4Array(rows.map(({ name }) => name)),
      int4Array(rows.map(({ kind }) => kind)),
      byteaArray(firsts),
      int4Array(rows.map(({ chunk }) => chunk.ordinal)),
      textArray(rows.map(({ chunk }) => chunk.values)),
      byteaArray(rows.map(({ chunk }) => chunk.postings)),
      int4Array(checksums),
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
  names: Names,
  { id, chunks: count }: WrittenSegment,
): Promise<boolean> {
  const { segments, chunks } = names
  const rows = await ask(
    client,
    `UPDATE ${segments} SET state = ${SegmentState.visible}, chunks = $2::int4,
       names = coalesce((SELECT max(name) FROM ${chunks} WHERE segment = $1 AND name < ${UNNAMED_LISTS}), 0)
     WHERE id = $1 AND state = ${SegmentState.building}
       AND (SELECT count(*) FROM ${chunks} WHERE segment = $1) = $2::int4
     RETURNING 1`,
    id,
    count,
  )
  if (rows.length === 0) return false
  await sumSegment(client, names, id)
  return true
}
