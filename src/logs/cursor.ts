import { createHash } from 'node:crypto'
import { AuditLogError } from '../errors.js'
import { formatTimestamp, type Microseconds, parseTimestamp } from '../event/timestamp.js'
import { compareText } from '../filter/values.js'
import { BEGINNING } from '../tail/poll.js'

/*
 * A cursor as text: base64url of one byte for the kind of the cursor, then the records of this kind.
 *
 * `places`: for each log 8 bytes of the SHA-256 digest of its key, and 7 bytes of the microseconds of the reader's
 * last event in this log. It does not contain the keys. `before`: 7 bytes of the microseconds of an event, then the
 * key of its log.
 */

const PLACES = 1
const BEFORE = 2
const HASH_BYTES = 8
const TIME_BYTES = 7
const RECORD_BYTES = HASH_BYTES + TIME_BYTES

/** The place of an event in the order of the events of several logs. */
export interface Place {
  readonly log: string
  readonly created_at: string
}

/**
 * Cursor of a reader of several logs: for each log, the `created_at` up to which the reader has all events. A log
 * without an entry is read from its beginning.
 */
export interface Places {
  after(log: string): string
}

const hashOf = (log: string): string =>
  createHash('sha256').update(log).digest().toString('hex', 0, HASH_BYTES)

/** Makes times before 1970 positive. */
const BIAS = 2n ** 55n

const invalidCursor = (cursor: unknown, parameter: string): AuditLogError =>
  new AuditLogError(
    'INVALID_VALUE',
    `${parameter}: ${JSON.stringify(cursor)} is not a cursor that this query has returned`,
    { parameter },
  )

/** `undefined` for a text that is not a cursor of this kind. */
function bytesOf(cursor: unknown, kind: number): Buffer | undefined {
  const bytes = typeof cursor === 'string' ? Buffer.from(cursor, 'base64url') : undefined
  return bytes?.[0] === kind && bytes.toString('base64url') === cursor ? bytes : undefined
}

function readTime(bytes: Buffer, at: number): string | undefined {
  const biased = BigInt(`0x${bytes.toString('hex', at, at + TIME_BYTES)}`)
  const time: Microseconds = Number(biased - BIAS)
  return Number.isSafeInteger(time) ? formatTimestamp(time) : undefined
}

function writeTime(bytes: Buffer, created_at: string, at: number): void {
  const biased = BigInt(parseTimestamp(created_at)!) + BIAS
  bytes.write(biased.toString(16).padStart(2 * TIME_BYTES, '0'), at, 'hex')
}

/** The cursor of a reader that has all events of each log up to a `created_at`. */
export function formatPlaces(places: ReadonlyMap<string, string>): string {
  const records = Array.from(places, ([log, created_at]) => ({ hash: hashOf(log), created_at }))
  const sorted = records
    .filter(({ created_at }) => created_at !== BEGINNING)
    .toSorted((a, b) => (a.hash < b.hash ? -1 : 1))
  const bytes = Buffer.alloc(1 + sorted.length * RECORD_BYTES)
  bytes[0] = PLACES
  for (const [i, { hash, created_at }] of sorted.entries()) {
    const at = 1 + i * RECORD_BYTES
    bytes.write(hash, at, 'hex')
    writeTime(bytes, created_at, at + HASH_BYTES)
  }
  return bytes.toString('base64url')
}

/** The cursor of a reader that has all events of these logs before the given event. */
export function formatPlacesBefore(logs: readonly string[], place: Place): string {
  const before = formatTimestamp(parseTimestamp(place.created_at)! - 1)
  return formatPlaces(
    new Map(logs.map((log) => [log, compareText(log, place.log) < 0 ? place.created_at : before])),
  )
}

/** Reads what {@link formatPlaces} has written. Throws `INVALID_VALUE`, which names the parameter. */
export function parsePlaces(cursor: string, parameter: 'cursor' | 'until' = 'cursor'): Places {
  const bytes = bytesOf(cursor, PLACES)
  if (!bytes || (bytes.length - 1) % RECORD_BYTES !== 0) throw invalidCursor(cursor, parameter)
  const times = new Map<string, string>()
  for (let at = 1; at < bytes.length; at += RECORD_BYTES) {
    const time = readTime(bytes, at + HASH_BYTES)
    if (time === undefined) throw invalidCursor(cursor, parameter)
    times.set(bytes.toString('hex', at, at + HASH_BYTES), time)
  }
  return { after: (log) => times.get(hashOf(log)) ?? BEGINNING }
}

/** The cursor of a reader that goes back in time and has all events from this one on. */
export function formatBefore({ log, created_at }: Place): string {
  const key = Buffer.from(log)
  const bytes = Buffer.alloc(1 + TIME_BYTES + key.length)
  bytes[0] = BEFORE
  writeTime(bytes, created_at, 1)
  key.copy(bytes, 1 + TIME_BYTES)
  return bytes.toString('base64url')
}

/** Reads what {@link formatBefore} has written. Throws `INVALID_VALUE`. */
export function parseBefore(cursor: string): Place {
  const bytes = bytesOf(cursor, BEFORE)
  const created_at = bytes && bytes.length > 1 + TIME_BYTES ? readTime(bytes, 1) : undefined
  if (!bytes || created_at === undefined) throw invalidCursor(cursor, 'cursor')
  return { log: bytes.toString('utf8', 1 + TIME_BYTES), created_at }
}
