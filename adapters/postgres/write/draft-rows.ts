import type { EventDraft } from '../../../src/event/event.js'
import type { IdSuffix } from '../../../src/event/event-id.js'
import type { Microseconds } from '../../../src/event/timestamp.js'
import { draftChecksum } from '../schema/event-checksum.js'
import { termsOf } from '../schema/terms.js'

/*
 * An array of rows of `events` in Postgres' binary format, in which pg sends a Buffer: neither side
 * formats or parses numbers, or escapes text (`array_recv` and `record_recv` in
 * https://github.com/postgres/postgres/tree/master/src/backend/utils/adt).
 */
const Type = { bool: 16, int8: 20, int4: 23, text: 25, json: 114, int4Array: 1007 } as const

// Bytes of the headers of the array, of a row, of each value, and of the array of terms.
const ARRAY_HEAD = 20
const ROW_HEAD = 8
const VALUE_HEAD = 8
const TERMS_HEAD = 20
/** An empty array has no dimensions. */
const EMPTY_TERMS_BYTES = 12
const COLUMNS = 9
/** Bytes of a term and its length. */
const TERM_BYTES = 8
const TIME_BYTES = 8
const CHECKSUM_BYTES = 4
/** Bytes of a row without its texts and terms. */
const ROW_BYTES = ROW_HEAD + COLUMNS * VALUE_HEAD + TIME_BYTES + 1 + TERMS_HEAD + CHECKSUM_BYTES
const NULL = -1

/** Maximum number of bytes of a UTF-16 unit in UTF-8. */
const MAX_UNIT_BYTES = 3

/** Maximum number of bytes of the texts. */
const maxTextBytes = ({ suffix, type, username, source, json }: EventDraft): number =>
  MAX_UNIT_BYTES * (suffix.length + type.length + (username?.length ?? 0) + (source?.length ?? 0)) +
  Buffer.byteLength(json)

/**
 * The value of a parameter of type `events[]`; `rowType` is the OID of the type `events`. The times are
 * NULL except for the drafts in `foundAt`.
 */
export function draftRows(
  drafts: readonly EventDraft[],
  rowType: number,
  foundAt: ReadonlyMap<IdSuffix, Microseconds> = new Map(),
): Buffer {
  const terms = drafts.map(({ attributes }) => termsOf(attributes))
  const maxBytes = drafts.reduce(
    (sum, draft, i) => sum + ROW_BYTES + maxTextBytes(draft) + TERM_BYTES * terms[i]!.length,
    ARRAY_HEAD,
  )
  const rows = Buffer.allocUnsafe(maxBytes)
  const view = new DataView(rows.buffer, rows.byteOffset)
  let at = 0

  const putNumber = (number: number): void => {
    view.setInt32(at, number)
    at += 4
  }
  const putText = (type: number, text: string | null): void => {
    putNumber(type)
    if (text === null) return putNumber(NULL)
    const length = rows.write(text, at + 4)
    putNumber(length)
    at += length
  }
  const putTime = (time: Microseconds | undefined): void => {
    putNumber(Type.int8)
    if (time === undefined) return putNumber(NULL)
    putNumber(TIME_BYTES)
    view.setBigInt64(at, BigInt(time))
    at += TIME_BYTES
  }
  const putTerms = (of: readonly number[]): void => {
    putNumber(Type.int4Array)
    putNumber(of.length > 0 ? TERMS_HEAD + TERM_BYTES * of.length : EMPTY_TERMS_BYTES)
    putDimension(Type.int4, of.length)
    for (const term of of) {
      view.setInt32(at, 4)
      view.setInt32(at + 4, term)
      at += TERM_BYTES
    }
  }
  /** The dimension of an array without NULLs whose first index is 1. */
  const putDimension = (type: number, length: number): void => {
    for (const number of [length > 0 ? 1 : 0, 0, type]) putNumber(number)
    if (length > 0) for (const number of [length, 1]) putNumber(number)
  }

  putDimension(rowType, drafts.length)
  for (const [i, draft] of drafts.entries()) {
    const { suffix, type, username, source, system, json } = draft
    const start = at
    at += 4
    putNumber(COLUMNS)
    putTime(foundAt.get(suffix))
    putText(Type.text, suffix)
    putText(Type.text, type)
    putText(Type.text, username)
    putText(Type.text, source)
    putNumber(Type.bool)
    putNumber(1)
    rows[at++] = system ? 1 : 0
    putText(Type.json, json)
    putTerms(terms[i]!)
    putNumber(Type.int4)
    putNumber(CHECKSUM_BYTES)
    putNumber(draftChecksum(draft))
    view.setInt32(start, at - start - 4)
  }
  return rows.subarray(0, at)
}
