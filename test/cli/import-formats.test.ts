import path from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { queryDuckDb } from '../support/duckdb.js'
import { tempDir } from '../support/temp.js'
import { runCli } from './run-cli.js'

/*
 * Records of real systems, imported, listed and exported by the command line. DuckDB counts the events of each type
 * in the exported files, and the results must be the counts of the log. The complete logs are not part of this
 * project: DAYBOOK_TEST_DATA names their folder.
 */

const root = path.resolve(import.meta.dirname, '../..')
const FIXTURES = path.join(root, 'test/fixtures/security-datasets')
const WHOLE = process.env['DAYBOOK_TEST_DATA']

interface RealLog {
  readonly preset: string
  readonly file: string
  readonly events: number
}

const LOGS: readonly RealLog[] = [
  { preset: 'cloudtrail', file: path.join(FIXTURES, 'aws-cloudtrail.ndjson.gz'), events: 103 },
  { preset: 'windows', file: path.join(FIXTURES, 'windows-security.ndjson.gz'), events: 220 },
]
const WHOLE_LOGS: readonly RealLog[] =
  WHOLE === undefined
    ? []
    : [{ preset: 'windows', file: path.join(WHOLE, 'windows-security.ndjson.gz'), events: 25_993 }]

let temp: ReturnType<typeof tempDir>
beforeEach(() => {
  temp = tempDir()
})
afterEach(() => temp.remove())

async function run(...args: readonly string[]): Promise<string> {
  const { exit, stdout, stderr } = await runCli(args)
  expect([exit, stderr]).toEqual([0, ''])
  return stdout
}

type Counts = Readonly<Record<string, number>>

const countsOf = (rows: Iterable<readonly [type: string, count: number]>): Counts =>
  Object.fromEntries([...rows].toSorted(([one], [other]) => (one < other ? -1 : 1)))

/** The number of events of each type in the list, page by page. */
async function listedCounts(log: string): Promise<Counts> {
  const counts = new Map<string, number>()
  let after = ''
  for (;;) {
    const query = `filter[sorts]=created_at asc&limit=1000${after}`
    const lines = (await run('list', log, query, '--json')).split('\n').slice(0, -1)
    const events = lines.map((line) => JSON.parse(line) as { type: string; created_at: string })
    for (const { type } of events) counts.set(type, (counts.get(type) ?? 0) + 1)
    const last = events.at(-1)
    if (!last) return countsOf(counts)
    after = `&filter[created_at_gt]=${last.created_at}`
  }
}

async function storedCounts(log: string): Promise<Counts> {
  const output = await run('count', log, '--by', 'type', '--top', '1000', '--json')
  const { values } = JSON.parse(output) as { values: { value: string; count: number }[] }
  return countsOf(values.map(({ value, count }) => [value, count]))
}

/** DuckDB has the counts of 64 bits as text. */
const duckCounts = (rows: readonly Readonly<Record<string, unknown>>[]): Counts =>
  countsOf(rows.map(({ type, count }) => [type as string, Number(count)]))

async function compareCounts({ preset, file, events }: RealLog): Promise<void> {
  const log = temp.file('audit.db')
  const [parquet, ocsf] = [temp.file('events.parquet'), temp.file('events.ocsf.ndjson')]
  await run('import', log, file, '--preset', preset)
  await run('export', log, '--format', 'parquet', '--out', parquet)
  await run('export', log, '--format', 'ocsf', '--out', ocsf)
  const stored = await storedCounts(log)
  expect(Object.values(stored).reduce((sum, count) => sum + count, 0)).toBe(events)
  expect(await listedCounts(log)).toEqual(stored)
  const [inParquet, inOcsf] = await queryDuckDb(
    `SELECT type, count(*) AS count FROM '${parquet}' GROUP BY ALL`,
    `SELECT json->>'$.metadata.event_code' AS type, count(*) AS count
     FROM read_ndjson_objects('${ocsf}') GROUP BY ALL`,
  )
  expect(duckCounts(inParquet!)).toEqual(stored)
  expect(duckCounts(inOcsf!)).toEqual(stored)
}

describe('real records, counted by DuckDB in Parquet and OCSF as by the log', () => {
  it.each([...LOGS, ...WHOLE_LOGS])('of $preset, $events records', compareCounts, 240_000)
})
