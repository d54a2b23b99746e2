/* Pseudorandom numbers, the same in every run. */
import { uniformFloat64 } from 'pure-rand/distribution/uniformFloat64'
import { mersenne } from 'pure-rand/generator/mersenne'

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

export function createRandom(seed: number): Random {
  const generator = mersenne(seed)
  const next = (): number => uniformFloat64(generator)
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
