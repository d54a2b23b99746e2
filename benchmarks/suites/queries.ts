/*
 * How fast questions are answered on SQLite, beside SQL written by hand on rows of JSON text: with the
 * index that is ideal for the question, and with none:
 *
 *   npm run build
 *   npx tsx --tsconfig benchmarks/tsconfig.json benchmarks/queries.ts \
 *     [--size 10k|100k|1m|10m] [--rounds 3] [--keep folder]
 *
 * Sides take turns, in processes of their own that are new in each round; every question asks for another
 * value, and all sides have to find the same events in the same order. What is measured ends with objects
 * whose attributes are read. Smaller logs are asked what should take no longer in a larger one.
 */
import Database from 'better-sqlite3'
import { askAll, type Found, mediansOf, p99Of, type Side, type Times } from '../harness/compare.js'
import { coldRows } from './cold-queries.js'
import { type Aim, aimFor, ratios, type Row, rowOf, tell } from '../harness/results.js'
import { type Log, logOf, withLogs } from '../targets/sqlite-log.js'
import { readSized, type Size, SIZES } from '../harness/options.js'
import { milliseconds, whole } from '../harness/format.js'
import { type CaseGroup, QUERY_CASES, type QueryCase } from '../harness/query-cases.js'
import { makeIdealIndex } from '../targets/raw-sqlite.js'

const TITLES: { readonly [group in CaseGroup]: string } = {
  eq: 'eq on any attribute',
  common: 'common values and pages',
  hard: 'start, or, sorts, several conditions',
  cont: 'a rare substring',
}

/** Sizes that are asked as well, so that growth is seen. */
const SMALLER: { readonly [size in Size]: readonly Size[] } = {
  '10k': [],
  '100k': ['10k'],
  '1m': ['10k', '100k'],
  '10m': ['10k', '1m'],
}

const daybookSide = (log: Log): Side => ({
  setup: { side: 'daybook', store: { store: 'sqlite', filename: log.daybook } },
  log,
  isAsked: () => true,
})

type SideName = 'daybook' | 'ideal' | 'scan'
type FoundHere = Found<SideName>

// Each scan of ten million events takes up to two minutes.
const isAskedOfScan = ({ group }: QueryCase, { events }: Pick<Log, 'events'>): boolean =>
  group !== 'common' && events < SIZES['10m']
const isAskedOfIdeal = ({ group, ideal }: QueryCase): boolean =>
  ideal !== undefined && group !== 'cont'

function sidesOf(log: Log): Record<SideName, Side> {
  const raw = { setup: { side: 'raw', filename: log.raw }, log } as const
  return {
    daybook: daybookSide(log),
    ideal: { ...raw, isIdeal: true, isAsked: isAskedOfIdeal },
    scan: { ...raw, isAsked: (one) => isAskedOfScan(one, log) },
  }
}

/** Growth is asked of these. */
const grows = ({ group }: QueryCase): boolean => group === 'common' || group === 'eq'

function makeIndexes({ raw }: Log): void {
  const database = new Database(raw)
  for (const { ideal } of QUERY_CASES)
    if (ideal && ideal[0] !== 'created_at') makeIdealIndex(database, ideal)
  database.pragma('wal_checkpoint(TRUNCATE)')
  database.close()
}

/** Limits hold for a log of a million events or more. */
function aimsOf({ group }: QueryCase, size: Size, { daybook, ideal, scan }: FoundHere): Aim[] {
  if (size !== '1m' && size !== '10m') return []
  const ours = mediansOf(daybook!)
  const toScan = (least: number): Aim[] =>
    scan
      ? [aimFor('atLeast', least, ratios(mediansOf(scan), ours), undefined, 'as fast as the scan')]
      : []
  switch (group) {
    case 'eq':
      return [...(size === '1m' ? [aimFor('below', 2, ours, milliseconds)] : []), ...toScan(1000)]
    case 'common':
      return ideal ? [aimFor('atMost', 3, ratios(ours, mediansOf(ideal)))] : []
    case 'hard':
      return [aimFor('below', size === '1m' ? 10 : 30, ours, milliseconds)]
    case 'cont':
      return toScan(20)
  }
}

function caseRow(one: QueryCase, size: Size, found: FoundHere): Row {
  const ours = mediansOf(found.daybook!)
  const other = found.scan ?? found.ideal
  const theirs = other && mediansOf(other)
  const isScanned = isAskedOfScan(one, { events: SIZES[size] })
  const beside = isScanned ? 'a scan by `json_extract`' : 'SQL with the ideal index'
  return rowOf({
    group: `Queries, SQLite: ${TITLES[one.group]}, beside ${beside}, ${whole(SIZES[size])} events`,
    name: one.name,
    daybook: ours,
    reference: theirs && { name: found.scan ? 'scan' : 'ideal index', figures: theirs },
    ...(theirs && { ratio: found.scan ? ratios(theirs, ours) : ratios(ours, theirs) }),
    print: milliseconds,
    note: `p99 ${milliseconds(p99Of(found.daybook!))}`,
    aims: aimsOf(one, size, found),
  })
}

/** Beside the smallest log what is common must not take longer; eq at 10 m beside that at 1 m. */
function growthRow(one: QueryCase, size: Size, small: Size, ours: Times, theirs: Times): Row {
  const [large, little] = [mediansOf(ours), mediansOf(theirs)]
  const growth = ratios(large, little)
  return rowOf({
    group: `Growth, SQLite: ${whole(SIZES[size])} events beside ${whole(SIZES[small])}`,
    name: one.name,
    daybook: large,
    reference: { figures: little },
    ratio: growth,
    print: milliseconds,
    aims:
      one.group === 'eq'
        ? size === '10m' && small === '1m'
          ? [aimFor('atMost', 3, growth)]
          : []
        : [aimFor('atMost', 1.5, growth)],
  })
}

async function measure(size: Size, rounds: number, folder: string): Promise<Row[]> {
  const log = await logOf(size, folder)
  makeIndexes(log)
  const found = await askAll(QUERY_CASES, sidesOf(log), rounds)
  const rows = [...found].map(([one, times]) => caseRow(one, size, times))
  for (const small of SMALLER[size]) {
    const little = await logOf(small, folder)
    const growing = QUERY_CASES.filter(grows)
    const sides = { large: daybookSide(log), small: daybookSide(little) }
    for (const [one, { large, small: times }] of await askAll(growing, sides, rounds))
      rows.push(growthRow(one, size, small, large!, times!))
  }
  return [...rows, ...(await coldRows(log, rounds))]
}

const { size, rounds, keep, rows } = readSized({ rounds: 3 })
await withLogs(keep, async (folder) => tell(await measure(size, rounds, folder), rows))
