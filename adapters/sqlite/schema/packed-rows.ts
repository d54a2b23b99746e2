import zlib from 'node:zlib'
import { inflateSync } from 'fflate'
import {
  byteWriter,
  putVarint,
  takeVarint,
  writtenBytes,
} from '../../../src/store-kit/index/varint.js'
import type { Connection } from '../connection/connection.js'
import { readDictionary } from './dictionaries.js'
import { type EventRow, isPlain, type StoredRow } from './rows.js'

/*
 * With `compression: 'deflate'`, the attributes and the source of a sealed event are compressed in the column `packed`
 * of its row, with a dictionary. The column `attributes` is then empty.
 *
 * A packed value has the id of the dictionary, the bytes of the attributes, and one more than the bytes of the source, or 0
 * without a source, as varints. Then it has both texts as one raw deflate stream.
 *
 * Short texts have the fixed Huffman codes of the standard: JavaScript reads them in a third of the time that a call
 * of zlib takes, which first allocates its state. Longer texts have codes of their own, which take less space.
 */

/** The texts of an event that are compressed. */
export type PackedPart = Pick<EventRow, 'source' | 'attributes'>

/** A dictionary and its id. */
export interface Dictionary {
  readonly id: number
  readonly data: Uint8Array
}

/** Bytes of texts that have the fixed codes. */
const MAX_FIXED = 2048

interface Head {
  readonly dictionary: number
  readonly attributes: number
  readonly source: number | null
  /** Where the deflate stream begins. */
  readonly end: number
}

function headOf(data: Uint8Array): Head {
  const reader = { data, at: 0 }
  const dictionary = takeVarint(reader)
  const attributes = takeVarint(reader)
  const source = takeVarint(reader)
  return { dictionary, attributes, source: source === 0 ? null : source - 1, end: reader.at }
}

/** The packed value of an event's texts. */
export function packPart({ source, attributes }: PackedPart, dictionary: Dictionary): Uint8Array {
  const text = Buffer.from((source ?? '') + attributes)
  const sourceLength = source === null ? 0 : Buffer.byteLength(source)
  const writer = byteWriter()
  putVarint(writer, dictionary.id)
  putVarint(writer, text.length - sourceLength)
  putVarint(writer, source === null ? 0 : sourceLength + 1)
  const deflated = zlib.deflateRawSync(text, {
    dictionary: dictionary.data,
    ...(text.length <= MAX_FIXED && { strategy: zlib.constants.Z_FIXED }),
  })
  return Buffer.concat([writtenBytes(writer), deflated])
}

const scratch = Buffer.allocUnsafe(MAX_FIXED)

function inflate(data: Uint8Array, dictionary: Uint8Array, size: number): Buffer {
  if (size <= MAX_FIXED) {
    inflateSync(data, { dictionary, out: scratch })
    return scratch
  }
  // One byte more, so that the text is complete after one call.
  return zlib.inflateRawSync(data, { dictionary, chunkSize: size + 1, maxOutputLength: size })
}

/** The texts of a packed value. Throws an error, or returns other texts, if it is damaged. */
export function unpackPart(
  packed: Uint8Array,
  dictionaryOf: (id: number) => Uint8Array | undefined,
): PackedPart | undefined {
  const { dictionary: id, attributes, source, end } = headOf(packed)
  const dictionary = dictionaryOf(id)
  if (!dictionary) return undefined
  const start = source ?? 0
  const text = inflate(packed.subarray(end), dictionary, start + attributes)
  return {
    source: source === null ? null : text.toString('utf8', 0, start),
    attributes: text.toString('utf8', start, start + attributes),
  }
}

/** The id of the dictionary of a packed value. */
export const dictionaryIn = (packed: Uint8Array): number => headOf(packed).dictionary

/** Bytes of the JSON text of the attributes in a packed value. */
export const packedBytes = (packed: Uint8Array): number => headOf(packed).attributes

/**
 * The row with its texts. If they cannot be read, it has others, and the checksum of the row, which includes them, is
 * wrong.
 */
export function openRow(connection: Connection, row: StoredRow): EventRow {
  if (isPlain(row)) return row
  const part = partOf(connection, row)
  // Spreading the row would take longer.
  return {
    created_at: row.created_at,
    suffix: row.suffix,
    type: row.type,
    username: row.username,
    source: part ? part.source : null,
    system: row.system,
    attributes: part ? part.attributes : '',
    checksum: row.checksum,
  }
}

function partOf(connection: Connection, { attributes }: StoredRow): PackedPart | undefined {
  if (!(attributes instanceof Uint8Array)) return undefined
  try {
    return unpackPart(attributes, (id) => readDictionary(connection, id))
  } catch {
    return undefined
  }
}
