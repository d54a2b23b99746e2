import type { TimeBounds } from '../../../src/filter/bounds.js'
import { sql } from '../../../src/store-kit/sql.js'
import { candidateTimes, MAX_COUNTED_AT_ONCE } from './candidate-times.js'
import { boundsOf, rowsAtOnce } from './count-rows.js'
import { addRows, type CountRun, readRows } from './count-run.js'
import type { LogIndex } from '../index/log-index.js'
import type { Snapshot } from '../log/snapshot.js'
import { within } from './ranges.js'
import { allOf } from './sql.js'

const MAX_ROWS = 50_000

async function hasFew(
  { run, names: { readable } }: CountRun,
  bounds: TimeBounds,
): Promise<boolean> {
  const { text, params } = within(bounds)
  const first = `SELECT FROM ${readable.sql()} WHERE ${text} LIMIT ${MAX_COUNTED_AT_ONCE + 1}`
  const [row] = await run(sql(`SELECT count(*) FROM (${first}) AS first`, ...params))
  return Number(row![0]) <= MAX_COUNTED_AT_ONCE
}

/**
 * Counts all slices with one run of the statements, in up to half of the time. False if there are too many
 * events, or too little time; nothing is counted then.
 */
export async function countAtOnce(
  count: CountRun,
  snapshot: Snapshot,
  index: LogIndex | undefined,
): Promise<boolean> {
  const { run, names, slices, tally, end } = count
  const bounds = boundsOf(slices)
  const times =
    index &&
    (await candidateTimes(snapshot, { index, names }, { where: tally.shared, bounds, end }))
  if (!times && !(await hasFew(count, bounds))) return false
  const condition = times ? sql('created_at = ANY (?::bigint[])', times) : within(bounds)
  await run(sql('SAVEPOINT before'))
  const rows = await readRows(count, {
    rowsOf: ({ filter }) => rowsAtOnce(names, slices, allOf(condition, filter)),
    maxRows: MAX_ROWS,
    end: (performance.now() + end) / 2,
  })
  if (typeof rows === 'string') {
    await run(sql('ROLLBACK TO before'))
    return false
  }
  await addRows(count, rows, slices)
  return true
}
