import { createCollectedTimes } from '../../src/store-kit/index/collected-times.js'
import {
  DamagedSegment,
  missingRows,
  TIMES_KIND,
} from '../../src/store-kit/index/segment-source.js'
import { TIMES_PER_BLOCK } from '../../src/store-kit/index/time-blocks.js'
import { isPartialKind } from '../../src/store-kit/index/verify-segments.js'
import type { Microseconds } from '../../src/event/timestamp.js'
import { ask, type PostgresPoolClient } from './connection/client.js'
import type { SummedChunk } from './index/checksums.js'
import { CHUNK_COLUMNS, readStoredChunk } from './index/chunk-feed.js'
import type { PostgresSegmentRow } from './index/index-state.js'
import { numberOfKey } from './index/segment-keys.js'
import { readBlocks, timesOf } from './index/segment-times.js'
import type { Names } from './schema/names.js'

/** Runs a read in its own short transaction, so that vacuum is not held back for long. */
export type Read = <Result>(act: (client: PostgresPoolClient) => Promise<Result>) => Promise<Result>

/** Chunks that are read at once. */
const STEP = 64

/** True if the chunks are in the order of their keys. */
function isInOrder(before: SummedChunk, after: SummedChunk): boolean {
  if (before.name !== after.name) return before.name < after.name
  if (before.kind !== after.kind) return before.kind < after.kind
  if (before.first !== after.first) return before.first < after.first
  return before.ordinal < after.ordinal
}

/** SQL: whether a chunk is found by its key, as queries look for it. */
const isFoundByKey = (chunks: string): string => `coalesce((
  SELECT same.number = chunk.number FROM ${chunks} AS same
  WHERE (same.segment, same.name, same.kind, same.first, same.ordinal)
    = (chunk.segment, chunk.name, chunk.kind, chunk.first, chunk.ordinal)), false)`

/** Reads all chunks of a segment; throws `DamagedSegment`. */
export async function verifySegment(
  read: Read,
  { chunks }: Names,
  row: PostgresSegmentRow,
): Promise<void> {
  const { id, size } = row
  const fail = (reason: string): never => {
    throw new DamagedSegment(id, reason)
  }
  const times = createCollectedTimes(row)
  const blocks = Math.ceil(size / TIMES_PER_BLOCK)
  const check = (chunk: SummedChunk, number: number, before: SummedChunk | undefined): void => {
    if (chunk.number !== number) throw missingRows(id)
    if ((chunk.kind === TIMES_KIND) !== number < blocks) fail('its chunks are not in order')
    if (number < blocks) times.add(timesOf(chunk))
    else if (before && number > blocks && !isInOrder(before, chunk))
      fail('its chunks are not in order')
    if (isPartialKind(chunk.kind) && !row.isPartial) fail('its row is wrong')
  }

  let number = 0
  let before: SummedChunk | undefined
  for (let isLast = false; !isLast;) {
    const rows = await read((client) =>
      ask(
        client,
        `SELECT ${CHUNK_COLUMNS}, ${isFoundByKey(chunks)} FROM ${chunks} AS chunk
         WHERE segment = $1 AND number >= $2 ORDER BY number LIMIT ${STEP}`,
        id,
        number,
      ),
    )
    for (const stored of rows) {
      const chunk = readStoredChunk(id, stored)
      if (stored.at(-1) !== 't') fail('an index of its table does not lead to a chunk')
      check(chunk, number, before)
      before = chunk
      number += 1
    }
    isLast = rows.length < STEP
  }
  if (number !== row.chunks) fail(`it has ${number} chunks instead of ${row.chunks}`)
  times.all()
}

/** The times that a segment has within the bounds. */
export async function timesBetween(
  client: PostgresPoolClient,
  names: Names,
  { id, size }: PostgresSegmentRow,
  [from, to]: readonly [from: Microseconds, to: Microseconds],
): Promise<readonly Microseconds[]> {
  const count = Math.ceil(size / TIMES_PER_BLOCK)
  const firsts = await ask(
    client,
    `SELECT number, encode(first, 'hex') FROM ${names.chunks} WHERE segment = $1 AND number < $2 ORDER BY number`,
    id,
    count,
  )
  const starts = firsts.map(([, first]) => numberOfKey(Buffer.from(first!, 'hex')))
  const start = Math.max(
    0,
    starts.findLastIndex((time) => time <= from),
  )
  const end = starts.findLastIndex((time) => time <= to) + 1
  if (end <= start) return []
  const blocks = await readBlocks(client, names, id, [start, end])
  return blocks.flat().filter((time) => time >= from && time <= to)
}
