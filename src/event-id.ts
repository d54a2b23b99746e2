import { randomFillSync } from 'node:crypto'
import type { Microseconds } from './timestamp.js'

/**
 * Ids are UUIDs of version 7 whose first 60 free bits carry `created_at`: 48 bits of milliseconds,
 * and the microseconds within as a 12-bit fraction (RFC 9562, section 6.2, method 3). The other 62
 * bits are random; with the two variant bits they are the id's tail, 16 hexadecimal digits here.
 */
export type IdTail = string

/** Fills the array with random bytes and gives it back. */
export type RandomBytes = (bytes: Uint8Array) => Uint8Array

const TAIL_BYTES = 8

/** Draws tails from a pool, as one system call for each is ten times dearer. */
export function tailSource(random: RandomBytes = randomFillSync): () => IdTail {
  const pool = Buffer.alloc(TAIL_BYTES * 256)
  let offset = pool.length
  return () => {
    if (offset === pool.length) {
      random(pool)
      offset = 0
    }
    pool[offset] = (pool[offset]! & 0x3f) | 0x80
    const tail = pool.toString('hex', offset, offset + TAIL_BYTES)
    offset += TAIL_BYTES
    return tail
  }
}

/** The id of the event that became visible at `time`. */
export function eventId(time: Microseconds, tail: IdTail): string {
  const millisecond = Math.floor(time / 1000)
  const fraction = Math.floor(((time - millisecond * 1000) * 4096) / 1000)
  const high = millisecond.toString(16).padStart(12, '0')
  const low = fraction.toString(16).padStart(3, '0')
  return `${high.slice(0, 8)}-${high.slice(8)}-7${low}-${tail.slice(0, 4)}-${tail.slice(4)}`
}

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/

/** True for the canonical text of any UUID, in lower case. */
export function isUuid(id: string): boolean {
  return UUID.test(id)
}

/**
 * The time and tail that the id carries, or `undefined` where {@link eventId} cannot have made it:
 * another version, or a fraction that stands for no whole microsecond.
 */
export function parseEventId(id: string): { time: Microseconds; tail: IdTail } | undefined {
  if (!UUID.test(id) || id[14] !== '7') return undefined
  const millisecond = Number.parseInt(id.slice(0, 8) + id.slice(9, 13), 16)
  const time = millisecond * 1000 + Math.ceil((Number.parseInt(id.slice(15, 18), 16) * 1000) / 4096)
  const tail = id.slice(19, 23) + id.slice(24)
  return eventId(time, tail) === id ? { time, tail } : undefined
}
