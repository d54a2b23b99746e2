import type { JsonObject } from '../../../src/event/event.js'
import { PERSONAL } from '../../../src/event/personal.js'
import { searchedAttributes } from '../../../src/event/searched.js'
import type { Microseconds } from '../../../src/event/timestamp.js'
import { createDamageReporter } from '../../../src/store/damage.js'
import type { Connection } from '../connection/connection.js'
import { dictionaryChecksum, readDictionary } from '../schema/dictionaries.js'
import { createEventReader } from '../schema/events.js'
import { type Dictionary, packPart } from '../schema/packed-rows.js'
import { readAfter } from '../schema/read-after.js'
import type { EventRow } from '../schema/rows.js'

/* Chooses the dictionary for the next events that are packed: see schema/dictionaries.ts. */

/** Bytes of a dictionary. A larger one saves little more, and each event takes longer to compress. */
const MAX_BYTES = 8192

/** Bytes that a dictionary has of one event. */
const MAX_EVENT_BYTES = 1024

/** Events from which a dictionary is made. */
const MAX_SAMPLE = 512

/** Characters of these events. */
const MAX_SAMPLE_LENGTH = 2 ** 20

/** Rows that are read at once. */
const STEP = 64

/** Events with which the present dictionary and the new one are compared. */
const MAX_TESTED = 32

/** A new dictionary is used if events take at most this share of the space that they take with the present one. */
const MIN_GAIN = 0.95

/** Some of the events between the times, from the first on. */
function sampleAfter(
  connection: Connection,
  after: Microseconds,
  to: Microseconds,
): readonly EventRow[] {
  // The store's own connection reports events that cannot be read.
  const events = createEventReader(connection, createDamageReporter())
  const sample: EventRow[] = []
  let length = 0
  for (let last = after; sample.length < MAX_SAMPLE && length < MAX_SAMPLE_LENGTH;) {
    const read = readAfter({ connection, events }, last, STEP)
    for (const { time, row } of read) {
      last = time
      if (!row || time > to) continue
      sample.push(row)
      length += row.attributes.length
    }
    if (read.length < STEP) break
  }
  return sample
}

/** The JSON text without ciphertexts, which no two events have in common. */
function commonText({ attributes }: EventRow): string {
  if (!attributes.includes(JSON.stringify(PERSONAL))) return attributes
  return JSON.stringify(searchedAttributes(JSON.parse(attributes) as JsonObject))
}

/** Of events that are spread over the sample. */
function dictionaryOf(sample: readonly EventRow[]): Uint8Array {
  const texts = sample.map((row) =>
    Buffer.from(commonText(row).slice(0, MAX_EVENT_BYTES)).subarray(0, MAX_EVENT_BYTES),
  )
  const average = texts.reduce((sum, { length }) => sum + length, 0) / texts.length
  const interval = Math.max(1, Math.floor((sample.length * average) / MAX_BYTES))
  return Buffer.concat(texts.filter((_, at) => at % interval === 0)).subarray(-MAX_BYTES)
}

const bytesOf = (rows: readonly EventRow[], dictionary: Dictionary): number =>
  rows.reduce((sum, row) => sum + packPart(row, dictionary).length, 0)

const PRESENT = 'SELECT max(id) AS id FROM daybook_dictionaries'

export const presentId = ({ statement }: Connection): number | null =>
  (statement(PRESENT).get() as { readonly id: number | null }).id

/** True if this is still the dictionary for the next events. Call it within the transaction that packs them. */
export const isPresent = (connection: Connection, { id }: Dictionary): boolean =>
  presentId(connection) === id

/** The dictionary for the next events; `undefined` if there is none that can be read. */
export function presentDictionary(connection: Connection): Dictionary | undefined {
  const id = presentId(connection)
  const data = id === null ? undefined : readDictionary(connection, id)
  return data && { id: id!, data }
}

/** A dictionary of some of the events after a time, up to another; `undefined` if none can be read. */
export function newDictionary(
  connection: Connection,
  after: Microseconds,
  to: Microseconds,
): Uint8Array | undefined {
  const sample = sampleAfter(connection, after, to)
  return sample.length > 0 ? dictionaryOf(sample) : undefined
}

/** A better dictionary for the events after a time; `undefined` if the present one is as good. */
export function trainDictionary(
  connection: Connection,
  after: Microseconds,
  to: Microseconds,
): Uint8Array | undefined {
  const sample = sampleAfter(connection, after, to)
  if (sample.length === 0) return undefined
  const data = dictionaryOf(sample.filter((_, at) => at % 2 === 0))
  const present = presentDictionary(connection)
  if (!present) return data
  const tested = sample.filter((_, at) => at % 2 === 1).slice(-MAX_TESTED)
  const isBetter = bytesOf(tested, { id: present.id, data }) < MIN_GAIN * bytesOf(tested, present)
  return isBetter ? data : undefined
}

const NEXT_ID = `SELECT 1 + max(
  coalesce((SELECT max(id) FROM daybook_dictionaries), 0),
  coalesce((SELECT max(id) FROM daybook_dictionary_copies), 0)) AS id`

const INSERT = 'INSERT INTO daybook_dictionaries (id, first, data, checksum) VALUES (?, ?, ?, ?)'

const INSERT_COPY = 'INSERT INTO daybook_dictionary_copies (id, data, checksum) VALUES (?, ?, ?)'

// Only events before `first` of the next dictionary use a dictionary.
const LAST_UNUSED = `SELECT max(id) AS id FROM daybook_dictionaries
  WHERE first < (SELECT coalesce(min(created_at), 0) FROM daybook_events)`

/** Stores a dictionary for the events after a time, and returns its id. */
export function addDictionary(
  { statement }: Connection,
  data: Uint8Array,
  first: Microseconds,
): number {
  const { id } = statement(NEXT_ID).get() as { readonly id: number }
  const checksum = dictionaryChecksum(id, data)
  statement(INSERT).run(id, first, data, checksum)
  statement(INSERT_COPY).run(id, data, checksum)
  return id
}

/** Stores a dictionary for the events after a time, and removes those of which no event is left. */
export function insertDictionary(
  connection: Connection,
  data: Uint8Array,
  first: Microseconds,
): void {
  addDictionary(connection, data, first)
  const { statement } = connection
  const { id: bound } = statement(LAST_UNUSED).get() as { readonly id: number | null }
  if (bound === null) return
  statement('DELETE FROM daybook_dictionaries WHERE id < ?').run(bound)
  statement('DELETE FROM daybook_dictionary_copies WHERE id < ?').run(bound)
}
