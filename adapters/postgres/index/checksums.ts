import type { TextRow } from '../connection/client.js'
import zlib from 'node:zlib'
import { DamagedSegment } from '../../../src/store-kit/index/segment-source.js'

/** A chunk with its place, as it is stored. */
export interface SummedChunk {
  readonly segment: number
  readonly number: number
  readonly name: number
  readonly kind: number
  /** The bytes of the first key in hexadecimal. */
  readonly first: string
  readonly ordinal: number
  readonly values: string
  readonly postings: Uint8Array
}

/** The CRC-32 of a chunk as a signed integer, which Postgres stores in four bytes. */
export function chunkChecksum({ values, postings, ...place }: SummedChunk): number {
  const { segment, number, name, kind, first, ordinal } = place
  const texts = zlib.crc32(`${segment} ${number} ${name} ${kind} ${first} ${ordinal}\n${values}`)
  // For no bytes, zlib may return 0 instead of the checksum so far.
  return (postings.length === 0 ? texts : zlib.crc32(postings, texts)) | 0
}

/** The columns of {@link readStoredChunk}. */
export const CHUNK_COLUMNS = `number, name, kind, encode(first, 'hex') AS first_key, ordinal, vals,
  encode(posts, 'base64') AS posts, checksum`

/** Throws `DamagedSegment` unless the row is intact. */
export function readStoredChunk(segment: number, row: TextRow): SummedChunk {
  const [number, name, kind, first, ordinal, values, posts, checksum] = row
  const chunk = {
    segment,
    number: Number(number),
    name: Number(name),
    kind: Number(kind),
    first: first!,
    ordinal: Number(ordinal),
    values: values!,
    postings: Buffer.from(posts!, 'base64'),
  }
  if (chunkChecksum(chunk) !== Number(checksum))
    throw new DamagedSegment(segment, 'a checksum of its chunks is wrong')
  return chunk
}
