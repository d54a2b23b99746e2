/* Pseudorandom numbers, the same in every run. */

export interface Random {
  /** From 0 up to 1, exclusive. */
  next(): number
  /** A whole number. */
  below(limit: number): number
  /** Below `limit`; low numbers are far more frequent. */
  mostlyLow(limit: number): number
  /** The first items are far more frequent. */
  pick<Item>(items: readonly Item[]): Item
  hex(digits: number): string
  uuid(): string
}

/** The mulberry32 generator. */
function mulberry(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

export function createRandom(seed: number): Random {
  const next = mulberry(seed)
  const below = (limit: number): number => Math.floor(next() * limit)
  const mostlyLow = (limit: number): number => Math.floor(next() ** 3 * limit)
  const hex = (digits: number): string => {
    let text = ''
    while (text.length < digits)
      text += below(2 ** 32)
        .toString(16)
        .padStart(8, '0')
    return text.slice(0, digits)
  }
  return {
    next,
    below,
    mostlyLow,
    pick: (items) => items[mostlyLow(items.length)]!,
    hex,
    uuid() {
      const digits = hex(32)
      return `${digits.slice(0, 8)}-${digits.slice(8, 12)}-4${digits.slice(13, 16)}-a${digits.slice(17, 20)}-${digits.slice(20)}`
    },
  }
}
