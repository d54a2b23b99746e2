import type { Microseconds } from '../../event/timestamp.js'
import { NO_NAME, TIMES_KIND } from '../index/segment-source.js'
import { TIMES_PER_BLOCK, encodeTimes } from '../index/time-blocks.js'
import type { Builder } from './builder.js'
import type { NamedChunk, NewSegment, WrittenSegment } from '../maintenance/index-store.js'

/** The blocks of a segment's times, which come before all of its other chunks. */
function* timeChunks(times: ArrayLike<Microseconds>): Generator<NamedChunk, void> {
  for (let from = 0; from < times.length; from += TIMES_PER_BLOCK) {
    const postings = encodeTimes(times, from)
    const chunk = { first: times[from]!, ordinal: 0, values: '', postings }
    yield { name: NO_NAME, kind: TIMES_KIND, chunk }
  }
}

/**
 * Writes a segment that no query reads yet. `chunks` are in the order of their keys. An `undefined`
 * among them means that the next chunk has to be fetched first; then `fetch` is called.
 */
export async function writeSegment(
  { driver, steps }: Builder,
  segment: NewSegment,
  chunks: Iterable<NamedChunk | undefined>,
  fetch: () => Promise<void> = () => steps.pause(),
): Promise<WrittenSegment> {
  const { batchLimits } = driver
  const id = await driver.beginSegment(segment)
  const building = { id, size: segment.times.length }
  let written = 0
  let batch: NamedChunk[] = []
  let bytes = 0
  /** The last batch; one is written at a time. False if the segment is lost. */
  let writing: Promise<boolean> = Promise.resolve(true)

  /** False if the segment is lost; with write-behind, if it was lost before this batch. */
  const writeBatch = async (): Promise<boolean> => {
    const [rows, from] = [batch, written]
    batch = []
    bytes = 0
    if (!(await writing)) return false
    written += rows.length
    writing = driver.insertChunks(building, from, rows)
    // Awaited later.
    writing.catch(() => {})
    return driver.isWriteBehind ? true : writing
  }
  /** False if the segment is lost. */
  const writeAll = async (some: Iterable<NamedChunk | undefined>): Promise<boolean> => {
    for (const one of some) {
      if (one) {
        batch.push(one)
        bytes += one.chunk.values.length + one.chunk.postings.length
        const isFull = bytes >= batchLimits.bytes || batch.length >= batchLimits.rows
        if (isFull && !(await writeBatch())) return false
      } else await fetch()
      if (steps.isSliceOver()) await steps.pause()
    }
    return true
  }

  try {
    const isWhole =
      (await writeAll(timeChunks(segment.times))) &&
      (await writeAll(chunks)) &&
      (batch.length === 0 || (await writeBatch())) &&
      (await writing)
    return { id, chunks: written, isLost: !isWhole }
  } finally {
    await writing.catch(() => {})
  }
}
