import fs from 'node:fs'
import path from 'node:path'
import Database from 'better-sqlite3'
import { median } from 'simple-statistics'
import { compareSides, mediansOf, p99Of, type Side, type SideTimes } from '../harness/compare.js'
import { megabytes, milliseconds, percent, perSecond, whole } from '../harness/format.js'
import type { Options } from '../harness/options.js'
import { type CaseGroup, QUERY_CASES, type QueryCase } from '../harness/query-cases.js'
import { defineSuite, type Goal, type Row, type Table } from '../harness/suite.js'
import { withTempFolder } from '../harness/temp.js'
import { makeIdealIndex } from '../targets/raw-sqlite.js'
import { type ChunkTimes, fillStore, openLog, type SqliteLog } from '../targets/sample-logs.js'
import { coldTables, memoryTables } from './cold.js'
import { countTables, textTables } from './searches.js'

/*
 * One log on SQLite, compared with handwritten SQL on rows of JSON text, with the ideal index for each query
 * and without an index. Each side has a new process in each round. Each query asks for another value, and
 * all sides must return the same events in the same order. The measured time ends when the attributes
 * of the events have been read. Goals are for logs of a million events.
 */

const isMillion = ({ events }: SqliteLog): boolean => events >= 1e6
const storeOf = ({ daybook }: SqliteLog) => ({ store: 'sqlite', filename: daybook }) as const

const rateOf = ({ events, record, index }: ChunkTimes): number => events / (record + index)

/** Both sides wrote chunks of 100,000 events in turn. A chunk ended when the index had caught up. */
async function upkeep(log: SqliteLog): Promise<Table[]> {
  const { chunks, jsonBytes, built } = log
  const waiting = median(chunks.map(({ record, index }) => index / (record + index)))
  const goalOf = (goal: Goal): Goal | undefined => (isMillion(log) ? goal : undefined)
  return [
    {
      title: `Recording while the index keeps up, ${whole(log.events)} events`,
      text: `Built on ${built}: 1,000 calls in flight, until all events are indexed, which takes ${percent(waiting)} of the time.`,
      rows: [
        {
          name: 'compared with rows of JSON text, batches of 100, with `JSON.stringify`',
          ours: chunks.map(rateOf),
          theirs: chunks.map(({ events, raw }) => events / raw),
          print: perSecond,
          goal: goalOf({ ratio: { atLeast: 0.6 } }),
        },
        {
          name: 'bytes on disk, compared with the JSON text of the attributes',
          ours: [fs.statSync(log.daybook).size],
          theirs: [jsonBytes],
          print: megabytes,
          goal: goalOf({ ratio: { atMost: 1.8 } }),
        },
        await compressedRow(Math.min(log.events, 100_000)),
      ],
    },
  ]
}

const compressedRow = (events: number): Promise<Row> =>
  withTempFolder(async (folder) => {
    const filename = path.join(folder, 'compressed.db')
    const { jsonBytes } = await fillStore(
      { store: 'sqlite', filename, compression: 'deflate' },
      events,
    )
    return {
      name: `the same of ${whole(events)} events with \`compression: 'deflate'\``,
      ours: [fs.statSync(filename).size],
      theirs: [jsonBytes],
      print: megabytes,
    }
  })

const TITLES: { readonly [group in CaseGroup]: string } = {
  eq: 'Lists by eq on any attribute, compared with a scan with `json_extract`',
  common: 'Lists of common values, and pages, compared with SQL with the ideal index',
  hard: 'Lists by start, or, several conditions, and sorts, compared with a scan with `json_extract`',
  cont: 'Lists by a rare substring, compared with a scan with `json_extract`',
}

type SideName = 'daybook' | 'ideal' | 'scan'

const daybookSide = (log: SqliteLog): Side => ({
  setup: { side: 'daybook', store: storeOf(log) },
  log,
  takes: () => true,
})

function sidesOf(log: SqliteLog): Record<SideName, Side> {
  const raw = { setup: { side: 'raw', filename: log.raw }, log } as const
  return {
    daybook: daybookSide(log),
    ideal: { ...raw, isIdeal: true, takes: ({ ideal }) => ideal !== undefined },
    scan: { ...raw, takes: ({ group }) => group !== 'common' },
  }
}

function makeIndexes({ raw }: SqliteLog): void {
  const database = new Database(raw)
  for (const { ideal } of QUERY_CASES)
    if (ideal && ideal[0] !== 'created_at') makeIdealIndex(database, ideal)
  database.pragma('wal_checkpoint(TRUNCATE)')
  database.close()
}

const GOALS: { readonly [group in CaseGroup]: Goal } = {
  eq: { figure: { atMost: 2 }, ratio: { atLeast: 1000 } },
  common: { ratio: { atMost: 3 } },
  hard: { figure: { atMost: 10 } },
  cont: { ratio: { atLeast: 20 } },
}

/** Common queries say how many times as long as with the ideal index they take; the others are compared with a scan. */
function listRow(log: SqliteLog, { name, group }: QueryCase, times: SideTimes<SideName>): Row {
  const { daybook, scan, ideal } = times
  const isFaster = scan !== undefined
  const note = `p99 ${milliseconds(p99Of(daybook!))}`
  return {
    name,
    ours: mediansOf(daybook!),
    theirs: mediansOf(scan ?? ideal!),
    print: milliseconds,
    isFaster,
    note:
      isFaster && ideal ? `${note}; ideal index ${milliseconds(median(mediansOf(ideal)))}` : note,
    goal: isMillion(log) ? GOALS[group] : undefined,
  }
}

async function lists(log: SqliteLog, { rounds }: Options): Promise<Table[]> {
  const compared = await compareSides(QUERY_CASES, sidesOf(log), rounds)
  return Object.entries(TITLES).map(([group, title]) => ({
    title,
    rows: [...compared]
      .filter(([one]) => one.group === group)
      .map(([one, times]) => listRow(log, one, times)),
  }))
}

/** The smaller logs that a log is compared with. */
const SMALLER = [10_000, 100_000]

/** Common queries must not take longer in a larger log. */
async function growth(log: SqliteLog, { folder, rounds }: Options): Promise<Table[]> {
  const cases = QUERY_CASES.filter(({ group }) => group === 'common' || group === 'eq')
  const tables: Table[] = []
  for (const events of SMALLER.filter((events) => events < log.events)) {
    const sides = { large: daybookSide(log), small: daybookSide(await openLog(events, folder)) }
    const compared = await compareSides(cases, sides, rounds)
    const rows = [...compared].map(([{ name, group }, { large, small }]): Row => ({
      name,
      ours: mediansOf(large!),
      theirs: mediansOf(small!),
      print: milliseconds,
      goal: group === 'eq' ? undefined : { ratio: { atMost: 1.5 } },
    }))
    tables.push({
      title: `Growth: ${whole(log.events)} events compared with ${whole(events)}`,
      rows,
    })
  }
  return tables
}

export const suite = defineSuite<SqliteLog>({
  async setUp({ events, folder }, use) {
    const log = await openLog(events, folder)
    makeIndexes(log)
    await use(log)
  },
  parts: {
    upkeep,
    lists,
    growth,
    cold: (log, { rounds }) => coldTables(log, rounds),
    memory: (log, { rounds }) => memoryTables(log, rounds),
    counts: (log, { rounds }) => countTables(storeOf(log), log.events, rounds),
    'free-text': (log, { rounds }) => textTables(storeOf(log), log, rounds),
  },
})
