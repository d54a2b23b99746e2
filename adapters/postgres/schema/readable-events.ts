import type { Microseconds } from '../../../src/event/timestamp.js'
import type { TimeBounds } from '../../../src/filter/bounds.js'
import { createDamageReporter, type DamageReporter } from '../../../src/store/damage.js'

/**
 * The events of the table that can be read, as far as this process knows. A statement that meets an event
 * that the server cannot read fails as a whole, so statements read around the times that are listed here.
 */
export interface ReadableEvents {
  /** What follows FROM in SQL that reads events, with the alias `e`. */
  readonly sql: () => string
  /** True if no unreadable event is known. */
  readonly isWhole: () => boolean
  readonly has: (time: Microseconds) => boolean
  /** Leaves out the events of these times. Returns false if there are too many such ranges. */
  readonly leaveOut: (range: TimeBounds) => boolean
  /** Reports events when they are found. */
  readonly damages: DamageReporter
}

// Each range adds an index scan to every statement.
const MAX_RANGES = 256

export function createReadableEvents(table: string): ReadableEvents {
  const damages = createDamageReporter()
  /** In the order of time, without overlaps. */
  let ranges: readonly TimeBounds[] = []
  let source = `${table} AS e`

  return {
    sql: () => source,
    isWhole: () => ranges.length === 0,
    has: (time) => !ranges.some(({ from, to }) => from <= time && time <= to),
    leaveOut(range) {
      const next = merged([...ranges, range])
      if (next.length > MAX_RANGES) return false
      ranges = next
      source = around(table, ranges)
      return true
    },
    damages,
  }
}

/** In the order of time; ranges that overlap or follow each other at once become one. */
function merged(ranges: readonly TimeBounds[]): TimeBounds[] {
  const result: TimeBounds[] = []
  for (const range of ranges.toSorted((a, b) => a.from - b.from)) {
    const last = result.at(-1)
    if (!last || last.to < range.from - 1) result.push(range)
    else result[result.length - 1] = { from: last.from, to: Math.max(last.to, range.to) }
  }
  return result
}

/**
 * The times between the ranges, each an index scan that does not touch the rows of the ranges. A condition
 * such as `<> ALL` would read the rows first, which fails if their page cannot be read.
 */
function around(table: string, ranges: readonly TimeBounds[]): string {
  const between = ranges.map(({ from }, i) => {
    const last = ranges[i - 1]
    return `${last ? `created_at > ${last.to} AND ` : ''}created_at < ${from}`
  })
  const parts = [...between, `created_at > ${ranges.at(-1)!.to}`]
  return `(${parts.map((part) => `SELECT * FROM ${table} WHERE ${part}`).join(' UNION ALL ')}) AS e`
}
