import type { Scalar } from '../../filter/attributes.js'
import { Layout } from './chunks.js'
import { bitPostings, listPostings, type Postings } from './postings.js'
import { type ByteReader, takeVarint } from './varint.js'

/** Parses the lines of a chunk. */
export const readValues = (lines: string): readonly Scalar[] =>
  JSON.parse(`[${lines.replaceAll('\n', ',')}]`) as Scalar[]

/** Index of the line; -1 if it is not among the lines. */
export function indexOfLine(lines: string, line: string): number {
  for (let at = lines.indexOf(line); at !== -1; at = lines.indexOf(line, at + 1)) {
    const end = at + line.length
    const isWhole =
      (at === 0 || lines[at - 1] === '\n') && (end === lines.length || lines[end] === '\n')
    if (isWhole) return countLines(lines, at)
  }
  return -1
}

function countLines(lines: string, end: number): number {
  let count = 0
  for (let at = lines.indexOf('\n'); at !== -1 && at < end; at = lines.indexOf('\n', at + 1))
    count += 1
  return count
}

export const isPiece = (postings: Uint8Array): boolean => postings[0] !== Layout.shared

/** Offsets of the lists of a chunk's values; each list ends where the next begins. */
export function listBounds(data: Uint8Array): Uint32Array {
  const reader: ByteReader = { data, at: 1 }
  const count = takeVarint(reader)
  const bounds = new Uint32Array(count + 1)
  for (let i = 1; i <= count; i++) bounds[i] = bounds[i - 1]! + takeVarint(reader)
  for (let i = 0; i <= count; i++) bounds[i]! += reader.at
  return bounds
}

/** Number of ordinals of a list: each ends with a byte below 128. */
export function listSize(data: Uint8Array, from: number, to: number): number {
  let size = 0
  for (let i = from; i < to; i++) if (data[i]! < 128) size += 1
  return size
}

export function readList(data: Uint8Array, from: number, to: number): Uint32Array {
  const ordinals = new Uint32Array(listSize(data, from, to))
  const reader: ByteReader = { data, at: from }
  let before = 0
  for (let i = 0; i < ordinals.length; i++) ordinals[i] = before += takeVarint(reader)
  return ordinals
}

/** A piece of a value's list. */
export interface Piece {
  readonly first: number
  readonly last: number
  /** Size of the whole list. */
  readonly size: number
  readonly postings: Postings
}

export function readPiece(data: Uint8Array): Piece {
  const reader: ByteReader = { data, at: 1 }
  const size = takeVarint(reader)
  if (data[0] === Layout.list) return new ListPiece(data, reader.at, size)
  const base = takeVarint(reader)
  const words = readWords(data, reader.at)
  const postings = bitPostings(words, size, base)
  const end = base + words.length * 32
  return { first: postings.seek(base, 1), last: postings.seek(end, -1), size, postings }
}

/** Decodes the ordinals lazily, as often only the size is needed. */
class ListPiece implements Piece {
  readonly first: number
  readonly size: number
  readonly #data: Uint8Array
  readonly #from: number
  #ordinals: Uint32Array | undefined
  #postings: Postings | undefined

  constructor(data: Uint8Array, from: number, size: number) {
    this.first = takeVarint({ data, at: from })
    this.size = size
    this.#data = data
    this.#from = from
  }

  get #all(): Uint32Array {
    return (this.#ordinals ??= readList(this.#data, this.#from, this.#data.length))
  }

  get last(): number {
    return this.#all.at(-1)!
  }

  get postings(): Postings {
    return (this.#postings ??= listPostings(this.#all))
  }
}

const IS_LITTLE_ENDIAN = new Uint8Array(Uint32Array.of(1).buffer)[0] === 1

/** The bits are stored from the lowest of the first byte on, as words of little-endian machines have them. */
function readWords(data: Uint8Array, from: number): Uint32Array {
  const words = new Uint32Array((data.length - from + 3) >>> 2)
  const bytes = Buffer.from(words.buffer)
  bytes.set(data.subarray(from))
  if (!IS_LITTLE_ENDIAN) bytes.swap32()
  return words
}
