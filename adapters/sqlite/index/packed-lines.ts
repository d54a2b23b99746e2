import { perObject } from '../../../src/store/per-object.js'
import zlib from 'node:zlib'
import { LRUCache } from 'lru-cache'
import { DamagedSegment } from '../../../src/store-kit/index/segment-source.js'
import {
  byteWriter,
  putVarint,
  takeVarint,
  writtenBytes,
} from '../../../src/store-kit/index/varint.js'
import type { Connection } from '../connection/connection.js'
import { segmentOf } from './row-ids.js'

/*
 * With `compression: 'deflate'`, the values of a chunk are compressed in the column `packed`, and `vals` is empty: their bytes
 * as a varint, then a raw deflate stream.
 */

/** The values of a chunk as they are stored: lines of text, or packed. */
export type StoredLines = string | Uint8Array

/** The stored values of chunks `c`. */
export const STORED_LINES = 'coalesce(c.packed, c.vals)'

/**
 * Bytes of a chunk whose values are packed. With UUIDs, whose values take half of their space then, two such chunks fit into
 * a page of 4096 bytes.
 */
export const MAX_PACKED_CHUNK = 3700

/** Fewer characters stay as they are. */
const MIN_LENGTH = 256

/** The packed value of the lines; `undefined` if it would take more than three quarters of their space. */
export function packLines(lines: string): Uint8Array | undefined {
  if (lines.length < MIN_LENGTH) return undefined
  const text = Buffer.from(lines)
  const writer = byteWriter()
  putVarint(writer, text.length)
  const packed = Buffer.concat([writtenBytes(writer), zlib.deflateRawSync(text)])
  return packed.length < (text.length * 3) / 4 ? packed : undefined
}

/** More bytes than any chunk has; a damaged value may claim more. */
const MAX_BYTES = 2 ** 24

function unpack(packed: Uint8Array): string {
  const reader = { data: packed, at: 0 }
  const size = Math.min(takeVarint(reader), MAX_BYTES)
  // zlib allocates this number of bytes at once. One more, so that the text is complete after one call.
  const options = { chunkSize: Math.max(64, size + 1), maxOutputLength: Math.max(1, size) }
  return zlib.inflateRawSync(packed.subarray(reader.at), options).toString()
}

/** The lines of the chunk with this row id. Throws `DamagedSegment`. */
export function unpackLines(id: number, stored: StoredLines): string {
  if (typeof stored === 'string') return stored
  try {
    return unpack(stored)
  } catch (error) {
    throw new DamagedSegment(
      segmentOf(id),
      `its values cannot be decompressed: ${(error as Error).message}`,
    )
  }
}

/** Characters of the lines that are kept. */
const MAX_CACHED = 4_194_304

const lineCache = perObject<Connection, LRUCache<number, string>>(
  () =>
    new LRUCache({
      maxSize: MAX_CACHED,
      sizeCalculation: (lines) => lines.length + 1,
    }),
)

/** Like {@link unpackLines}; keeps lines that were read recently, which never change. */
export function linesReader(connection: Connection): (id: number, stored: StoredLines) => string {
  const known = lineCache(connection)
  return (id, stored) => {
    if (typeof stored === 'string') return stored
    let lines = known.get(id)
    if (lines === undefined) known.set(id, (lines = unpackLines(id, stored)))
    return lines
  }
}
