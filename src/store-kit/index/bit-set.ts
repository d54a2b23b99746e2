/** A set of a part's ordinals: bit `n % 32` of word `n / 32` stands for the ordinal `n`. */
export type BitSet = Uint32Array

/** The empty set for a part of `size` events. */
export const emptySet = (size: number): BitSet => new Uint32Array((size + 31) >>> 5)

/** Number of bits that are set in a word of 32. */
export function bitCount(word: number): number {
  const pairs = word - ((word >>> 1) & 0x5555_5555)
  const nibbles = (pairs & 0x3333_3333) + ((pairs >>> 2) & 0x3333_3333)
  return Math.imul((nibbles + (nibbles >>> 4)) & 0x0f0f_0f0f, 0x0101_0101) >>> 24
}

/** The bits of a word from bit `from` on. */
const upFrom = (from: number): number => -1 << (from & 31)

/** The bits of a word below bit `to`. */
const below = (to: number): number => ~upFrom(to)

/** Adds the ordinals from `from` to `to`, exclusive. */
export function addRange(set: BitSet, from: number, to: number): void {
  if (from >= to) return
  const [first, last] = [from >>> 5, (to - 1) >>> 5]
  const end = (to & 31) === 0 ? -1 : below(to)
  if (first === last) {
    set[first]! |= upFrom(from) & end
    return
  }
  set[first]! |= upFrom(from)
  set.fill(-1, first + 1, last)
  set[last]! |= end
}

export function removeOrdinals(set: BitSet, ordinals: ArrayLike<number>): void {
  for (let i = 0; i < ordinals.length; i++) set[ordinals[i]! >>> 5]! &= ~(1 << (ordinals[i]! & 31))
}

/** Adds the ordinals of `other`. */
export function unite(set: BitSet, other: BitSet): void {
  for (let i = 0; i < set.length; i++) set[i]! |= other[i]!
}

/** Removes all ordinals that `other` does not have. */
export function intersect(set: BitSet, other: BitSet): void {
  for (let i = 0; i < set.length; i++) set[i]! &= other[i]!
}

/** Removes the ordinals of `other`. */
export function subtract(set: BitSet, other: BitSet): void {
  for (let i = 0; i < set.length; i++) set[i]! &= ~other[i]!
}

/** Inverts the set: of the ordinals below `size` it then has exactly the ones that it did not have. */
export function invert(set: BitSet, size: number): void {
  for (let i = 0; i < set.length; i++) set[i] = ~set[i]!
  if ((size & 31) > 0) set[set.length - 1]! &= below(size)
}

/** Number of ordinals from `from` to `to`, exclusive, that both sets have. */
export function countCommon(a: BitSet, b: BitSet, from: number, to: number): number {
  if (from >= to) return 0
  const [first, last] = [from >>> 5, (to - 1) >>> 5]
  const end = (to & 31) === 0 ? -1 : below(to)
  if (first === last) return bitCount(a[first]! & b[first]! & upFrom(from) & end)
  let count = bitCount(a[first]! & b[first]! & upFrom(from))
  for (let i = first + 1; i < last; i++) count += bitCount(a[i]! & b[i]!)
  return count + bitCount(a[last]! & b[last]! & end)
}

export const sizeOfSet = (set: BitSet): number => countCommon(set, set, 0, set.length * 32)
