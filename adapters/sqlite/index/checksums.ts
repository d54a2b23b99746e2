import { perObject } from '../../../src/store/per-object.js'
import zlib from 'node:zlib'
import type { Microseconds } from '../../../src/event/timestamp.js'
import { bytesChecksum } from '../../../src/store-kit/index/checksums.js'
import { DamagedSegment } from '../../../src/store-kit/index/segment-source.js'
import type { Connection } from '../connection/connection.js'
import { isCorrupt } from '../connection/database.js'

/** The checksum of a chunk's values, which belong to lists of this name and kind. */
export const valuesChecksum = (id: number, name: number, kind: number, values: string): number =>
  zlib.crc32(values, zlib.crc32(`${id} ${name} ${kind}`))

export const postingsChecksum = (id: number, postings: Uint8Array): number =>
  bytesChecksum(postings, String(id))

export const timesChecksum = (id: number, first: Microseconds, times: Uint8Array): number =>
  bytesChecksum(times, `${id} ${first}`)

/** Runs a read of a segment. Damage that SQLite itself finds becomes a `DamagedSegment`. */
export function readingSegment<Result>(segment: number, read: () => Result): Result {
  try {
    return read()
  } catch (error) {
    if (!isCorrupt(error)) throw error
    throw new DamagedSegment(segment, (error as Error).message)
  }
}

/** A part that was checked is not checked again for this long, because queries often repeat. */
const TRUSTED_MS = 60_000
const MAX_TRUSTED = 16_384

/** Checks each part of the rows of segments when it is read, and then not again for a while. */
export interface SegmentChecks {
  key(segment: number, id: number, isRight: () => boolean): void
  values(segment: number, id: number, isRight: () => boolean): void
  postings(segment: number, id: number, isRight: () => boolean): void
  times(segment: number, id: number, isRight: () => boolean): void
  /** True if the times with this row id were checked. */
  hasTimes(id: number): boolean
}

const PARTS = ['key', 'values', 'postings', 'times'] as const

export const segmentChecks = perObject<Connection, SegmentChecks>(() => {
  const trusted = PARTS.map(() => new Set<number>())
  let until = 0

  const forgetOld = (): void => {
    const now = performance.now()
    const isFull = trusted.some(({ size }) => size >= MAX_TRUSTED)
    if (now < until && !isFull) return
    until = now + TRUSTED_MS
    for (const set of trusted) set.clear()
  }
  const check =
    (part: number) =>
    (segment: number, id: number, isRight: () => boolean): void => {
      if (trusted[part]!.has(id)) return
      if (!isRight()) throw new DamagedSegment(segment, `a checksum of its ${PARTS[part]} is wrong`)
      forgetOld()
      trusted[part]!.add(id)
    }
  return {
    key: check(0),
    values: check(1),
    postings: check(2),
    times: check(3),
    hasTimes: (id) => trusted[3]!.has(id),
  }
})
