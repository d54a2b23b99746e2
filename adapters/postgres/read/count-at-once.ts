import { halfwayTo } from '../../../src/store-kit/index/counted-figures.js'
import { type Sql, sql } from '../../../src/store-kit/sql.js'
import { candidateTimes, MAX_COUNTED_AT_ONCE } from './candidate-times.js'
import { boundsOf, rowsAtOnce } from './count-rows.js'
import { addRows, type CountRun, readRows } from './count-run.js'
import type { LogIndex } from '../index/log-index.js'
import type { Snapshot } from '../log/snapshot.js'
import { within } from './ranges.js'
import { allOf } from './sql.js'

const MAX_ROWS = 50_000

/** Counts all events if there are few. False if there are too many, or too little time; nothing is counted then. */
export async function countFew(count: CountRun): Promise<boolean> {
  const { run, names, rounds } = count
  const { text, params } = within(boundsOf(rounds.flat()))
  const first = `SELECT FROM ${names.events} WHERE ${text} LIMIT ${MAX_COUNTED_AT_ONCE + 1}`
  const [row] = await run(sql(`SELECT count(*) FROM (${first}) AS first`, ...params))
  if (Number(row![0]) > MAX_COUNTED_AT_ONCE) return false
  return countAtOnce(count, within(boundsOf(rounds.flat())))
}

/** Counts the events that the index finds, like `countFew`. */
export async function countCandidates(
  count: CountRun,
  snapshot: Snapshot,
  index: LogIndex,
): Promise<boolean> {
  const { names, rounds, tally, end } = count
  const bounds = boundsOf(rounds.flat())
  const times = await candidateTimes(
    snapshot,
    { index, names },
    { where: tally.shared, bounds, end },
  )
  return times ? countAtOnce(count, sql('created_at = ANY (?::bigint[])', times)) : false
}

/** Counts all slices with one run of the statements, in up to half of the time. */
async function countAtOnce(count: CountRun, condition: Sql): Promise<boolean> {
  const { run, names, rounds, end } = count
  const slices = rounds.flat()
  await run(sql('SAVEPOINT before'))
  const rows = await readRows(count, {
    rowsOf: ({ filter }) => rowsAtOnce(names, slices, allOf(condition, filter)),
    maxRows: MAX_ROWS,
    end: halfwayTo(end),
  })
  if (typeof rows === 'string') {
    await run(sql('ROLLBACK TO before'))
    return false
  }
  await addRows(count, rows, slices)
  return true
}
