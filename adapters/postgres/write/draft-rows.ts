import type { EventDraft } from '../../../src/event/event.js'
import type { IdSuffix } from '../../../src/event/event-id.js'
import type { Microseconds } from '../../../src/event/timestamp.js'
import { draftChecksum } from '../schema/event-checksum.js'

/*
 * An array of rows of `events` in Postgres' binary format, in which pg sends a Buffer: neither side
 * formats or parses numbers, or escapes text (`array_recv` and `record_recv` in
 * https://github.com/postgres/postgres/tree/master/src/backend/utils/adt).
 */
const Type = { bool: 16, int8: 20, int4: 23, text: 25, json: 114 } as const

// Bytes of the headers of the array, of a row, and of each value.
const ARRAY_HEAD = 20
const ROW_HEAD = 8
const VALUE_HEAD = 8
const COLUMNS = 8
const TIME_BYTES = 8
const CHECKSUM_BYTES = 4
/** Bytes of a row without its texts. */
const ROW_BYTES = ROW_HEAD + COLUMNS * VALUE_HEAD + TIME_BYTES + 1 + CHECKSUM_BYTES
const NULL = -1

/** Maximum number of bytes of a UTF-16 unit in UTF-8. */
const MAX_UNIT_BYTES = 3

/** Maximum number of bytes of the texts. */
const maxTextBytes = ({ suffix, type, username, source, json }: EventDraft): number =>
  MAX_UNIT_BYTES * (suffix.length + type.length + (username?.length ?? 0) + (source?.length ?? 0)) +
  Buffer.byteLength(json)

const NOTHING: ReadonlyMap<IdSuffix, Microseconds> = new Map()

/**
 * The parameter of type `events[]`. `rowType` is the OID of the type `events`. The times are NULL except for the drafts
 * in `foundAt`.
 */
export function draftRows(
  drafts: readonly EventDraft[],
  rowType: number,
  foundAt: ReadonlyMap<IdSuffix, Microseconds> = NOTHING,
): Buffer {
  const maxBytes = drafts.reduce((sum, draft) => sum + ROW_BYTES + maxTextBytes(draft), ARRAY_HEAD)
  const rows = Buffer.allocUnsafe(maxBytes)
  let at = writeDimension(rows, 0, rowType, drafts.length)
  for (const draft of drafts) at = writeRow(rows, at, draft, foundAt.get(draft.suffix))
  return rows.subarray(0, at)
}

/** Writes the dimension of an array without NULLs whose first index is 1. Returns the end. */
function writeDimension(rows: Buffer, start: number, type: number, length: number): number {
  let at = start
  for (const number of [length > 0 ? 1 : 0, 0, type]) at = rows.writeInt32BE(number, at)
  if (length > 0) for (const number of [length, 1]) at = rows.writeInt32BE(number, at)
  return at
}

/** Writes a row at `start`. Returns its end. */
function writeRow(
  rows: Buffer,
  start: number,
  draft: EventDraft,
  time: Microseconds | undefined,
): number {
  const view = new DataView(rows.buffer, rows.byteOffset)
  let at = start + 4

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
  const putTime = (): void => {
    putNumber(Type.int8)
    if (time === undefined) return putNumber(NULL)
    putNumber(TIME_BYTES)
    view.setBigInt64(at, BigInt(time))
    at += TIME_BYTES
  }
  putNumber(COLUMNS)
  putTime()
  putText(Type.text, draft.suffix)
  putText(Type.text, draft.type)
  putText(Type.text, draft.username)
  putText(Type.text, draft.source)
  putNumber(Type.bool)
  putNumber(1)
  rows[at++] = draft.system ? 1 : 0
  putText(Type.json, draft.json)
  putNumber(Type.int4)
  putNumber(CHECKSUM_BYTES)
  putNumber(draftChecksum(draft))
  view.setInt32(start, at - start - 4)
  return at
}
