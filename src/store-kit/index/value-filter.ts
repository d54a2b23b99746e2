import type { Scalar } from '../../filter/attributes.js'

/** A Bloom filter: false if a set does not have the value; true may be wrong. */
export type ValueFilter = (value: Scalar) => boolean

// Fewer values are looked up faster without a filter.
const MIN_VALUES = 8
// Two bits are set for each value, so about 1 in 70 absent values passes.
const BITS_PER_VALUE = 16
/** The filter is rebuilt once it has fewer bits for each value. */
const MIN_BITS_PER_VALUE = 12
const SECOND_HASH = 0x9e3779b1
const MAX_LOG = 26

/** Filters the keys of a map, also keys that are added later. */
export function valueFilter(values: ReadonlyMap<Scalar, unknown>): ValueFilter {
  let words = new Uint32Array(0)
  let shift = 0
  let maxValues = MIN_VALUES - 1
  let known = 0
  let keys = values.keys()

  const make = (): void => {
    const log = Math.min(MAX_LOG, Math.ceil(Math.log2(values.size * BITS_PER_VALUE)))
    words = new Uint32Array(1 << (log - 5))
    shift = 32 - log
    maxValues = log === MAX_LOG ? Infinity : 2 ** log / MIN_BITS_PER_VALUE
    known = 0
    keys = values.keys()
  }
  // Never reads the iterator to its end, so that it continues with keys that are added.
  const learn = (): void => {
    if (values.size > maxValues) make()
    for (; known < values.size; known++) {
      const hash = hashOf(keys.next().value!)
      const [first, second] = [hash >>> shift, Math.imul(hash, SECOND_HASH) >>> shift]
      words[first >>> 5]! |= 1 << (first & 31)
      words[second >>> 5]! |= 1 << (second & 31)
    }
  }
  return (value) => {
    if (values.size < MIN_VALUES) return values.has(value)
    if (known < values.size) learn()
    const hash = hashOf(value)
    const first = hash >>> shift
    if (((words[first >>> 5]! >>> (first & 31)) & 1) === 0) return false
    const second = Math.imul(hash, SECOND_HASH) >>> shift
    return ((words[second >>> 5]! >>> (second & 31)) & 1) === 1
  }
}

// The same value is looked up in many filters in turn.
let lastText: string | undefined
let lastHash = 0

function hashOf(value: Scalar): number {
  const text = typeof value === 'string' ? value : String(value)
  if (text === lastText) return lastHash
  let hash = 0x811c9dc5
  for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193)
  lastText = text
  return (lastHash = Math.imul(hash ^ (hash >>> 15), 0x85ebca6b))
}
