import type { Scalar } from '../../filter/attributes.js'
import { type ByteWriter, byteWriter, putVarint, reserve, writtenBytes } from './varint.js'

/*
 * How an attribute's values and the events that have them are kept: in order, cut into chunks about
 * as long as a page. The first byte of a chunk's postings tells of which layout it is:
 *   shared  several values: their number, the bytes of each one's list, then the lists
 *   list    a piece of the list of one value, which is long: its whole size, then the ordinals
 *   bits    such a piece where that is shorter: the whole size, the first bit's ordinal, then the bits
 * Numbers are varints. A list has its first ordinal, then the distances between them.
 */
export const Layout = { shared: 0, list: 1, bits: 2 } as const

export interface Chunk {
  /** The lowest of its values. */
  readonly first: Scalar
  /** The lowest ordinal of a piece; 0 where the chunk has the lists of its values whole. */
  readonly ordinal: number
  /** The values in their order, each a line of JSON text. */
  readonly values: string
  readonly postings: Uint8Array
}

/** A value, and the events that have it, rising; read before the next entry is asked for. */
export interface Entry {
  readonly value: Scalar
  readonly ordinals: ArrayLike<number>
  /** The value as {@link valueLine} gives it, where that is known. */
  readonly line?: string
}

/** Events without regard to a value are kept as those of this one. */
export const ANY_VALUE = 0

// What of a page of 4096 bytes is left of the row's and the page's own.
const MOST_BYTES = 3900
// A list that is longer than this has chunks of its own.
const MOST_SHARED = 1000
// The layout and the numbers before a piece.
const PIECE_HEAD = 17

/** The value as JSON text; beyond JSON's numbers such as reads as it. */
export function valueLine(value: Scalar): string {
  if (typeof value !== 'number' || Number.isFinite(value)) return JSON.stringify(value)
  return value > 0 ? '1e999' : '-1e999'
}

const PLAIN = /^[ -~]*$/

const byteLength = (line: string): number =>
  PLAIN.test(line) ? line.length : Buffer.byteLength(line)

/** Adds the list; false where it takes more bytes than that. */
function putList(writer: ByteWriter, ordinals: ArrayLike<number>, mostBytes: number): boolean {
  const end = writer.length + mostBytes
  let before = 0
  for (let i = 0; i < ordinals.length; i++) {
    const ordinal = ordinals[i]!
    putVarint(writer, ordinal - before)
    if (writer.length > end) return false
    before = ordinal
  }
  return true
}

/** The values of one type, which come in their order, as chunks. */
export const encodeChunks = (entries: Iterable<Entry>): Generator<Chunk, void> =>
  encode(entries) as Generator<Chunk, void>

/** As {@link encodeChunks}; where the next entry is to be waited for both give `undefined`. */
export function* encode(entries: Iterable<Entry | undefined>): Generator<Chunk | undefined, void> {
  const lists = byteWriter()
  let lengths: number[] = []
  let lines: string[] = []
  let first: Scalar = ANY_VALUE
  let bytes = 0

  /** A chunk of what came before, whose lists end there. */
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
    if (!putList(lists, ordinals, MOST_SHARED)) {
      lists.length = start
      if (lines.length > 0) yield cut(start)
      yield* encodePieces(value, line, ordinals)
      continue
    }
    const length = lists.length - start
    // With the line's end, and the length itself.
    const added = byteLength(line) + length + 3
    if (lines.length > 0 && bytes + added > MOST_BYTES) yield cut(start)
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
  const room = MOST_BYTES - PIECE_HEAD - byteLength(line)
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

/** Adds as many as the bytes hold; gives the index of the next. */
function putPiece(
  writer: ByteWriter,
  ordinals: ArrayLike<number>,
  from: number,
  mostBytes: number,
): number {
  const end = writer.length + mostBytes
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

/** The index of the first that is not below. */
function countBelow(ordinals: ArrayLike<number>, bound: number, from: number): number {
  let [low, high] = [from, ordinals.length]
  while (low < high) {
    const middle = (low + high) >>> 1
    if (ordinals[middle]! < bound) low = middle + 1
    else high = middle
  }
  return low
}
