import type { Microseconds } from '../../event/timestamp.js'
import type { Work } from './work.js'
import type { IndexPart } from './part.js'

/** A part, and the ordinals of its events that do not count, ascending. */
interface Part {
  readonly part: IndexPart
  readonly removed: Uint32Array
}

/** Times between two points where the work may pause; each may be in a block of its own. */
const STEP = 16

/** With more common times, two parts are not counted. */
const MAX_COMMON = 10_000

/** Nor if more events would have to be compared, which takes some tenths of a second. */
const MAX_COMPARED = 262_144

/** The common times of two parts, which never change; `undefined` for too many. */
const known = new WeakMap<IndexPart, WeakMap<IndexPart, readonly Microseconds[] | undefined>>()

/**
 * The times of events that several parts have. Parts overlap if events came late, and then a part that was
 * built anew has the late events of its range too. `undefined` for more than `max`.
 */
export function* duplicateTimes(
  parts: readonly Part[],
  max: number,
): Work<readonly Microseconds[] | undefined> {
  const inOrder = parts.toSorted((a, b) => a.part.first - b.part.first)
  const found: Microseconds[] = []
  for (const [i, a] of inOrder.entries())
    for (const b of inOrder.slice(i + 1)) {
      if (b.part.first > a.part.last) break
      const common = yield* commonTimes(a.part, b.part)
      if (!common) return undefined
      for (const time of common) {
        if (isRemoved(a, time) || isRemoved(b, time)) continue
        if (found.push(time) > max) return undefined
      }
    }
  return found
}

function isRemoved({ part, removed }: Part, time: Microseconds): boolean {
  if (removed.length === 0) return false
  const ordinal = part.countBefore(time)
  let [low, high] = [0, removed.length]
  while (low < high) {
    const middle = (low + high) >>> 1
    if (removed[middle]! < ordinal) low = middle + 1
    else high = middle
  }
  return removed[low] === ordinal
}

function* commonTimes(a: IndexPart, b: IndexPart): Work<readonly Microseconds[] | undefined> {
  let ofA = known.get(a)
  if (!ofA) known.set(a, (ofA = new WeakMap()))
  if (ofA.has(b)) return ofA.get(b)
  const from = Math.max(a.first, b.first)
  const to = Math.min(a.last, b.last)
  const sizeOf = (part: IndexPart): number => part.countBefore(to + 1) - part.countBefore(from)
  const [few, many] = sizeOf(a) < sizeOf(b) ? [a, b] : [b, a]
  const end = few.countBefore(to + 1)
  let common: Microseconds[] | undefined = sizeOf(few) > MAX_COMPARED ? undefined : []
  for (let at = few.countBefore(from); common && at < end; at++) {
    const time = few.timeOf(at)
    const other = many.countBefore(time)
    if (many.timeOf(other) === time && common.push(time) > MAX_COMMON) common = undefined
    if (at % STEP === 0) yield
  }
  ofA.set(b, common)
  return common
}
