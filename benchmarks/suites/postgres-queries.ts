import pg from 'pg'
import { compareSides, mediansOf, p99Of } from '../harness/compare.js'
import { milliseconds, whole } from '../harness/format.js'
import type { Options } from '../harness/options.js'
import { withPostgres } from '../harness/postgres-server.js'
import { type CaseGroup, type Material, QUERY_CASES } from '../harness/query-cases.js'
import { defineSuite, type Goal, type Row, type Table } from '../harness/suite.js'
import { JSONB_TABLE } from '../targets/jsonb-table.js'
import { fillStore } from '../targets/sample-logs.js'
import { countTables, textTables } from './searches.js'

/*
 * One log on Postgres, compared with handwritten SQL that scans a table of jsonb. The queries and counts are those of the
 * SQLite suite; both sides of a query must return the same events in the same order.
 */

interface Log extends Material {
  readonly url: string
}

async function copyToJsonbTable(url: string): Promise<void> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  await client.query(JSONB_TABLE)
  await client.query(
    `INSERT INTO plain_jsonb
     SELECT created_at, type, username, attributes::text::jsonb FROM daybook.events`,
  )
  await client.query('VACUUM ANALYZE plain_jsonb')
  await client.query('VACUUM ANALYZE daybook.events')
  await client.query('CHECKPOINT')
  await client.end()
}

const GOALS: { readonly [group in CaseGroup]: Goal } = {
  eq: { figure: { atMost: 5 } },
  common: { figure: { atMost: 30 } },
  hard: { figure: { atMost: 30 } },
  cont: { ratio: { atLeast: 20 } },
}

async function lists({ url, ...log }: Log, { rounds }: Options): Promise<Table[]> {
  const common = { log, takes: () => true }
  const sides = {
    daybook: { ...common, setup: { side: 'daybook', store: { store: 'postgres', url } } },
    scan: { ...common, setup: { side: 'jsonb', url } },
  } as const
  const compared = await compareSides(QUERY_CASES, sides, rounds)
  const rows = [...compared].map(([{ name, group }, { daybook, scan }]): Row => ({
    name,
    ours: mediansOf(daybook!),
    theirs: mediansOf(scan!),
    print: milliseconds,
    isFaster: true,
    note: `p99 ${milliseconds(p99Of(daybook!))}`,
    goal: log.events < 1e6 ? undefined : GOALS[group],
  }))
  const title = `Lists of ${whole(log.events)} events, compared with a scan of a jsonb table`
  return [{ title, rows }]
}

export const suite = defineSuite<Log>({
  setUp: ({ events }, use) =>
    withPostgres(async (url) => {
      const { samples } = await fillStore({ store: 'postgres', url }, events)
      await copyToJsonbTable(url)
      await use({ url, events, samples })
    }),
  parts: {
    lists,
    counts: ({ url, events }, { rounds }) =>
      countTables({ store: 'postgres', url }, events, rounds),
    'free-text': ({ url, ...log }, { rounds }) =>
      textTables({ store: 'postgres', url }, log, rounds),
  },
})
