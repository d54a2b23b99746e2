import type { Scalar } from '../../filter/attributes.js'
import { type ByteWriter, byteWriter, putVarint, reserve, writtenBytes } from './varint.js'

/*
 * The values of an attribute and the ordinals that have them are stored in order, in chunks of about a page.
 * The first byte of a chunk's postings is its layout:
 *   shared  several values: their number, the length of each list in bytes, then the lists
 *   list    a piece of one value's long list: the size of the whole list, then the ordinals
 *   bits    such a piece as a bitmap, if that is shorter: the whole size, the ordinal of the first bit, the bits
 * Numbers are varints. A list has its first ordinal, then the difference of each ordinal to the one before.
 */
export const Layout = { shared: 0, list: 1, bits: 2 } as const

export interface Chunk {
  /** The lowest of its values. */
  readonly first: Scalar
  /** The lowest ordinal of a piece; 0 if the chunk has whole lists. */
  readonly ordinal: number
  /** The values, sorted, each a line of JSON text. */
  readonly values: string
  readonly postings: Uint8Array
}

/** A value and the ordinals that have it, ascending. Valid until the next entry. */
export interface Entry {
  readonly value: Scalar
  readonly ordinals: ArrayLike<number>
  /** The result of {@link valueLine}, if it is known already. */
  readonly line?: string
}

/** The value of lists that do not depend on a value. */
export const ANY_VALUE = 0

/** Size of a chunk that fits in a page of 4096 bytes, besides the headers of the page and the row. */
const MAX_CHUNK_BYTES = 3900
// Longer lists have chunks of their own.
const MAX_SHARED_BYTES = 1000
// Maximum length of the layout and the numbers before a piece.
const PIECE_HEAD = 17

/** The value as JSON text; infinity as a number that is parsed as infinity. */
export function valueLine(value: Scalar): string {
  if (typeof value !== 'number' || Number.isFinite(value)) return JSON.stringify(value)
  return value > 0 ? '1e999' : '-1e999'
}

const PLAIN = /^[ -~]*$/

const byteLength = (line: string): number =>
  PLAIN.test(line) ? line.length : Buffer.byteLength(line)

/** Appends the list; false if it takes more than `maxBytes`. */
function putList(writer: ByteWriter, ordinals: ArrayLike<number>, maxBytes: number): boolean {
  const end = writer.length + maxBytes
  let before = 0
  for (let i = 0; i < ordinals.length; i++) {
    const ordinal = ordinals[i]!
    putVarint(writer, ordinal - before)
    if (writer.length > end) return false
    before = ordinal
  }
  return true
}

/** Encodes the sorted values of one type into chunks of at most the given bytes, or of one value. */
export const encodeChunks = (
  entries: Iterable<Entry>,
  maxBytes = MAX_CHUNK_BYTES,
): Generator<Chunk, void> => encodeChunksWhenReady(entries, maxBytes) as Generator<Chunk, void>

/** Like {@link encodeChunks}. Where the next entry is not ready yet, `entries` and the result yield `undefined`. */
export function* encodeChunksWhenReady(
  entries: Iterable<Entry | undefined>,
  maxBytes = MAX_CHUNK_BYTES,
): Generator<Chunk | undefined, void> {
  const lists = byteWriter()
  let lengths: number[] = []
  let lines: string[] = []
  let first: Scalar = ANY_VALUE
  let bytes = 0

  /** Makes a chunk of the values so far, whose lists end at `end`. */
  const cut = (end: number): Chunk => {
    const postings = byteWriter()
    putVarint(postings, Layout.shared)
    putVarint(postings, lengths.length)
    for (const length of lengths) putVarint(postings, length)
    reserve(postings, end)
    postings.data.set(lists.data.subarray(0, end), postings.length)
    postings.length += end
    const chunk = {
      first,
      ordinal: 0,
      values: lines.join('\n'),
      postings: writtenBytes(postings),
    }
    lists.data.copyWithin(0, end, lists.length)
    lists.length -= end
    lengths = []
    lines = []
    bytes = 0
    return chunk
  }

  for (const entry of entries) {
    if (!entry) {
      yield
      continue
    }
    const { value, ordinals, line = valueLine(value) } = entry
    const start = lists.length
    if (!putList(lists, ordinals, MAX_SHARED_BYTES)) {
      lists.length = start
      if (lines.length > 0) yield cut(start)
      yield* encodePieces(value, line, ordinals)
      continue
    }
    const length = lists.length - start
    // Includes the line end and the length itself.
    const added = byteLength(line) + length + 3
    if (lines.length > 0 && bytes + added > maxBytes) yield cut(start)
    if (lines.length === 0) first = value
    lines.push(line)
    lengths.push(length)
    bytes += added
  }
  if (lines.length > 0) yield cut(lists.length)
}

function* encodePieces(
  value: Scalar,
  line: string,
  ordinals: ArrayLike<number>,
): Generator<Chunk, void> {
  const room = MAX_CHUNK_BYTES - PIECE_HEAD - byteLength(line)
  let from = 0
  while (from < ordinals.length) {
    const postings = byteWriter()
    const ordinal = ordinals[from]!
    const bitsEnd = countBelow(ordinals, bitsBase(ordinal) + room * 8, from)
    const isDense = (bitsEnd - from) * 8 > ordinals[bitsEnd - 1]! - ordinal
    putVarint(postings, isDense ? Layout.bits : Layout.list)
    putVarint(postings, ordinals.length)
    from = isDense
      ? putBits(postings, ordinals, from, bitsEnd)
      : putPiece(postings, ordinals, from, room)
    yield { first: value, ordinal, values: line, postings: writtenBytes(postings) }
  }
}

/** Appends as many ordinals as fit; returns the index of the next one. */
function putPiece(
  writer: ByteWriter,
  ordinals: ArrayLike<number>,
  from: number,
  maxBytes: number,
): number {
  const end = writer.length + maxBytes
  let before = 0
  for (let i = from; i < ordinals.length; i++) {
    const start = writer.length
    putVarint(writer, ordinals[i]! - before)
    before = ordinals[i]!
    if (writer.length <= end) continue
    writer.length = start
    return i
  }
  return ordinals.length
}

const bitsBase = (ordinal: number): number => ordinal - (ordinal % 32)

function putBits(
  writer: ByteWriter,
  ordinals: ArrayLike<number>,
  from: number,
  end: number,
): number {
  const base = bitsBase(ordinals[from]!)
  putVarint(writer, base)
  const size = ((ordinals[end - 1]! - base) >>> 3) + 1
  reserve(writer, size)
  const start = writer.length
  writer.data.fill(0, start, start + size)
  for (let i = from; i < end; i++) {
    const bit = ordinals[i]! - base
    writer.data[start + (bit >>> 3)]! |= 1 << (bit & 7)
  }
  writer.length += size
  return end
}

/** Index of the first ordinal that is not below `bound`. */
function countBelow(ordinals: ArrayLike<number>, bound: number, from: number): number {
  let [low, high] = [from, ordinals.length]
  while (low < high) {
    const middle = (low + high) >>> 1
    if (ordinals[middle]! < bound) low = middle + 1
    else high = middle
  }
  return low
}
