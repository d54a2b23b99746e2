import { bitCount, type BitSet } from './bit-set.js'
import { WAIT, type Wait } from './work.js'

/** Returned by `seek` if there is no further ordinal. */
export const NONE = -1

/** Direction: ascending or descending. */
export type Step = 1 | -1

/** A sorted set of a part's ordinals, read lazily. A read may return `WAIT`. */
export interface FetchedPostings {
  /** Number of ordinals, or a close upper bound. */
  readonly size: number
  /** The first ordinal from `at` on in the direction; {@link NONE} if there is none. */
  seek(at: number, step: Step): number | Wait
  /** Adds all ordinals to the set. Faster than seeking. */
  addTo?(set: BitSet): Wait | void
  /** How many ordinals the set has. Faster than seeking. */
  countIn?(set: BitSet): number | Wait
}

/** A set of which no read has to wait. */
export interface Postings extends FetchedPostings {
  seek(at: number, step: Step): number
}

/** Calls `addTo`, or seeks each ordinal. */
export function addToSet(postings: FetchedPostings, set: BitSet): Wait | void {
  if (postings.addTo) return postings.addTo(set)
  for (let at = postings.seek(0, 1); at !== NONE; at = postings.seek(at + 1, 1)) {
    if (at === WAIT) return WAIT
    set[at >>> 5]! |= 1 << (at & 31)
  }
}

/** Calls `countIn`, or seeks each ordinal. */
export function countInSet(postings: FetchedPostings, set: BitSet): number | Wait {
  if (postings.countIn) return postings.countIn(set)
  let count = 0
  for (let at = postings.seek(0, 1); at !== NONE; at = postings.seek(at + 1, 1)) {
    if (at === WAIT) return WAIT
    count += (set[at >>> 5]! >>> (at & 31)) & 1
  }
  return count
}

export const EMPTY: Postings = { size: 0, seek: () => NONE }

/** All ordinals from `from` to `to`, exclusive. */
export function rangePostings(from: number, to: number): Postings {
  if (from >= to) return EMPTY
  return {
    size: to - from,
    seek(at, step) {
      const nearest = step > 0 ? Math.max(at, from) : Math.min(at, to - 1)
      return nearest >= from && nearest < to ? nearest : NONE
    },
  }
}

export const singlePosting = (ordinal: number): Postings => ({
  size: 1,
  seek: (at, step) => ((ordinal - at) * step >= 0 ? ordinal : NONE),
})

/** `ordinals` are ascending and distinct. */
export function listPostings(ordinals: ArrayLike<number>): Postings {
  const size = ordinals.length
  if (size === 0) return EMPTY
  // Most calls seek the next ordinal or one near it.
  let near = 0

  /** The first index whose ordinal is not below `at`. */
  const indexOf = (at: number): number => {
    let [low, high] = [0, size]
    if (ordinals[near]! < at) {
      low = near + 1
      for (let reach = 1; near + reach < size; reach *= 2) {
        if (ordinals[near + reach]! >= at) {
          high = near + reach
          break
        }
        low = near + reach + 1
      }
    } else {
      high = near
      for (let reach = 1; near - reach >= 0; reach *= 2) {
        if (ordinals[near - reach]! < at) {
          low = near - reach + 1
          break
        }
        high = near - reach
      }
    }
    while (low < high) {
      const middle = (low + high) >>> 1
      if (ordinals[middle]! < at) low = middle + 1
      else high = middle
    }
    near = Math.min(low, size - 1)
    return low
  }

  return {
    size,
    seek(at, step) {
      if (step > 0) {
        const index = indexOf(at)
        return index < size ? ordinals[index]! : NONE
      }
      const index = indexOf(at + 1) - 1
      return index >= 0 ? ordinals[index]! : NONE
    },
    addTo(set) {
      for (let i = 0; i < size; i++) set[ordinals[i]! >>> 5]! |= 1 << (ordinals[i]! & 31)
    },
    countIn(set) {
      let count = 0
      for (let i = 0; i < size; i++) count += (set[ordinals[i]! >>> 5]! >>> (ordinals[i]! & 31)) & 1
      return count
    },
  }
}

/** A bitmap: bit 0 of the first word stands for the ordinal `base`, a multiple of 32. */
export function bitPostings(words: Uint32Array, size: number, base = 0): Postings {
  const up = (from: number): number => {
    let index = from >> 5
    let word = (words[index] ?? 0) & (-1 << (from & 31))
    while (word === 0) {
      if (++index >= words.length) return NONE
      word = words[index]!
    }
    return (index << 5) + 31 - Math.clz32(word & -word)
  }
  const down = (from: number): number => {
    let index = from >> 5
    let word = (words[index] ?? 0) & (-1 >>> (31 - (from & 31)))
    while (word === 0) {
      if (--index < 0) return NONE
      word = words[index]!
    }
    return (index << 5) + 31 - Math.clz32(word)
  }
  const end = words.length * 32
  return {
    size,
    addTo(set) {
      for (let i = 0, at = base >>> 5; i < words.length; i++, at++) set[at]! |= words[i]!
    },
    countIn(set) {
      let count = 0
      for (let i = 0, at = base >>> 5; i < words.length; i++, at++)
        count += bitCount(words[i]! & set[at]!)
      return count
    },
    seek(at, step) {
      const from = at - base
      if (step > 0 ? from >= end : from < 0) return NONE
      const found = step > 0 ? up(Math.max(from, 0)) : down(Math.min(from, end - 1))
      return found === NONE ? NONE : found + base
    },
  }
}

/** The ordinals that all sets have. Starts from the smallest set. */
export function allOfPostings(sets: readonly FetchedPostings[]): FetchedPostings {
  if (sets.length === 1) return sets[0]!
  const rarestFirst = sets.toSorted((a, b) => a.size - b.size)
  const size = rarestFirst[0]?.size ?? 0
  if (size === 0) return EMPTY
  return {
    size,
    seek(at, step) {
      let candidate = at
      for (let agreed = 0, next = 0; agreed < rarestFirst.length;) {
        const found = rarestFirst[next]!.seek(candidate, step)
        if (found === NONE || found === WAIT) return found
        if (found === candidate && agreed > 0) {
          agreed += 1
          next += 1
        } else if (next === 0) {
          candidate = found
          agreed = 1
          next = 1
        } else {
          candidate = found
          agreed = 0
          next = 0
        }
      }
      return candidate
    },
  }
}

/** The ordinals that any set has. */
export function anyOfPostings(sets: readonly FetchedPostings[]): FetchedPostings {
  const some = sets.filter(({ size }) => size > 0)
  if (some.length === 0) return EMPTY
  if (some.length === 1) return some[0]!
  return {
    size: some.reduce((sum, { size }) => sum + size, 0),
    seek(at, step) {
      let nearest = NONE
      let waits = false
      for (const set of some) {
        const found = set.seek(at, step)
        if (found === at) return at
        if (found === WAIT) waits = true
        else if (found !== NONE && (nearest === NONE || (found - nearest) * step < 0))
          nearest = found
      }
      return waits ? WAIT : nearest
    },
  }
}

/** The ordinals below `end` that the set does not have. */
export function exceptPostings(set: FetchedPostings, end: number): FetchedPostings {
  if (set.size === 0) return rangePostings(0, end)
  return {
    size: end,
    seek(at, step) {
      let candidate = step > 0 ? Math.max(at, 0) : Math.min(at, end - 1)
      while (candidate >= 0 && candidate < end) {
        const found = set.seek(candidate, step)
        if (found !== candidate) return found === WAIT ? WAIT : candidate
        candidate += step
      }
      return NONE
    },
  }
}

/** Collects ordinals in any order, few of them in a list, many in a bitmap. */
export interface PostingsBuilder {
  add(ordinal: number): void
  /** Repeat it if it returns `WAIT`. */
  addAll(set: FetchedPostings): Wait | void
  build(): Postings
}

export function postingsBuilder(end: number): PostingsBuilder {
  const maxInList = Math.max(64, end >> 6)
  let list: number[] = []
  let words: Uint32Array | undefined
  let size = 0

  const set = (words: Uint32Array, ordinal: number): void => {
    const bit = 1 << (ordinal & 31)
    if ((words[ordinal >> 5]! & bit) === 0) size += 1
    words[ordinal >> 5]! |= bit
  }
  const add = (ordinal: number): void => {
    if (words) set(words, ordinal)
    else if (list.push(ordinal) > maxInList) {
      words = new Uint32Array((end + 31) >> 5)
      for (const one of list) set(words, one)
      list = []
    }
  }
  return {
    add,
    addAll(postings): Wait | void {
      for (let at = postings.seek(0, 1); at !== NONE; at = postings.seek(at + 1, 1)) {
        if (at === WAIT) return WAIT
        add(at)
      }
    },
    build() {
      if (words) return bitPostings(words, size)
      const sorted = Uint32Array.from(list).toSorted()
      return listPostings(sorted.filter((ordinal, i) => i === 0 || ordinal !== sorted[i - 1]))
    },
  }
}
