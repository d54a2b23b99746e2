import type { Presence, SegmentRow } from '../../../src/store-kit/index-builder/index-driver.js'
import { missingRows } from '../../../src/store-kit/index/segment-source.js'
import { BLOCK, decodeTimes } from '../../../src/store-kit/index/time-blocks.js'
import type { Microseconds } from '../../../src/event/timestamp.js'
import { ask, type PostgresPoolClient } from '../connection/client.js'
import type { Names } from '../schema/names.js'
import { int8Array } from './binary-array.js'
import { readBytes } from './chunk-feed.js'
import type { DriverContext } from './driver-context.js'
import { numberOfKey } from './segment-keys.js'

/** Blocks of times that one statement reads. */
const MAX_BLOCKS = 512

/** Times that one statement looks up. */
const MAX_TIMES = 4096

export async function readTimes(
  { names, run }: DriverContext,
  { id, size }: SegmentRow,
): Promise<Float64Array> {
  const times = new Float64Array(size)
  for (let count = 0; count < size;) {
    const from = count / BLOCK
    const rows = await run((client) =>
      ask(
        client,
        `SELECT first, posts FROM ${names.chunks}
         WHERE segment = $1 AND number >= $2 AND number < $3 ORDER BY number`,
        id,
        from,
        Math.min(from + MAX_BLOCKS, Math.ceil(size / BLOCK)),
      ),
    )
    if (rows.length === 0) throw missingRows(id)
    for (const [first, data] of rows) {
      const block = decodeTimes(numberOfKey(readBytes(first!)), readBytes(data!))
      times.set(block, count)
      count += block.length
    }
  }
  return times
}

export async function checkPresence(
  { names, run }: DriverContext,
  parts: readonly Float64Array[],
): Promise<Presence> {
  const missing = new Set<Microseconds>()
  for (const times of parts)
    for (let from = 0; from < times.length; from += MAX_TIMES) {
      const some = times.subarray(from, from + MAX_TIMES)
      for (const time of await run((client) => findMissing(client, names, some))) missing.add(time)
    }
  return { isPresent: (time) => !missing.has(time) }
}

/** The times at which there is no event. A scalar subquery looks up each time in the index. */
async function findMissing(
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
