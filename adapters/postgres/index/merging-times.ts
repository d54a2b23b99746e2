import { type MergedTimes, mergeTimes } from '../../../src/store-kit/index-builder/merge-times.js'
import { BLOCK, decodeTimes } from '../../../src/store-kit/index/time-blocks.js'
import type { Microseconds } from '../../../src/event/timestamp.js'
import { ask, type PostgresPoolClient } from '../connection/client.js'
import type { Names } from '../schema/names.js'
import { numberOfKey } from './segment-keys.js'
import { int8Array } from './binary-array.js'
import { readBytes } from './chunk-feed.js'
import { missingRows, type SegmentRow } from './segments.js'
import type { Steps } from './steps.js'

// Blocks, and times, that are asked for at once.
const MOST_BLOCKS = 512
const MOST_TIMES = 4096

/** Puts the events in order, without those that are not there any more. */
export async function mergeSegments(
  steps: Steps,
  segments: readonly SegmentRow[],
): Promise<MergedTimes> {
  const parts: Float64Array[] = []
  const gone = new Set<Microseconds>()
  for (const segment of segments) {
    const times = await readTimes(steps, segment)
    for (let from = 0; from < times.length; from += MOST_TIMES) {
      const some = times.subarray(from, from + MOST_TIMES)
      const missing = await steps.run((client) => findGone(client, steps.names, some))
      for (const time of missing) gone.add(time)
    }
    parts.push(times)
  }
  const work = mergeTimes(parts, (time) => !gone.has(time))
  for (;;) {
    const next = work.next()
    if (next.done) return next.value
    await steps.turn()
  }
}

async function readTimes({ names, run }: Steps, { id, size }: SegmentRow): Promise<Float64Array> {
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
        Math.min(from + MOST_BLOCKS, Math.ceil(size / BLOCK)),
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

/** Those of the times at which there is no event: looked up one by one, wherever they are. */
async function findGone(
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
