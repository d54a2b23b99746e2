import { fold } from '../../filter/values.js'

/*
 * Where the texts of a name fill many chunks, a segment has further lists, which tell in which of them
 * a part of a text can stand. Every three characters that stand together in the lines of a chunk, folded
 * as texts are compared, give one of 65536 numbers, a gram; its list has the groups of chunks that have
 * it. A text can only be where all of its grams are, and others may be there too.
 *
 * Characters are UTF-16 units, as folding keeps their number. Lines are JSON text, in which each character
 * stands for itself or is escaped by itself, so that what is looked for is put into JSON as well.
 *
 * Behind the grams stand the values of `Extra`.
 */
const GRAM_BITS = 16
export const GRAMS = 1 << GRAM_BITS

export const Extra = {
  /** Its list has the grams that are in too many groups to tell anything, and have no lists. */
  everywhere: GRAMS,
  /** The groups that have cut texts. */
  cut: GRAMS + 1,
  /** The number of chunks in a group, alone. */
  groupSize: GRAMS + 2,
} as const

const WINDOW = 0x1fffff

/** Moves the window on by a character: it is made of no more than the last three. */
const moved = (window: number, unit: number): number => ((window << 7) ^ unit) & WINDOW

// The golden ratio's bits, which spread neighbouring windows.
const gramOf = (window: number): number => Math.imul(window, 0x9e3779b1) >>> (32 - GRAM_BITS)

/** Gives the grams of a part of a line; none where it has fewer than three characters. */
export function eachGram(part: string, take: (gram: number) => void): void {
  const folded = fold(part)
  let window = 0
  for (let i = 0; i < folded.length; i++) {
    window = moved(window, folded.charCodeAt(i))
    if (i >= 2) take(gramOf(window))
  }
}

/** The same, each once. */
export function gramsOf(part: string): readonly number[] {
  const grams = new Set<number>()
  eachGram(part, (gram) => grams.add(gram))
  return [...grams]
}

/** A bit for each gram. */
export type GramBits = Uint32Array

export const noGrams = (): GramBits => new Uint32Array(GRAMS / 32)

/** Adds the grams of all these lines; also those across their ends, which nobody looks for. */
export function addGrams(bits: GramBits, lines: string): void {
  const folded = fold(lines)
  let window = 0
  for (let i = 0; i < folded.length; i++) {
    window = moved(window, folded.charCodeAt(i))
    const gram = gramOf(window)
    bits[gram >>> 5]! |= 1 << (gram & 31)
  }
}
