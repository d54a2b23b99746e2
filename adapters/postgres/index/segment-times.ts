import type { Presence } from '../../../src/store-kit/index-builder/index-driver.js'
import {
  createCollectedTimes,
  type DescribedTimes,
} from '../../../src/store-kit/index/collected-times.js'
import { missingRows } from '../../../src/store-kit/index/segment-source.js'
import { TIMES_PER_BLOCK, decodeTimes } from '../../../src/store-kit/index/time-blocks.js'
import type { Microseconds } from '../../../src/event/timestamp.js'
import { ask, type PostgresPoolClient } from '../connection/client.js'
import type { Names } from '../schema/names.js'
import { int8Array } from './binary-array.js'
import type { SummedChunk } from './checksums.js'
import { CHUNK_COLUMNS, readStoredChunk } from './chunk-feed.js'
import type { DriverContext } from './driver-context.js'
import { loadIndexState } from './index-state.js'
import { numberOfKey } from './segment-keys.js'

/** Blocks of times that one statement reads. */
const MAX_BLOCKS = 512

/** Times that one statement looks up. */
export const MAX_TIMES = 4096

/** Throws `DamagedSegment` unless the times are those that were written. */
export async function readTimes(
  { names, run }: Pick<DriverContext, 'names' | 'run'>,
  row: DescribedTimes,
): Promise<Float64Array> {
  const { id, size } = row
  const times = createCollectedTimes(row)
  while (times.count < size) {
    const from = times.count / TIMES_PER_BLOCK
    const end = Math.min(from + MAX_BLOCKS, Math.ceil(size / TIMES_PER_BLOCK))
    const blocks = await run((client) => readBlocks(client, names, id, [from, end]))
    for (const block of blocks) times.add(block)
  }
  return times.all()
}

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

export async function checkPresence(
  { names, run }: DriverContext,
  parts: readonly Float64Array[],
): Promise<Presence> {
  // Events that are removed later may be missing too, which the lower count allows for.
  const { removed } = await run((client) => loadIndexState(client, names))
  const missing = new Set<Microseconds>()
  for (const times of parts)
    for (let from = 0; from < times.length; from += MAX_TIMES) {
      const some = times.subarray(from, from + MAX_TIMES)
      for (const time of await run((client) => findMissing(client, names, some))) missing.add(time)
    }
  return { isPresent: (time) => !missing.has(time), removed }
}

/** The times at which there is no event. A scalar subquery looks up each time in the index. */
export async function findMissing(
  client: PostgresPoolClient,
  { events }: Names,
  times: Float64Array,
): Promise<readonly Microseconds[]> {
  const rows = await ask(
    client,
    `SELECT time FROM unnest($1::int8[]) AS given(time)
     WHERE (SELECT true FROM ${events} WHERE created_at = time) IS NULL`,
    int8Array(times),
  )
  return rows.map(([time]) => Number(time))
}
