import type { JsonObject } from '../../../src/event/event.js'
import { isBlank, isObject, linesOf, MAX_LINE_BYTES, parseLine } from './json-lines.js'
import { createSplitter, listStart, newlinesIn, type Piece } from './json-split.js'

/** One record of a file. */
export interface JsonRecord extends Piece {
  /** The record, or the reason why it is malformed. */
  readonly value: JsonObject | string
}

const isList = (name: string): boolean =>
  /^(?:[Rr]ecords|[Ee]vents|entries|value|items)$/.test(name)
/** True for names that an object may have beside its list of records. */
const isBeside = (name: string): boolean =>
  /^(?:@odata\.\w+|nextLink|[Nn]extToken|nextPageToken|count|kind|apiVersion|metadata|etag)$/.test(
    name,
  )

const isRecords = (value: unknown): boolean => Array.isArray(value) && value.every(isObject)

/** Kinds of lists in APIs, such as `EventList` of Kubernetes and `admin#reports#activities` of Google. */
const LIST_KIND = /List$|#/

/**
 * True for a list of records, and for an object that only contains one, such as `{"Records":[…]}`. A list in `items`
 * needs a `kind` of a list, because an order has items, too.
 */
function holdsRecords(value: unknown): boolean {
  if (!isObject(value)) return isRecords(value)
  const names = Object.keys(value)
  const [name, another] = names.filter(isList)
  if (name === undefined || another !== undefined || !isRecords(value[name])) return false
  const { kind } = value
  if (name === 'items' && !(typeof kind === 'string' && LIST_KIND.test(kind))) return false
  return names.every((one) => one === name || isBeside(one))
}

const openList = (bytes: Buffer): number => listStart(bytes, isList, isBeside)

/** The value of JSON text; `undefined` for other text. */
function parsed(bytes: Buffer): unknown {
  try {
    return JSON.parse(bytes.toString())
  } catch {
    return undefined
  }
}

// A list of objects that hold records has two holders.
const MAX_HOLDERS = 2

/** The records of one value. */
function* recordsIn(piece: Piece, holders = 0): Generator<JsonRecord, void, void> {
  const { bytes, line } = piece
  const value = parseLine(bytes)
  const whole = typeof value === 'string' ? parsed(bytes) : value
  const isHolder = holders < MAX_HOLDERS && holdsRecords(whole)
  const at = isHolder ? (Array.isArray(whole) ? bytes.indexOf('[') + 1 : openList(bytes)) : -1
  if (at === -1) return yield { ...piece, value }
  const first = line + newlinesIn(bytes.subarray(0, at))
  const splitter = createSplitter(openList, Array.isArray(whole) ? 1 : 2)
  for (const part of splitter.push(bytes.subarray(at)))
    yield* recordsIn({ bytes: part.bytes, line: first + part.line - 1 }, holders + 1)
}

/** True if the values of a text with this beginning do not end with the lines. */
function isDocument(first: Buffer): boolean {
  const text = first.toString('latin1').trim()
  if (text.startsWith('[')) return true
  if (!text.startsWith('{') || parsed(first) !== undefined) return false
  if (/[{[,:]$/.test(text) || (first.length > MAX_LINE_BYTES && openList(first) > 0)) return true
  const [piece] = createSplitter(openList).push(first)
  return piece !== undefined && parsed(piece.bytes) !== undefined
}

async function* piecesOf(chunks: AsyncIterable<Buffer>): AsyncGenerator<Piece[], void, void> {
  const splitter = createSplitter(openList)
  for await (const chunk of chunks) yield splitter.push(chunk)
  yield splitter.end()
}

async function* numberedLines(chunks: AsyncIterable<Buffer>): AsyncGenerator<Piece[], void, void> {
  let line = 0
  for await (const lines of linesOf(chunks))
    yield lines.map((bytes) => ({ bytes, line: ++line })).filter(({ bytes }) => !isBlank(bytes))
}

// Blank lines are searched again with each chunk.
const MAX_BLANK_BYTES = 256 * 1024

/** Reads up to the end of the first line that is not blank. Returns this line, and all bytes read. */
async function readFirst(
  chunks: AsyncIterator<Buffer>,
): Promise<{ readonly first: Buffer; readonly read: Buffer }> {
  const parts: Buffer[] = []
  let length = 0
  for (;;) {
    const { value, done } = await chunks.next()
    if (!done) {
      parts.push(value)
      length += value.length
      if (!value.includes('\n') && length <= MAX_LINE_BYTES) continue
    }
    const read = withoutMark(Buffer.concat(parts))
    const start = read.findIndex((byte) => byte > 0x20)
    if (start === -1 && !done && length <= MAX_BLANK_BYTES) continue
    const end = read.indexOf('\n', Math.max(start, 0))
    const isLong = end === -1 && length > MAX_LINE_BYTES
    if (end !== -1 || isLong || done)
      return { first: read.subarray(0, end === -1 ? length : end), read }
  }
}

const BYTE_ORDER_MARK = Buffer.from('\uFEFF')

/** Some tools write a byte order mark at the start of a file. */
const withoutMark = (bytes: Buffer): Buffer =>
  bytes.subarray(0, 3).equals(BYTE_ORDER_MARK) ? bytes.subarray(3) : bytes

/**
 * Yields the records of each chunk of a file of JSON: one on each line, or lists and objects that hold records, such as `[…]` and
 * `{"Records":[…]}`, over any number of lines. Holds at most one line, or one record that spans lines.
 */
export async function* recordsOf(
  stream: AsyncIterable<Buffer>,
): AsyncGenerator<Iterable<JsonRecord>, void, void> {
  const iterator = stream[Symbol.asyncIterator]()
  const { first, read } = await readFirst(iterator)
  async function* chunks(): AsyncGenerator<Buffer, void, void> {
    try {
      yield read
      for (let next; !(next = await iterator.next()).done;) yield next.value
    } finally {
      await iterator.return?.()
    }
  }
  const split = isDocument(first) ? piecesOf : numberedLines
  for await (const pieces of split(chunks())) yield recordsOfAll(pieces)
}

function* recordsOfAll(pieces: readonly Piece[]): Generator<JsonRecord, void, void> {
  for (const piece of pieces) yield* recordsIn(piece)
}
