import { keyChecksum } from './checksums.js'

/*
 * The numbers of names of attributes, which a store keeps in one table: from 1 on, without gaps, as no number
 * is used for two names. A missing row is noticed by its number, which is below that of another name or that of
 * a segment's last name.
 */

/** A row of the table. The name is `null` if it was lost: no segment that can be read has the number. */
export type NameRow = readonly [number: number, name: string | null, checksum: number]

export const nameRow = (number: number, name: string | null): NameRow => [
  number,
  name,
  keyChecksum(name === null ? [number] : [number, name]),
]

const isRight = ([number, name, checksum]: NameRow): boolean =>
  nameRow(number, name)[2] === checksum

/** The names that queries have read, in the order of their numbers. */
export interface KnownNames {
  /** The number of the last name. */
  last(): number
  /** Adds the rows after the last one, up to the first that is damaged or missing. */
  add(rows: readonly NameRow[]): void
  /** The number of a name; `undefined` if it has none up to `last`. */
  numberOf(name: string, last: number): number | undefined
}

export function createKnownNames(): KnownNames {
  const numbers = new Map<string, number>()
  let last = 0
  return {
    last: () => last,
    add(rows) {
      for (const row of rows) {
        const [number, name] = row
        if (number !== last + 1 || !isRight(row)) continue
        last = number
        // A lost name has a new number in the segments that were built anew.
        if (name !== null) numbers.set(name, number)
      }
    },
    numberOf(name, max) {
      const number = numbers.get(name)
      return number !== undefined && number <= max ? number : undefined
    },
  }
}

/** The whole table, as the index builder reads it. */
export interface CheckedNames {
  readonly numbers: ReadonlyMap<string, number>
  /** The names by their numbers. */
  readonly names: ReadonlyMap<number, string>
  /** All numbers up to this one are in use. */
  readonly last: number
  /** The numbers of damaged rows; any number is possible. */
  readonly damaged: readonly number[]
  /** The numbers up to `last` that have no right row, ascending. */
  readonly lost: readonly number[]
}

/** `highest` is the highest number that a segment has. */
export function checkNames(rows: readonly NameRow[], highest: number): CheckedNames {
  const damaged = new Set(rows.filter((row) => !isRight(row)).map(([number]) => number))
  const right = new Map(rows.map(([number, name]) => [number, name]))
  for (const number of damaged) right.delete(number)
  const last = Math.max(highest, ...right.keys())
  const lost: number[] = []
  for (let number = 1; number <= last; number++) if (!right.has(number)) lost.push(number)
  const named = [...right].flatMap(([number, name]) =>
    name === null ? [] : [[number, name] as const],
  )
  const numbers = new Map(named.map(([number, name]) => [name, number]))
  return { numbers, names: new Map(named), last, damaged: [...damaged], lost }
}
