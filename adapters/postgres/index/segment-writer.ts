import type { NamedChunk } from '../../../src/store-kit/maintenance/index-store.js'
import type { BatchLimits } from '../../../src/store-kit/maintenance/index-store.js'
import { keyOf, SegmentState } from '../../../src/store-kit/index/segment-source.js'
import { ask, ASYNC_COMMIT } from '../connection/client.js'
import { byteaArray, int4Array, textArray } from '../schema/binary-array.js'
import { chunkChecksum } from './checksums.js'
import type { DriverContext } from './driver-context.js'
import { keyBytes } from './segment-keys.js'

export const BATCH_LIMITS: BatchLimits = { bytes: 262_144, rows: Infinity }

/**
 * The row lock makes a process that is about to remove the segment wait. The chunks become durable with the
 * transaction that makes the segment visible, or a crash removes them as if they had never been written.
 */
export async function insertChunks(
  { names: { segments, chunks }, start }: DriverContext,
  id: number,
  from: number,
  rows: readonly NamedChunk[],
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
