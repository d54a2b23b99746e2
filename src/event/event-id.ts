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
export const TAIL_LENGTH = 2 * TAIL_BYTES

const POOL_TAILS = 256

/** Draws tails in bulk: one call for random bytes serves many of them. */
export function tailSource(random: RandomBytes = randomFillSync): () => IdTail {
  const pool = Buffer.alloc(TAIL_BYTES * POOL_TAILS)
  let digits = ''
  let offset = 0
  return () => {
    if (offset === digits.length) {
      random(pool)
      for (let i = 0; i < pool.length; i += TAIL_BYTES) pool[i] = (pool[i]! & 0x3f) | 0x80
      digits = pool.toString('hex')
      offset = 0
    }
    const tail = digits.slice(offset, offset + TAIL_LENGTH)
    offset += TAIL_LENGTH
    return tail
  }
}

// Neighbouring events share their millisecond: its digits are kept.
let cachedMillisecond = Number.NaN
let cachedPrefix = ''

/** The id of the event that became visible at `time`. */
export function eventId(time: Microseconds, tail: IdTail): string {
  const millisecond = Math.floor(time / 1000)
  if (millisecond !== cachedMillisecond) {
    const high = millisecond.toString(16).padStart(12, '0')
    cachedPrefix = `${high.slice(0, 8)}-${high.slice(8)}-`
    cachedMillisecond = millisecond
  }
  const fraction = Math.floor(((time - millisecond * 1000) * 4096) / 1000)
  // 0x7000 puts the version before the fraction's three digits.
  const low = (0x7000 + fraction).toString(16)
  return `${cachedPrefix}${low}-${tail.slice(0, 4)}-${tail.slice(4)}`
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
