import type { Entry } from './chunks.js'
import { EMPTY, listPostings, type Postings } from './postings.js'

/*
 * A part of the index has columns for a limited number of names. Of the other names it has only hashes: for
 * each event, the hashes of its names without a column. So a filter on such a name leads to the few events
 * that have it, or another name with the same hash.
 */

const FNV_OFFSET = 0x811c9dc5
const FNV_PRIME = 0x01000193

/** The state of a hash after a text; from the state of a name, the state of a longer name follows. */
export function hashState(text: string, state: number = FNV_OFFSET): number {
  let next = state
  for (let i = 0; i < text.length; i++) next = Math.imul(next ^ text.charCodeAt(i), FNV_PRIME)
  return next
}

/** The hash of a name from its state, with all bits mixed. */
export function hashOfState(state: number): number {
  const mixed = Math.imul(state ^ (state >>> 16), 0x85ebca6b)
  return (mixed ^ (mixed >>> 13)) >>> 0
}

// The same name is looked up in many parts in turn.
let lastName = ''
let lastHash = hashOfState(hashState(''))

export function nameHash(name: string): number {
  if (name !== lastName) {
    lastHash = hashOfState(hashState(name))
    lastName = name
  }
  return lastHash
}

/** Hashes of names, each with the ordinals of the events that have the name. */
export interface OtherNames {
  /** Number of pairs of a hash and an ordinal. */
  readonly size: number
  /** A repetition of the last pair is left out. */
  add(hash: number, ordinal: number): void
  find(hash: number): Postings
  /** Sorted by hash. */
  entries(): Generator<Entry, void>
}

/** Pairs whose hashes begin with the same bits. */
interface Bucket {
  hashes: Uint32Array
  ordinals: Uint32Array
  length: number
}

/** Approximate memory of a pair. */
export const PAIR_BYTES = 12

// A search for a hash looks through one bucket.
const BUCKET_BITS = 6
const REST_BITS = 32 - BUCKET_BITS
/** Below 2 ** 53 / 2 ** REST_BITS. */
const MAX_ORDINALS = 2 ** 27
const FIRST_LENGTH = 16

export function createOtherNames(): OtherNames {
  const buckets: (Bucket | undefined)[] = []
  let size = 0
  let lastHash = -1
  let lastOrdinal = -1

  const bucketOf = (hash: number): Bucket =>
    (buckets[hash >>> REST_BITS] ??= {
      hashes: new Uint32Array(FIRST_LENGTH),
      ordinals: new Uint32Array(FIRST_LENGTH),
      length: 0,
    })

  return {
    get size() {
      return size
    },
    add(hash, ordinal) {
      if (hash === lastHash && ordinal === lastOrdinal) return
      lastHash = hash
      lastOrdinal = ordinal
      const bucket = bucketOf(hash)
      if (bucket.length === bucket.hashes.length) grow(bucket)
      bucket.hashes[bucket.length] = hash
      bucket.ordinals[bucket.length++] = ordinal
      size += 1
    },
    find(hash) {
      const bucket = buckets[hash >>> REST_BITS]
      if (!bucket) return EMPTY
      const { hashes, ordinals, length } = bucket
      const found: number[] = []
      for (let at = hashes.indexOf(hash); at >= 0 && at < length; at = hashes.indexOf(hash, at + 1))
        found.push(ordinals[at]!)
      return listPostings(distinct(Uint32Array.from(found).toSorted()))
    },
    *entries() {
      for (const [i, bucket] of buckets.entries())
        if (bucket) yield* entriesOf(bucket, i * 2 ** REST_BITS)
    },
  }
}

function grow(bucket: Bucket): void {
  for (const field of ['hashes', 'ordinals'] as const) {
    const grown = new Uint32Array(2 * bucket.length)
    grown.set(bucket[field])
    bucket[field] = grown
  }
}

const distinct = (sorted: Uint32Array): Uint32Array =>
  sorted.filter((ordinal, i) => i === 0 || ordinal !== sorted[i - 1])

function* entriesOf(
  { hashes, ordinals, length }: Bucket,
  base: number,
): Generator<Entry, void, undefined> {
  const pairs = new Float64Array(length)
  for (let i = 0; i < length; i++) pairs[i] = (hashes[i]! - base) * MAX_ORDINALS + ordinals[i]!
  pairs.sort()
  for (let from = 0; from < length;) {
    const rest = Math.floor(pairs[from]! / MAX_ORDINALS)
    const end = (rest + 1) * MAX_ORDINALS
    const list: number[] = []
    for (; from < length && pairs[from]! < end; from++) {
      const ordinal = pairs[from]! % MAX_ORDINALS
      if (list.at(-1) !== ordinal) list.push(ordinal)
    }
    yield { value: base + rest, ordinals: list }
  }
}
