import type { Slice } from '../../../src/store-kit/counting/slices.js'
import { sql } from '../../../src/store-kit/sql.js'
import { MAX_COUNTED_AT_ONCE } from './candidate-times.js'
import type { IndexedFigures } from './count-by-index.js'
import { countInParts } from './count-in-parts.js'
import { rowsIn } from './count-rows.js'
import { addRows, type CountRun, readRows } from './count-run.js'

/** The number of events in the slices, counted up to one more than are counted at once. */
async function sizeOf({ run, names }: CountRun, slices: readonly Slice[]): Promise<number> {
  const { text, params } = rowsIn(names, slices, undefined)
  const first = `SELECT FROM ${text} LIMIT ${MAX_COUNTED_AT_ONCE + 1}`
  const [row] = await run(sql(`SELECT count(*) FROM (${first}) AS first`, ...params))
  return Number(row![0])
}

/** Marks the figures of the index as counted, and counts the events that it does not have. */
export async function countRest(
  count: CountRun,
  { covered, rest, maxRest }: Omit<IndexedFigures, 'figures'>,
): Promise<void> {
  const { names } = count
  const onlyLive = { ...count, statements: [] }
  await addRows(onlyLive, [], covered)
  if (rest.length === 0) return
  const size = maxRest ?? (await sizeOf(count, rest))
  if (size === 0) return addRows(onlyLive, [], rest)
  if (size > MAX_COUNTED_AT_ONCE) return countInParts(count)
  const rows = await readRows(count, {
    rowsOf: ({ filter }) => rowsIn(names, rest, filter),
    // There are no more groups than events.
    maxRows: MAX_COUNTED_AT_ONCE,
    end: undefined,
  })
  if (typeof rows !== 'string') await addRows(count, rows, rest)
}
