import type { Slice } from '../../../src/store-kit/counting/slices.js'
import { durationOf } from '../../../src/store-kit/counting/slices.js'
import type { TimeBounds } from '../../../src/filter/bounds.js'
import { type Sql, sql } from '../../../src/store-kit/sql.js'
import type { Microseconds } from '../../../src/event/timestamp.js'
import type { Names } from '../schema/names.js'
import { allOf } from './sql.js'

/** The rows of the events in the slices, with their `cell`; each slice is an index scan of the key. */
export function rowsIn({ events }: Names, slices: readonly Slice[], filter: Sql | undefined): Sql {
  const condition = allOf(sql('created_at BETWEEN earliest AND latest'), filter)
  // OFFSET 0 prevents any other join.
  return sql(
    `unnest(?::int4[], ?::int8[], ?::int8[]) AS slice (cell, earliest, latest),
     LATERAL (SELECT * FROM ${events} WHERE ${condition.text} OFFSET 0) AS event`,
    slices.map(({ cell }) => cell),
    slices.map(({ from }) => from),
    slices.map(({ to }) => to),
    ...condition.params,
  )
}

/** The rows that pass the condition, with their `cell`; the planner chooses the scan. */
export function rowsAtOnce({ events }: Names, slices: readonly Slice[], condition: Sql): Sql {
  const starts: Microseconds[] = []
  for (const { cell, from } of slices) starts[cell] = Math.min(starts[cell] ?? from, from)
  return sql(
    `(SELECT width_bucket(created_at, ?::int8[]) - 1 AS cell, * FROM ${events}
      WHERE ${condition.text}) AS event`,
    starts,
    ...condition.params,
  )
}

export const boundsOf = (slices: readonly Slice[]): TimeBounds => ({
  from: slices.reduce((least, { from }) => Math.min(least, from), Infinity),
  to: slices.reduce((most, { to }) => Math.max(most, to), -Infinity),
})

export const totalLength = (slices: readonly Slice[]): Microseconds =>
  slices.reduce((sum, slice) => sum + durationOf(slice), 0)

/** Slices that have not been counted yet. */
export interface SliceQueue {
  /** Removes the next slices with a total length of `length` at most; the last one may be split. */
  next(length: Microseconds): Slice[]
  putBack(slices: readonly Slice[]): void
}

export function createSliceQueue(slices: readonly Slice[]): SliceQueue {
  /** In reverse order. */
  const waiting = slices.toReversed()

  return {
    next(length) {
      const taken: Slice[] = []
      let left = Math.max(1, Math.floor(length))
      while (left > 0 && waiting.length > 0) {
        const slice = waiting.pop()!
        const to = Math.min(slice.to, slice.from + left - 1)
        if (to < slice.to) waiting.push({ ...slice, from: to + 1 })
        taken.push({ ...slice, to })
        left -= to - slice.from + 1
      }
      return taken
    },
    putBack(slices) {
      waiting.push(...slices.toReversed())
    },
  }
}
