import type { Scalar } from '../../filter/attributes.js'

/** Whether a set of values may have this one: false only where it has not. */
export type ValueFilter = (value: Scalar) => boolean

// Fewer values are found faster than it is told that they are not there.
const LEAST = 8
// Two of them are set, so that of the values that are not there one in seventy is looked for in vain.
const BITS_FOR_EACH = 16
/** As the values become more, until there are no more than so many for each. */
const LEAST_BITS = 12
const SECOND_HASH = 0x9e3779b1
const MAX_LOG = 26

/** Of the keys of a map, also of those that come to it later. */
export function valueFilter(values: ReadonlyMap<Scalar, unknown>): ValueFilter {
  let words = new Uint32Array(0)
  let shift = 0
  let most = LEAST - 1
  let known = 0
  let keys = values.keys()

  const make = (): void => {
    const log = Math.min(MAX_LOG, Math.ceil(Math.log2(values.size * BITS_FOR_EACH)))
    words = new Uint32Array(1 << (log - 5))
    shift = 32 - log
    most = log === MAX_LOG ? Infinity : 2 ** log / LEAST_BITS
    known = 0
    keys = values.keys()
  }
  // Never as far as its end, so that the iterator goes on to what is added.
  const learn = (): void => {
    if (values.size > most) make()
    for (; known < values.size; known++) {
      const hash = hashOf(keys.next().value!)
      const [first, second] = [hash >>> shift, Math.imul(hash, SECOND_HASH) >>> shift]
      words[first >>> 5]! |= 1 << (first & 31)
      words[second >>> 5]! |= 1 << (second & 31)
    }
  }
  return (value) => {
    if (values.size < LEAST) return values.has(value)
    if (known < values.size) learn()
    const hash = hashOf(value)
    const first = hash >>> shift
    if (((words[first >>> 5]! >>> (first & 31)) & 1) === 0) return false
    const second = Math.imul(hash, SECOND_HASH) >>> shift
    return ((words[second >>> 5]! >>> (second & 31)) & 1) === 1
  }
}

// One value is looked for in many sets.
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
