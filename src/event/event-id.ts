import { randomFillSync } from 'node:crypto'
import type { Microseconds } from './timestamp.js'
import { isUuid } from './uuid.js'

/**
 * The end of an event's id: 16 hexadecimal digits. Ids are UUIDs of version 7 that carry
 * `created_at`: 48 bits of milliseconds, then the microseconds as a 12-bit fraction (RFC 9562, section
 * 6.2, method 3). The suffix has the two variant bits and 62 random bits.
 */
export type IdSuffix = string

/** Fills the array with random bytes and returns it. */
export type RandomBytes = (bytes: Uint8Array) => Uint8Array

const SUFFIX_BYTES = 8
export const SUFFIX_LENGTH = 2 * SUFFIX_BYTES

const POOL_SUFFIXES = 256

/** Returns a function that makes suffixes. One call of `random` serves many of them. */
export function suffixSource(random: RandomBytes = randomFillSync): () => IdSuffix {
  const pool = Buffer.alloc(SUFFIX_BYTES * POOL_SUFFIXES)
  let digits = ''
  let offset = 0
  return () => {
    if (offset === digits.length) {
      random(pool)
      for (let i = 0; i < pool.length; i += SUFFIX_BYTES) pool[i] = (pool[i]! & 0x3f) | 0x80
      digits = pool.toString('hex')
      offset = 0
    }
    const suffix = digits.slice(offset, offset + SUFFIX_LENGTH)
    offset += SUFFIX_LENGTH
    return suffix
  }
}

// Successive events often share their millisecond, so its digits are cached.
let cachedMillisecond = Number.NaN
let cachedPrefix = ''

/** The id without its suffix. */
function timePart(time: Microseconds): string {
  const millisecond = Math.floor(time / 1000)
  if (millisecond !== cachedMillisecond) {
    const high = millisecond.toString(16).padStart(12, '0')
    cachedPrefix = `${high.slice(0, 8)}-${high.slice(8)}-`
    cachedMillisecond = millisecond
  }
  const fraction = Math.floor(((time - millisecond * 1000) * 4096) / 1000)
  // 0x7000 puts the version before the fraction's three digits.
  return `${cachedPrefix}${(0x7000 + fraction).toString(16)}-`
}

/** The id of the event that became visible at `time`. */
export const eventId = (time: Microseconds, suffix: IdSuffix): string =>
  `${timePart(time)}${suffix.slice(0, 4)}-${suffix.slice(4)}`

/** True if the id, a UUID, is one that {@link eventId} makes for this time. */
export const carriesTime = (id: string, time: Microseconds): boolean =>
  id.startsWith(timePart(time))

/**
 * The time and suffix of the id, or `undefined` if {@link eventId} cannot have made it: another UUID
 * version, or a fraction that is not a whole microsecond.
 */
export function parseEventId(id: string): { time: Microseconds; suffix: IdSuffix } | undefined {
  if (!isUuid(id) || id[14] !== '7') return undefined
  const millisecond = Number.parseInt(id.slice(0, 8) + id.slice(9, 13), 16)
  const time = millisecond * 1000 + Math.ceil((Number.parseInt(id.slice(15, 18), 16) * 1000) / 4096)
  const suffix = id.slice(19, 23) + id.slice(24)
  return eventId(time, suffix) === id ? { time, suffix } : undefined
}

/** The id of a stored event: an imported id that does not contain the time is stored whole as the suffix. */
export const idOf = (time: Microseconds, suffix: string): string =>
  suffix.length === SUFFIX_LENGTH ? eventId(time, suffix) : suffix
