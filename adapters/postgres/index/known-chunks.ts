import type { ChunkValues } from '../../../src/store-kit/index/segment-source.js'

/** A place in the order of chunks: the bytes of a key in hexadecimal, and an ordinal. */
export interface Place {
  readonly first: string
  readonly ordinal: number
}

/** Places before and after all chunks: no key of a text has bytes ff, and no key of a number nine bytes. */
export const START: Place = { first: '', ordinal: -2 }
export const END: Place = { first: 'ff'.repeat(9), ordinal: 0 }

/** Places before and after all chunks whose first key is this one. */
export const before = (first: string): Place => ({ first, ordinal: -1 })
export const after = (first: string): Place => ({ first, ordinal: 2 ** 31 - 1 })

export interface PlacedChunk extends Place {
  readonly chunk: ChunkValues
}

/** The chunks of some lists that have been read. They never change. */
export interface KnownChunks {
  /** Approximate memory. */
  readonly bytes: number
  /** The numbers of the first and the last chunk, if they have been read. */
  ends?: readonly [first: number, last: number] | 'none'
  /** The last chunk not after the place; `unknown` if it has not been read. */
  down(place: Place): ChunkValues | undefined | 'unknown'
  /** The first chunk after the place. */
  up(place: Place): ChunkValues | undefined | 'unknown'
  /** All chunks whose first key is this one. */
  pieces(first: string): readonly ChunkValues[] | 'unknown'
  /** Adds all chunks from `from` to `until`, inclusive, ascending. There may be no chunk at `from` itself. */
  learn(from: Place, chunks: readonly PlacedChunk[], until: Place): void
}

/** There is no chunk after an entry up to its `until`, except the next entry if it is at `until`. */
interface Entry extends Place {
  /** `undefined` if it is not known what is at the place or before. */
  readonly chunk: ChunkValues | undefined
  until: Place
}

const compare = (a: Place, b: Place): number => {
  if (a.first !== b.first) return a.first < b.first ? -1 : 1
  return a.ordinal - b.ordinal
}

const keyOf = ({ first, ordinal }: Place): string => `${first} ${ordinal}`

const later = (a: Place, b: Place): Place => (compare(a, b) < 0 ? b : a)

const ENTRY_BYTES = 300

const bytesOf = ({ first, chunk }: PlacedChunk): number =>
  ENTRY_BYTES + first.length + chunk[2].length + chunk[3].length

/** True if all chunks after the entry, up to the place, are known. */
const reaches = ({ until }: Entry, place: Place): boolean => compare(until, place) >= 0

/** Index of the last entry not after the place. */
function indexAt(entries: readonly Entry[], place: Place): number {
  let [low, high] = [0, entries.length]
  while (high - low > 1) {
    const middle = (low + high) >>> 1
    if (compare(entries[middle]!, place) <= 0) low = middle
    else high = middle
  }
  return low
}

/** The next entry, if it is known that no other chunk is between the two. */
function nextOf(entries: readonly Entry[], index: number): Entry | undefined {
  const next = entries[index + 1]
  return next && reaches(entries[index]!, next) ? next : undefined
}

export function createKnownChunks(): KnownChunks {
  const entries: Entry[] = [{ ...START, chunk: undefined, until: START }]
  let bytes = ENTRY_BYTES

  const newEntry = (chunk: PlacedChunk): Entry => {
    bytes += bytesOf(chunk)
    return { ...chunk, until: chunk }
  }

  const addAt = (chunk: PlacedChunk): void => {
    const index = indexAt(entries, chunk)
    if (compare(entries[index]!, chunk) !== 0) entries.splice(index + 1, 0, newEntry(chunk))
  }

  /** Index of an entry whose `until` reaches the place; adds one if there is none. */
  const coverFrom = (place: Place): number => {
    const index = indexAt(entries, place)
    if (reaches(entries[index]!, place)) return index
    entries.splice(index + 1, 0, { ...place, chunk: undefined, until: place })
    return index + 1
  }

  return {
    get bytes() {
      return bytes
    },
    down(place) {
      const index = indexAt(entries, place)
      const entry = entries[index]!
      const isKnown = index === 0 || entry.chunk !== undefined
      return isKnown && reaches(entry, place) ? entry.chunk : 'unknown'
    },
    up(place) {
      const index = indexAt(entries, place)
      const entry = entries[index]!
      if (!reaches(entry, place)) return 'unknown'
      return nextOf(entries, index)?.chunk ?? (reaches(entry, END) ? undefined : 'unknown')
    },
    pieces(first) {
      const end = after(first)
      let index = indexAt(entries, before(first))
      if (!reaches(entries[index]!, before(first))) return 'unknown'
      const found: ChunkValues[] = []
      for (;;) {
        const next = nextOf(entries, index)
        if (next?.first === first) found.push(next.chunk!)
        else return next || reaches(entries[index]!, end) ? found : 'unknown'
        index += 1
      }
    },
    learn(from, chunks, until) {
      const isFirstAtFrom = chunks[0] !== undefined && compare(chunks[0], from) === 0
      if (isFirstAtFrom) addAt(chunks[0]!)
      const head = coverFrom(from)
      let end = head + 1
      while (end < entries.length && compare(entries[end]!, until) <= 0) end += 1
      const covered = entries.slice(head, end)
      const known = covered.reduce((last, entry) => later(last, entry.until), until)
      const byPlace = new Map(covered.map((entry) => [keyOf(entry), entry]))
      const rest = isFirstAtFrom ? chunks.slice(1) : chunks
      const placed = rest.map((chunk) => byPlace.get(keyOf(chunk)) ?? newEntry(chunk))
      entries.splice(head + 1, end - head - 1, ...placed)
      const last = head + placed.length
      for (let i = head; i < last; i++) entries[i]!.until = entries[i + 1]!
      entries[last]!.until = later(entries[last]!.until, known)
    },
  }
}
