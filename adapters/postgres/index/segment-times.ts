import type { Microseconds } from '../../../src/event/timestamp.js'
import { missingRows } from '../../../src/store-kit/index/segment-source.js'
import { decodeTimes } from '../../../src/store-kit/index/time-blocks.js'
import { ask, type PostgresPoolClient } from '../connection/client.js'
import type { Names } from '../schema/names.js'
import { CHUNK_COLUMNS, readStoredChunk, type SummedChunk } from './checksums.js'
import { numberOfKey } from './segment-keys.js'

/** The times in a chunk that holds a block of them. */
export const timesOf = ({ first, postings }: SummedChunk): readonly Microseconds[] =>
  decodeTimes(numberOfKey(Buffer.from(first, 'hex')), postings)

/** The blocks of a segment's times with the numbers from `from` to `end`, exclusive. */
export async function readBlocks(
  client: PostgresPoolClient,
  { chunks }: Names,
  id: number,
  [from, end]: readonly [from: number, end: number],
): Promise<readonly (readonly Microseconds[])[]> {
  const rows = await ask(
    client,
    `SELECT ${CHUNK_COLUMNS} FROM ${chunks}
     WHERE segment = $1 AND number >= $2 AND number < $3 ORDER BY number`,
    id,
    from,
    end,
  )
  const blocks = rows.map((row) => readStoredChunk(id, row))
  if (blocks.length !== end - from || blocks.some(({ number }, i) => number !== from + i))
    throw missingRows(id)
  return blocks.map(timesOf)
}
