import { isPiece, listBounds, listSize, type Piece, readList, readPiece } from './read-chunks.js'
import { addToSet, countInSet, listPostings, NONE, type Postings, type Step } from './postings.js'
import type { ChunkReader, ChunkValues, Key } from './segment-source.js'

/** The lists of a chunk's values, by index in the chunk. */
export interface ChunkPostings {
  sizeOf(index: number): number
  postings(index: number): Postings
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
      for (const { postings } of pieces) count += countInSet(postings, set)
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
): Postings {
  let { piece } = first
  // No other piece has ordinals from the piece's first up to this one.
  let to = first.isLast ? Infinity : piece.last

  // A read may throw, so the state changes only after the last read.
  const read = (chunk: ChunkValues | undefined): Piece | undefined => chunk && readPiece(chunk[3])

  const down = (at: number): number => {
    if (at < piece.first || at > to) {
      const found = read(reader.pieceAt(lists, key, at))
      if (!found) return NONE
      piece = found
      to = Math.max(piece.last, at)
    }
    return piece.postings.seek(at, -1)
  }

  const up = (at: number): number => {
    if (at >= piece.first && at <= to) {
      const found = piece.postings.seek(at, 1)
      if (found !== NONE || to === Infinity) return found
    }
    const around = read(reader.pieceAt(lists, key, at))
    const found = around && at <= around.last ? around : read(reader.pieceAfter(lists, key, at))
    if (!found) return NONE
    piece = found
    to = piece.last
    return piece.postings.seek(at, 1)
  }

  const visitAll = (visit: (piece: Postings) => void): void => {
    let next = read(reader.pieceAt(lists, key, 0) ?? reader.pieceAfter(lists, key, 0))
    for (; next; next = read(reader.pieceAfter(lists, key, next.last))) visit(next.postings)
  }

  return {
    size: piece.size,
    addTo: (set) => visitAll((one) => addToSet(one, set)),
    countIn(set) {
      let count = 0
      visitAll((one) => (count += countInSet(one, set)))
      return count
    },
    seek: (at: number, step: Step) => (step > 0 ? up(at) : down(at)),
  }
}
