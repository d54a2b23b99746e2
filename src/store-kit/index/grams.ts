import { fold } from '../../filter/values.js'

/*
 * If the texts of a name fill many chunks, the segment has lists that say which chunks may contain a part of
 * a text. Each three adjacent characters in the lines of a chunk, case-folded as in comparisons, are hashed to
 * one of 65536 numbers, a gram; its list has the groups of chunks that contain it. A part can only be in the
 * groups that contain all of its grams.
 *
 * Characters are UTF-16 units, as folding keeps their number. Lines are JSON text, in which each character
 * stands for itself or is escaped on its own, so the part is converted to JSON as well.
 *
 * A list of `UNNAMED_LISTS` says in the same way which names may have a text that contains the part: places are
 * those of the names among all that have texts.
 *
 * The values of `ExtraList` follow after the grams.
 */
const GRAM_BITS = 16
export const GRAM_COUNT = 1 << GRAM_BITS

export const ExtraList = {
  /** The list of grams without a list of their own, because too many groups contain them. */
  everywhere: GRAM_COUNT,
  /** The list of groups with cut texts. */
  cut: GRAM_COUNT + 1,
  /** A list of one number: how many chunks a group has. */
  groupSize: GRAM_COUNT + 2,
  /** Of `UNNAMED_LISTS`: the numbers of the names that have texts. */
  names: GRAM_COUNT + 3,
} as const

const WINDOW = 0x1fffff

/** Adds a character to the window. The window depends only on the last three characters. */
const moved = (window: number, unit: number): number => ((window << 7) ^ unit) & WINDOW

// Multiplication by the golden ratio spreads similar windows: https://en.wikipedia.org/wiki/Hash_function#Fibonacci_hashing
const gramOf = (window: number): number => Math.imul(window, 0x9e3779b1) >>> (32 - GRAM_BITS)

/** Calls `take` with each gram of a part of a line; a part of fewer than three characters has none. */
export function eachGram(part: string, take: (gram: number) => void): void {
  const folded = fold(part)
  let window = 0
  for (let i = 0; i < folded.length; i++) {
    window = moved(window, folded.charCodeAt(i))
    if (i >= 2) take(gramOf(window))
  }
}

/** The distinct grams of a part of a line. */
export function gramsOf(part: string): readonly number[] {
  const grams = new Set<number>()
  eachGram(part, (gram) => grams.add(gram))
  return [...grams]
}

/** A bit for each gram. */
export type GramBits = Uint32Array

export const noGrams = (): GramBits => new Uint32Array(GRAM_COUNT / 32)

/** Adds the grams of the lines. Grams across line ends are added too, but never searched for. */
export function addGrams(bits: GramBits, lines: string): void {
  const folded = fold(lines)
  let window = 0
  for (let i = 0; i < folded.length; i++) {
    window = moved(window, folded.charCodeAt(i))
    const gram = gramOf(window)
    bits[gram >>> 5]! |= 1 << (gram & 31)
  }
}
