import { NO_NAME } from '../index/segment-source.js'
import type { Builder } from './builder.js'
import { columnChunks, type NamedChunk, unindexedChunks } from './column-chunks.js'
import type { NumberedColumns, WrittenSegment } from './index-driver.js'
import { withGrams } from './list-grams.js'
import { dropSegment } from './segment-dropping.js'
import { writeSegment } from './segment-writing.js'

/**
 * Seals the oldest unsealed events into a segment, late events first, if there are enough for one. Returns
 * false if there are not. Returns true if another attempt may find more, even if another process sealed
 * these events first. If it throws, a hidden segment may remain, which `dropAbandoned` removes.
 */
export async function sealNext(builder: Builder): Promise<boolean> {
  const { driver, tuning } = builder
  const unsealed = await driver.readUnsealed(tuning.segmentSize)
  if (!unsealed) return false
  const { extract, removed } = unsealed
  let segment: WrittenSegment | undefined
  if (extract.times.length > 0) {
    const chunks = sealedChunks(builder, await driver.numberColumns(extract))
    segment = await writeSegment(builder, { level: 0, times: extract.times, removed }, chunks)
  }
  const isPublished = !segment?.isLost && (await driver.publish(segment, unsealed))
  if (!isPublished && segment) await dropSegment(builder, segment.id)
  return true
}

/** The chunks of a segment in the order of their keys. */
function* sealedChunks(
  { driver, tuning }: Builder,
  { columns, unindexed }: NumberedColumns,
): Generator<NamedChunk<number>, void> {
  yield* unindexedChunks(NO_NAME, unindexed)
  const chunks = columnChunks(columns)
  yield* driver.hasGramsWhenSealed ? withGrams(chunks, tuning.minGramChunks) : chunks
}
