import Database from 'better-sqlite3'
import {
  compareSides,
  mediansOf,
  p99Of,
  type Side,
  type SideTimes,
  type Times,
} from '../harness/compare.js'
import { milliseconds, ratios, whole } from '../harness/format.js'
import { type Size, SIZES } from '../harness/options.js'
import { type CaseGroup, QUERY_CASES, type QueryCase } from '../harness/query-cases.js'
import { goalFor, type Goal, type Row, rowOf } from '../harness/results.js'
import { makeIdealIndex } from '../targets/raw-sqlite.js'
import { openLog, type SqliteLog } from '../targets/sqlite-log.js'
import { coldRows } from './cold-queries.js'

/*
 * Queries on SQLite, compared with handwritten SQL on rows of JSON text, with the ideal index for each query
 * and without an index. Each side has a new process in each round. Each query asks for another value, and
 * all sides must return the same events in the same order. The measured time ends when the attributes
 * of the events have been read. Smaller logs show how times grow.
 */

const TITLES: { readonly [group in CaseGroup]: string } = {
  eq: 'eq on any attribute',
  common: 'common values and pages',
  hard: 'start, or, sorts, several conditions',
  cont: 'a rare substring',
}

/** The smaller logs that a log is compared with. */
const SMALLER: { readonly [size in Size]: readonly Size[] } = {
  '10k': [],
  '100k': ['10k'],
  '1m': ['10k', '100k'],
}

const daybookSide = (log: SqliteLog): Side => ({
  setup: { side: 'daybook', store: { store: 'sqlite', filename: log.daybook } },
  log,
  takes: () => true,
})

type SideName = 'daybook' | 'ideal' | 'scan'

const isScanned = ({ group }: QueryCase): boolean => group !== 'common'
const hasIdeal = ({ group, ideal }: QueryCase): boolean => ideal !== undefined && group !== 'cont'

function sidesOf(log: SqliteLog): Record<SideName, Side> {
  const raw = { setup: { side: 'raw', filename: log.raw }, log } as const
  return {
    daybook: daybookSide(log),
    ideal: { ...raw, isIdeal: true, takes: hasIdeal },
    scan: { ...raw, takes: isScanned },
  }
}

const isGrowthCase = ({ group }: QueryCase): boolean => group === 'common' || group === 'eq'

function makeIndexes({ raw }: SqliteLog): void {
  const database = new Database(raw)
  for (const { ideal } of QUERY_CASES)
    if (ideal && ideal[0] !== 'created_at') makeIdealIndex(database, ideal)
  database.pragma('wal_checkpoint(TRUNCATE)')
  database.close()
}

/** The goals are for logs of a million events. */
function goalsOf(
  { group }: QueryCase,
  size: Size,
  { daybook, ideal, scan }: SideTimes<SideName>,
): Goal[] {
  if (size !== '1m') return []
  const ours = mediansOf(daybook!)
  const fasterThanScan = (min: number): Goal[] =>
    scan
      ? [goalFor('atLeast', min, ratios(mediansOf(scan), ours), { of: 'as fast as the scan' })]
      : []
  const below = (limit: number): Goal => goalFor('below', limit, ours, { print: milliseconds })
  switch (group) {
    case 'eq':
      return [below(2), ...fasterThanScan(1000)]
    case 'common':
      return ideal ? [goalFor('atMost', 3, ratios(ours, mediansOf(ideal)))] : []
    case 'hard':
      return [below(10)]
    case 'cont':
      return fasterThanScan(20)
  }
}

function caseRow(one: QueryCase, size: Size, times: SideTimes<SideName>): Row {
  const ours = mediansOf(times.daybook!)
  const other = times.scan ?? times.ideal
  const theirs = other && mediansOf(other)
  const events = SIZES[size]
  const reference = isScanned(one) ? 'a scan with `json_extract`' : 'SQL with the ideal index'
  return rowOf({
    group: `Queries, SQLite: ${TITLES[one.group]}, compared with ${reference}, ${whole(events)} events`,
    name: one.name,
    daybook: ours,
    reference: theirs && { name: times.scan ? 'scan' : 'ideal index', figures: theirs },
    ...(theirs && { ratio: times.scan ? ratios(theirs, ours) : ratios(ours, theirs) }),
    print: milliseconds,
    note: `p99 ${milliseconds(p99Of(times.daybook!))}`,
    goals: goalsOf(one, size, times),
  })
}

interface Growth {
  readonly size: Size
  readonly small: Size
  readonly large: Times
  readonly little: Times
}

/** Common queries must not take longer in a larger log. */
function growthRow(one: QueryCase, { size, small, ...times }: Growth): Row {
  const [large, little] = [mediansOf(times.large), mediansOf(times.little)]
  const growth = ratios(large, little)
  return rowOf({
    group: `Growth, SQLite: ${whole(SIZES[size])} events compared with ${whole(SIZES[small])}`,
    name: one.name,
    daybook: large,
    reference: { figures: little },
    ratio: growth,
    print: milliseconds,
    goals: one.group === 'eq' ? [] : [goalFor('atMost', 1.5, growth)],
  })
}

export async function measure(
  { size, rounds }: { readonly size: Size; readonly rounds: number },
  folder: string,
): Promise<Row[]> {
  const log = await openLog(size, folder)
  makeIndexes(log)
  const compared = await compareSides(QUERY_CASES, sidesOf(log), rounds)
  const rows = [...compared].map(([one, times]) => caseRow(one, size, times))
  for (const small of SMALLER[size]) {
    const sides = { large: daybookSide(log), little: daybookSide(await openLog(small, folder)) }
    const grown = await compareSides(QUERY_CASES.filter(isGrowthCase), sides, rounds)
    for (const [one, { large, little }] of grown)
      rows.push(growthRow(one, { size, small, large: large!, little: little! }))
  }
  return [...rows, ...(await coldRows(log, rounds))]
}
