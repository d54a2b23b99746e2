import { isPiece, listBounds, listSize, type Piece, readList, readPiece } from './read-chunks.js'
import {
  addToSet,
  countInSet,
  type FetchedPostings,
  listPostings,
  NONE,
  type Postings,
  type Step,
} from './postings.js'
import type { ChunkReader, ChunkValues, FoundChunk, Key } from './segment-source.js'
import { WAIT, type Wait } from './work.js'

/** The lists of a chunk's values, by index in the chunk. */
export interface ChunkPostings {
  sizeOf(index: number): number
  postings(index: number): FetchedPostings
}

/**
 * A list in pieces is read piece by piece, beginning with this chunk's. `isLast` says that no piece follows it.
 */
export function chunkPostings<Lists>(
  reader: ChunkReader<Lists>,
  lists: Lists,
  [key, , , data]: ChunkValues,
  isLast: boolean,
): ChunkPostings {
  if (isPiece(data)) {
    const piece = readPiece(data)
    return {
      sizeOf: () => piece.size,
      postings: () => piecedPostings(reader, lists, key, { piece, isLast }),
    }
  }
  return sharedPostings(data)
}

/** The lists of a chunk that has several. */
export function sharedPostings(data: Uint8Array): ChunkPostings {
  const bounds = listBounds(data)
  return {
    sizeOf: (index) => listSize(data, bounds[index]!, bounds[index + 1]!),
    postings: (index) => listPostings(readList(data, bounds[index]!, bounds[index + 1]!)),
  }
}

/** A list, of all its pieces in order. */
export function joinedPostings(pieces: readonly Piece[]): Postings {
  // Most calls seek in the same piece as the call before, or in the next one.
  let near = pieces[0]!
  const reaches = ({ first, last }: Piece, at: number): boolean => first <= at && at <= last
  const pieceAt = (at: number, step: Step): Piece | undefined => {
    if (reaches(near, at)) return near
    return step > 0
      ? pieces.find(({ last }) => last >= at)
      : pieces.findLast(({ first }) => first <= at)
  }
  return {
    size: near.size,
    seek(at, step) {
      const piece = pieceAt(at, step)
      if (!piece) return NONE
      near = piece
      return piece.postings.seek(at, step)
    },
    addTo(set) {
      for (const { postings } of pieces) addToSet(postings, set)
    },
    countIn(set) {
      let count = 0
      for (const { postings } of pieces) count += countInSet(postings, set)!
      return count
    },
  }
}

/** Holds one piece at a time, which is enough for going in one direction. */
function piecedPostings<Lists>(
  reader: ChunkReader<Lists>,
  lists: Lists,
  key: Key,
  first: { readonly piece: Piece; readonly isLast: boolean },
): FetchedPostings {
  let { piece } = first
  // No other piece has ordinals from the piece's first up to this one.
  let to = first.isLast ? Infinity : piece.last

  const moveTo = (chunk: ChunkValues): void => {
    piece = readPiece(chunk[3])
    to = piece.last
  }

  const down = (at: number): number | Wait => {
    if (at < piece.first || at > to) {
      const found = reader.pieceAt(lists, key, at)
      if (!found) return found === WAIT ? WAIT : NONE
      moveTo(found)
      to = Math.max(to, at)
    }
    return piece.postings.seek(at, -1)
  }

  const up = (at: number): number | Wait => {
    if (at >= piece.first && at <= to) {
      const found = piece.postings.seek(at, 1)
      if (found !== NONE || to === Infinity) return found
    }
    const around = reader.pieceAt(lists, key, at)
    if (around === WAIT) return WAIT
    if (around) moveTo(around)
    if (!around || at > to) {
      const next = reader.pieceAfter(lists, key, at)
      if (!next) return next === WAIT ? WAIT : NONE
      moveTo(next)
    }
    return piece.postings.seek(at, 1)
  }

  const visitAll = (visit: (piece: Postings) => void): Wait | void => {
    const start = reader.pieceAt(lists, key, 0)
    let next: FoundChunk = start === undefined ? reader.pieceAfter(lists, key, 0) : start
    while (next) {
      const one = readPiece(next[3])
      visit(one.postings)
      next = reader.pieceAfter(lists, key, one.last)
    }
    return next
  }

  return {
    size: piece.size,
    addTo: (set) => visitAll((one) => void addToSet(one, set)),
    countIn(set) {
      let count = 0
      const end = visitAll((one) => void (count += countInSet(one, set)!))
      return end === WAIT ? WAIT : count
    },
    seek: (at: number, step: Step) => (step > 0 ? up(at) : down(at)),
  }
}
