import type { ChunkValues, Key } from '../../../src/store-kit/index/segment-source.js'
import { isPiece } from '../../../src/store-kit/index/read-chunks.js'
import type { Run } from './answers.js'
import { END, type Place, START } from './chunk-requests.js'
import { keyBytes } from './segment-keys.js'

/** A chunk, and where the next one begins at the earliest. */
interface Floor {
  readonly first: string
  readonly chunk: ChunkValues
  until: string
}

/** The last chunk of some lists whose first key is not above a key, as far as the runs that were read show it. */
export interface KnownFloors {
  /** Approximate memory. */
  readonly bytes: number
  /** `unknown` if it has not been read, `undefined` if there is none. Keys are the bytes in hexadecimal. */
  find(key: string): ChunkValues | undefined | 'unknown'
  /** Adds chunks that were read from a place down or up. */
  learn(by: 'down' | 'up', place: Place, run: Run): void
}

const FLOOR_BYTES = 300

export const hexOf = (key: Key): string => keyBytes(key).toString('hex')

/** The end of the keys that are not after the place. */
const endOf = ({ first, ordinal }: Place): string => (ordinal < 0 ? first : `${first}0`)

export function createKnownFloors(): KnownFloors {
  /** By `first`, ascending. */
  const floors: Floor[] = []
  /** No chunk is before this key. */
  let start = ''
  let bytes = 0

  const indexOf = (key: string): number => {
    let [low, high] = [0, floors.length]
    while (low < high) {
      const middle = (low + high) >>> 1
      if (floors[middle]!.first <= key) low = middle + 1
      else high = middle
    }
    return low - 1
  }
  const add = (first: string, chunk: ChunkValues, until: string): void => {
    const at = indexOf(first)
    const known = floors[at]
    if (known?.first === first) {
      if (known.until < until) known.until = until
      return
    }
    floors.splice(at + 1, 0, { first, chunk, until })
    bytes += FLOOR_BYTES + chunk[2].length + chunk[3].length
  }

  return {
    get bytes() {
      return bytes
    },
    find(key) {
      if (key < start) return undefined
      const floor = floors[indexOf(key)]
      return floor && key < floor.until ? floor.chunk : 'unknown'
    },
    learn(by, place, { chunks, isEnd }) {
      let until = by === 'down' ? endOf(place) : END.first
      for (const chunk of by === 'down' ? chunks : chunks.toReversed()) {
        const first = hexOf(chunk[0])
        // Of a list in pieces, the last one is the floor. Other pieces may follow the last chunk of a run.
        const isKnown = by === 'down' || isEnd || until !== END.first
        if (first !== until && isKnown) add(first, chunk, until)
        else if (!isPiece(chunk[3])) add(first, chunk, first)
        until = first
      }
      if (by === 'down' ? isEnd : place === START && (isEnd || chunks.length > 0))
        start = start < until ? until : start
      const before = by === 'up' && place !== START ? floors[indexOf(place.first)] : undefined
      if (before?.first === place.first && before.until < until) before.until = until
    },
  }
}
