import { randomFillSync } from 'node:crypto'
import type { Microseconds } from './timestamp.js'

/**
 * The end of an event's id: 16 hexadecimal digits. Ids are UUIDs of version 7 that carry
 * `created_at`: 48 bits of milliseconds, then the microseconds as a 12-bit fraction (RFC 9562, section
 * 6.2, method 3). The suffix has the two variant bits and 62 random bits.
 */
export type IdTail = string

/** Fills the array with random bytes and returns it. */
export type RandomBytes = (bytes: Uint8Array) => Uint8Array

const TAIL_BYTES = 8
export const TAIL_LENGTH = 2 * TAIL_BYTES

const POOL_TAILS = 256

/** Returns a function that makes suffixes. One call of `random` serves many of them. */
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

// Successive events often share their millisecond, so its digits are cached.
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
 * The time and suffix of the id, or `undefined` if {@link eventId} cannot have made it: another UUID
 * version, or a fraction that is not a whole microsecond.
 */
export function parseEventId(id: string): { time: Microseconds; tail: IdTail } | undefined {
  if (!UUID.test(id) || id[14] !== '7') return undefined
  const millisecond = Number.parseInt(id.slice(0, 8) + id.slice(9, 13), 16)
  const time = millisecond * 1000 + Math.ceil((Number.parseInt(id.slice(15, 18), 16) * 1000) / 4096)
  const tail = id.slice(19, 23) + id.slice(24)
  return eventId(time, tail) === id ? { time, tail } : undefined
}
