import type { Scalar } from '../../filter/attributes.js'
import { compareText } from '../../filter/values.js'
import { ANY_VALUE, type Chunk, encodeChunksWhenReady, type Entry } from '../index/chunks.js'
import { NONE, type Postings } from '../index/postings.js'
import { isPiece, listBounds, readPiece, readValues } from '../index/read-chunks.js'
import { takeVarint } from '../index/varint.js'

/** The values of one attribute and type in one segment. */
export interface MergeSource {
  /** In the order of their values; read lazily. */
  readonly chunks: Iterator<Pick<Chunk, 'values' | 'postings'>>
  /** False if the next chunk has to be fetched first. @default always true */
  readonly isReady?: () => boolean
  /** The segment's ordinals mapped to ordinals of the merged segment; {@link REMOVED_ORDINAL} for events left out. */
  readonly ordinals: Uint32Array
}

export const REMOVED_ORDINAL = 0xffffffff

/** The list that is being merged. */
interface MergedList {
  ordinals: Uint32Array
  length: number
  /** True while each ordinal is above the one before. */
  isRising: boolean
}

/** A position among the values of a source. */
interface Cursor {
  /** Breaks ties: of sources with the same value the lower rank comes first. */
  readonly rank: number
  value: Scalar
  line: string
  /** False if the next value has to be fetched first. */
  isReady(): boolean
  /** Moves on; false if there is no further value. */
  next(): boolean
  /** Adds the ordinals of the value. */
  addTo(list: MergedList): void
}

/**
 * Merges the values of one attribute and type into the chunks of the merged segment. Holds one chunk of each
 * source and the list of one value. The sources are in the order of time, so lists mostly need no sorting.
 * Yields `undefined` while a source is not ready.
 */
export const mergeChunks = (
  sources: readonly MergeSource[],
  maxBytes?: number,
): Generator<Chunk | undefined, void> => encodeChunksWhenReady(mergeEntries(sources), maxBytes)

function* mergeEntries(sources: readonly MergeSource[]): Generator<Entry | undefined, void> {
  const cursors = sources.map(createCursor)
  while (!cursors.every((cursor) => cursor.isReady())) yield
  const heap = cursors.filter((cursor) => cursor.next())
  for (let i = heap.length >> 1; i >= 0; i--) sink(heap, i)
  const list: MergedList = { ordinals: new Uint32Array(1024), length: 0, isRising: true }
  while (heap.length > 0) {
    const { value, line } = heap[0]!
    list.length = 0
    list.isRising = true
    do {
      const cursor = heap[0]!
      cursor.addTo(list)
      while (!cursor.isReady()) yield
      if (!cursor.next()) {
        const last = heap.pop()!
        if (heap.length > 0) heap[0] = last
      }
      sink(heap, 0)
    } while (heap[0]?.value === value)
    if (list.length > 0) yield { value, ordinals: ordinalsIn(list), line }
  }
}

function compare(a: Scalar, b: Scalar): number {
  if (a === b) return 0
  if (typeof a === 'string') return compareText(a, b as string)
  return a < b ? -1 : 1
}

const isBefore = (a: Cursor, b: Cursor): boolean =>
  (compare(a.value, b.value) || a.rank - b.rank) < 0

/**
 * Moves the cursor down the heap to its place: first to a leaf, then up, which is mostly not far. That takes half
 * of the comparisons: https://en.wikipedia.org/wiki/Heapsort#Bottom-up_heapsort
 */
function sink(heap: Cursor[], from: number): void {
  const cursor = heap[from]
  if (!cursor) return
  let at = from
  for (let below = 2 * at + 1; below < heap.length; below = 2 * at + 1) {
    if (below + 1 < heap.length && isBefore(heap[below + 1]!, heap[below]!)) below += 1
    heap[at] = heap[below]!
    at = below
  }
  while (at > from) {
    const above = (at - 1) >> 1
    if (!isBefore(cursor, heap[above]!)) break
    heap[at] = heap[above]!
    at = above
  }
  heap[at] = cursor
}

function ordinalsIn({ ordinals, length, isRising }: MergedList): Uint32Array {
  const all = ordinals.subarray(0, length)
  if (isRising) return all
  all.sort()
  // Sources may share an event.
  return all.filter((ordinal, i) => i === 0 || ordinal !== all[i - 1])
}

function addOrdinal(list: MergedList, ordinal: number): void {
  if (ordinal === REMOVED_ORDINAL) return
  if (list.length === list.ordinals.length) {
    const grown = new Uint32Array(2 * list.length)
    grown.set(list.ordinals)
    list.ordinals = grown
  }
  if (list.length > 0 && ordinal <= list.ordinals[list.length - 1]!) list.isRising = false
  list.ordinals[list.length++] = ordinal
}

function createCursor({ chunks, isReady, ordinals }: MergeSource, rank: number): Cursor {
  const reader: { data: Uint8Array; at: number } = { data: new Uint8Array(), at: 0 }
  let values: readonly Scalar[] = []
  let lines: readonly string[] = []
  // Empty if the chunk is a piece.
  let bounds: Uint32Array = new Uint32Array()
  let index = -1

  /** False if there is no further chunk. */
  const nextChunk = (): boolean => {
    const next = chunks.next()
    if (next.done) return false
    reader.data = next.value.postings
    values = readValues(next.value.values)
    lines = next.value.values.split('\n')
    bounds = isPiece(reader.data) ? new Uint32Array() : listBounds(reader.data)
    index = 0
    return true
  }
  const addPostings = (list: MergedList, postings: Postings): void => {
    for (let at = postings.seek(0, 1); at !== NONE; at = postings.seek(at + 1, 1))
      addOrdinal(list, ordinals[at]!)
  }

  return {
    rank,
    value: ANY_VALUE,
    line: '',
    isReady: () => index + 1 < values.length || (isReady?.() ?? true),
    next() {
      index += 1
      if (index >= values.length && !nextChunk()) return false
      this.value = values[index]!
      this.line = lines[index]!
      return true
    },
    addTo(list) {
      const end = bounds[index + 1]
      if (end === undefined) return addPostings(list, readPiece(reader.data).postings)
      reader.at = bounds[index]!
      for (let ordinal = 0; reader.at < end;)
        addOrdinal(list, ordinals[(ordinal += takeVarint(reader))]!)
    },
  }
}
