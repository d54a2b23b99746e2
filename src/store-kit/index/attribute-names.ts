import { keyChecksum } from './checksums.js'

/*
 * The numbers of names of attributes, which a store keeps in one table: from 1 on, without gaps, as no number
 * is used for two names. A missing row is noticed by its number, which is below the number of another name or of
 * a segment's last name.
 */

/** A row of the table. The name is `null` if it was lost: no segment that can be read has the number. */
export type NameRow = readonly [number: number, name: string | null, checksum: number]

const nameChecksum = (number: number, name: string | null): number =>
  keyChecksum(name === null ? [number] : [number, name])

export const nameRow = (number: number, name: string | null): NameRow => [
  number,
  name,
  nameChecksum(number, name),
]

const isRight = (row: NameRow): boolean => nameChecksum(row[0], row[1]) === row[2]

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
  /** The numbers of the names; the caller may add further ones. */
  readonly numbers: Map<string, number>
  /** The names by their numbers; `null` for one that was lost. */
  readonly names: ReadonlyMap<number, string | null>
  /** All numbers up to this one are in use. */
  readonly last: number
  /** The numbers of damaged rows; any number is possible. */
  readonly damaged: readonly number[]
  /** The numbers up to `last` that have no right row, ascending. */
  readonly lost: readonly number[]
}

/** Checks the rows of the table as they are read, so that no step checks many. */
export interface NamesCheck {
  add(rows: readonly NameRow[]): void
  /** `highest` is the highest number that a segment has. */
  result(highest: number): CheckedNames
}

export function createNamesCheck(): NamesCheck {
  const damaged = new Set<number>()
  const names = new Map<number, string | null>()
  const numbers = new Map<string, number>()
  return {
    add(rows) {
      for (const row of rows) {
        const [number, name] = row
        if (!isRight(row)) damaged.add(number)
        else {
          names.set(number, name)
          if (name !== null) numbers.set(name, number)
        }
      }
    },
    result(highest) {
      // A damaged row may have the number of another.
      for (const number of damaged) {
        const name = names.get(number)
        if (typeof name === 'string') numbers.delete(name)
        names.delete(number)
      }
      let last = highest
      for (const number of names.keys()) if (number > last) last = number
      const lost: number[] = []
      for (let number = 1; number <= last; number++) if (!names.has(number)) lost.push(number)
      return { numbers, names, last, damaged: [...damaged], lost }
    },
  }
}
