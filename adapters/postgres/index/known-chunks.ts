import type { ChunkValues } from '../../../src/store-kit/index/segment-source.js'

/** A place in the order of some lists' chunks: the bytes of a key as hexadecimal text, and an ordinal. */
export interface Place {
  readonly first: string
  readonly ordinal: number
}

/** Before all chunks, and behind them: no text has such bytes, nor has a number as many of them. */
export const START: Place = { first: '', ordinal: -2 }
export const END: Place = { first: 'ff'.repeat(9), ordinal: 0 }

/** Before all chunks that begin with the key, and behind them. */
export const before = (first: string): Place => ({ first, ordinal: -1 })
export const behind = (first: string): Place => ({ first, ordinal: 2 ** 31 - 1 })

export interface PlacedChunk extends Place {
  readonly chunk: ChunkValues
}

/** What of the chunks of some lists is known. What is once known stays as it is. */
export interface KnownChunks {
  /** How much memory they take, about. */
  readonly bytes: number
  /** The numbers of the first and of the last chunk, where they have been asked for. */
  ends?: readonly [first: number, last: number] | 'none'
  /** The last chunk at the place, or before; `unknown` where that has not been read. */
  down(place: Place): ChunkValues | undefined | 'unknown'
  /** The first chunk behind the place. */
  up(place: Place): ChunkValues | undefined | 'unknown'
  /** All that begin with the key. */
  pieces(first: string): readonly ChunkValues[] | 'unknown'
  /** That these, which rise, are all chunks behind `from`, up to `until`; the first one may be at `from`. */
  learn(from: Place, chunks: readonly PlacedChunk[], until: Place): void
}

/** Between an entry and its `until` there is no chunk, nor there, unless that is the next entry. */
interface Entry extends Place {
  /** `undefined` where nothing is known of what is there, or before. */
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

export function createKnownChunks(): KnownChunks {
  const entries: Entry[] = [{ ...START, chunk: undefined, until: START }]
  let bytes = ENTRY_BYTES

  /** The index of the last entry at the place, or before. */
  const indexAt = (place: Place): number => {
    let [low, high] = [0, entries.length]
    while (high - low > 1) {
      const middle = (low + high) >>> 1
      if (compare(entries[middle]!, place) <= 0) low = middle
      else high = middle
    }
    return low
  }
  const reaches = ({ until }: Entry, place: Place): boolean => compare(until, place) >= 0
  const nextOf = (index: number): Entry | undefined => {
    const next = entries[index + 1]
    return next && reaches(entries[index]!, next) ? next : undefined
  }

  const newEntry = (chunk: PlacedChunk): Entry => {
    bytes += bytesOf(chunk)
    return { ...chunk, until: chunk }
  }
  const addAt = (chunk: PlacedChunk): void => {
    const index = indexAt(chunk)
    if (compare(entries[index]!, chunk) !== 0) entries.splice(index + 1, 0, newEntry(chunk))
  }
  /** The index of an entry from which on it is known what there is until the place. */
  const coverFrom = (place: Place): number => {
    const index = indexAt(place)
    if (reaches(entries[index]!, place)) return index
    entries.splice(index + 1, 0, { ...place, chunk: undefined, until: place })
    return index + 1
  }

  return {
    get bytes() {
      return bytes
    },
    down(place) {
      const index = indexAt(place)
      const entry = entries[index]!
      const isKnown = index === 0 || entry.chunk !== undefined
      return isKnown && reaches(entry, place) ? entry.chunk : 'unknown'
    },
    up(place) {
      const index = indexAt(place)
      const entry = entries[index]!
      if (!reaches(entry, place)) return 'unknown'
      return nextOf(index)?.chunk ?? (reaches(entry, END) ? undefined : 'unknown')
    },
    pieces(first) {
      const end = behind(first)
      let index = indexAt(before(first))
      if (!reaches(entries[index]!, before(first))) return 'unknown'
      const found: ChunkValues[] = []
      for (;;) {
        const next = nextOf(index)
        if (next?.first === first) found.push(next.chunk!)
        else return next || reaches(entries[index]!, end) ? found : 'unknown'
        index += 1
      }
    },
    learn(from, chunks, until) {
      const isFirstThere = chunks[0] !== undefined && compare(chunks[0], from) === 0
      if (isFirstThere) addAt(chunks[0]!)
      const head = coverFrom(from)
      let end = head + 1
      while (end < entries.length && compare(entries[end]!, until) <= 0) end += 1
      const met = entries.slice(head, end)
      const known = met.reduce((last, entry) => later(last, entry.until), until)
      const byPlace = new Map(met.map((entry) => [keyOf(entry), entry]))
      const rest = isFirstThere ? chunks.slice(1) : chunks
      const placed = rest.map((chunk) => byPlace.get(keyOf(chunk)) ?? newEntry(chunk))
      entries.splice(head + 1, end - head - 1, ...placed)
      const last = head + placed.length
      for (let i = head; i < last; i++) entries[i]!.until = entries[i + 1]!
      entries[last]!.until = later(entries[last]!.until, known)
    },
  }
}
