import zlib from 'node:zlib'
import type { Microseconds } from '../../event/timestamp.js'
import type { Key } from './segment-source.js'

/*
 * CRC-32 of segments. Each row of a segment has a checksum of its content and its place, so a row in the place
 * of another is noticed too.
 */

/** The columns that the checksum of a segment's own row covers, as `keyChecksum` takes them. */
export const SUMMED_COLUMNS =
  'id, level, size, first, last, removed, partial, digest, names, chunks'

export const keyChecksum = (key: readonly (number | Key)[]): number =>
  zlib.crc32(key.map((part) => `${typeof part === 'string' ? "'" : ''}${part}`).join('\n'))

// For no bytes, zlib may return 0 instead of the checksum so far.
export const bytesChecksum = (bytes: Uint8Array, place: string): number =>
  bytes.length === 0 ? zlib.crc32(place) : zlib.crc32(bytes, zlib.crc32(place))

/** The digest of the events of a segment. Their times identify them. */
export const eventsDigest = (times: ArrayLike<Microseconds>): number => {
  const exact = times instanceof Float64Array ? times : Float64Array.from(times)
  return zlib.crc32(new Uint8Array(exact.buffer, exact.byteOffset, exact.byteLength))
}
