import type { EventDraft } from '../../../src/event/event.js'
import type { IdTail } from '../../../src/event/event-id.js'
import type { Microseconds } from '../../../src/event/timestamp.js'
import { termsOf } from '../schema/terms.js'

/*
 * Rows of the table of events as the server takes an array of them in binary, which is what pg sends a
 * Buffer as: neither side prints or parses a number, or escapes a text (`array_recv` and `record_recv` in
 * https://github.com/postgres/postgres/tree/master/src/backend/utils/adt).
 */
const Type = { bool: 16, int8: 20, int4: 23, text: 25, json: 114, int4Array: 1007 } as const

// Of the array with its dimension, of a row and of each of its values, of a row's array of terms.
const ARRAY_HEAD = 20
const ROW_HEAD = 8
const VALUE_HEAD = 8
const TERMS_HEAD = 20
const COLUMNS = 8
/** A term with its length before it. */
const NUMBER = 8
const TIME_BYTES = 8
/** All of a row but its texts and terms. */
const ROW_BYTES = ROW_HEAD + COLUMNS * VALUE_HEAD + TIME_BYTES + 1 + TERMS_HEAD
const NULL = -1

/** Of no UTF-16 unit UTF-8 takes more. */
const MAX_UNIT_BYTES = 3

/** At least so many bytes as the texts take. */
const textBytes = ({ tail, type, username, source, json }: EventDraft): number =>
  MAX_UNIT_BYTES * (tail.length + type.length + (username?.length ?? 0) + (source?.length ?? 0)) +
  Buffer.byteLength(json)

/**
 * For `$1::events[]`, where `rowType` is the number that the server has given the type `events`. The
 * times are NULL but for what `foundAt` has.
 */
export function draftRows(
  drafts: readonly EventDraft[],
  rowType: number,
  foundAt: ReadonlyMap<IdTail, Microseconds> = new Map(),
): Buffer {
  const terms = drafts.map(termsOf)
  const most = drafts.reduce(
    (sum, draft, i) => sum + ROW_BYTES + textBytes(draft) + NUMBER * terms[i]!.length,
    ARRAY_HEAD,
  )
  const rows = Buffer.allocUnsafe(most)
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
    putNumber(TERMS_HEAD + NUMBER * of.length)
    putDimension(Type.int4, of.length)
    for (const term of of) {
      view.setInt32(at, 4)
      view.setInt32(at + 4, term)
      at += NUMBER
    }
  }
  /** One, without NULLs, that begins with 1. */
  const putDimension = (type: number, length: number): void => {
    for (const number of [length > 0 ? 1 : 0, 0, type]) putNumber(number)
    if (length > 0) for (const number of [length, 1]) putNumber(number)
  }

  putDimension(rowType, drafts.length)
  for (const [i, { tail, type, username, source, system, json }] of drafts.entries()) {
    const start = at
    at += 4
    putNumber(COLUMNS)
    putTime(foundAt.get(tail))
    putText(Type.text, tail)
    putText(Type.text, type)
    putText(Type.text, username)
    putText(Type.text, source)
    putNumber(Type.bool)
    putNumber(1)
    rows[at++] = system ? 1 : 0
    putText(Type.json, json)
    putTerms(terms[i]!)
    view.setInt32(start, at - start - 4)
  }
  return rows.subarray(0, at)
}
