import pg from 'pg'
import { compareSides, mediansOf, p99Of, type SideTimes } from '../harness/compare.js'
import { milliseconds, perSecond, ratios, whole } from '../harness/format.js'
import { type Size, SIZES, type TimedOptions } from '../harness/options.js'
import { peerVersion } from '../harness/peers.js'
import { withPostgres } from '../harness/postgres-server.js'
import { type Material, QUERY_CASES, type QueryCase, type Sample } from '../harness/query-cases.js'
import { goalFor, type Goal, type Row, rowOf } from '../harness/results.js'
import { runRounds } from '../harness/rounds.js'
import { JSONB_TABLE } from '../targets/jsonb-table.js'
import { closeWriter, sampleIntervalOf, startWriter } from '../targets/sqlite-log.js'
import { type Outcome, withWorkerPool } from '../targets/worker-pool.js'
import { countRows } from './counts.js'
import { freeTextRows } from './free-text.js'

/*
 * Queries on Postgres, compared with handwritten SQL that scans a table of jsonb, and `record`, compared
 * with inserts into that table and with peers. The server is as durable as Postgres is by default. The
 * queries and counts are those of the SQLite suites; both sides of a query must return the same events in the same
 * order.
 */

const MAX_CHUNK = 50_000

/** Records the events that are queried; returns samples of them. */
async function fill(url: string, events: number): Promise<Material> {
  const writer = await startWriter({ kind: 'record', store: { store: 'postgres', url } })
  const samples: Sample[] = []
  const sampleInterval = sampleIntervalOf(events)
  for (let done = 0; done < events; done += MAX_CHUNK) {
    const count = Math.min(MAX_CHUNK, events - done)
    const chunk = await writer.ask({ events: count, sampleInterval })
    samples.push(...chunk.samples)
    console.error(`Postgres, ${whole(done + count)} of ${whole(events)}`)
  }
  await closeWriter(writer)
  return { events, samples }
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

function goalsOf({ group }: QueryCase, toScan: number[], ours: number[]): Goal[] {
  switch (group) {
    case 'eq':
      return [goalFor('below', 5, ours, { print: milliseconds })]
    case 'common':
    case 'hard':
      return [goalFor('below', 30, ours, { print: milliseconds })]
    case 'cont':
      return [goalFor('atLeast', 20, toScan, { of: 'as fast as the scan' })]
  }
}

function caseRow(
  one: QueryCase,
  events: number,
  { daybook, scan }: SideTimes<'daybook' | 'scan'>,
): Row {
  const [ours, theirs] = [mediansOf(daybook!), mediansOf(scan!)]
  const toScan = ratios(theirs, ours)
  return rowOf({
    group: `Queries, Postgres, ${whole(events)} events, compared with a scan of a jsonb table`,
    name: one.name,
    daybook: ours,
    reference: { figures: theirs },
    ratio: toScan,
    print: milliseconds,
    note: `p99 ${milliseconds(p99Of(daybook!))}`,
    goals: events < SIZES['1m'] ? [] : goalsOf(one, toScan, ours),
  })
}

const queryRows = (events: number, rounds: number): Promise<Row[]> =>
  withPostgres(async (url) => {
    const log = await fill(url, events)
    await copyToJsonbTable(url)
    const common = { log, takes: () => true }
    const sides = {
      daybook: { ...common, setup: { side: 'daybook', store: { store: 'postgres', url } } },
      scan: { ...common, setup: { side: 'jsonb', url } },
    } as const
    const compared = await compareSides(QUERY_CASES, sides, rounds)
    return [
      ...[...compared].map(([one, times]) => caseRow(one, events, times)),
      ...(await countRows({ store: 'postgres', url }, events, rounds)),
      ...(await freeTextRows({ store: 'postgres', url }, log, rounds)),
    ]
  })

const REFERENCES = ['jsonb', 'emmett', 'pg-boss'] as const
const WRITERS = ['record', ...REFERENCES] as const
const IN_FLIGHT = 1000

async function recordRows({ rounds, seconds }: TimedOptions): Promise<Row[]> {
  const { record, ...others } = await withWorkerPool(async (pool) => {
    const results = await runRounds({
      cases: [pool],
      sides: WRITERS,
      rounds,
      measure(_, writer) {
        const calls =
          writer === 'jsonb' ? { batch: 100, inFlight: 1 } : { batch: 1, inFlight: IN_FLIGHT }
        return pool.run(1, { writer, ...calls, seconds })
      },
      describe: (_, outcomes) =>
        WRITERS.map((name) => `${name} ${perSecond(outcomes[name].eventsPerSecond)}`).join(', '),
    })
    return results.get(pool)!
  })
  const ratesOf = (outcomes: readonly Outcome[]): number[] =>
    outcomes.map(({ eventsPerSecond }) => eventsPerSecond)
  const comparedWith = (writer: (typeof REFERENCES)[number], name: string, min: number): Row => {
    const [ours, theirs] = [ratesOf(record), ratesOf(others[writer])]
    const ratio = ratios(ours, theirs)
    return rowOf({
      group: `Recording, Postgres: \`record()\`, ${whole(IN_FLIGHT)} calls in flight, equally durable`,
      chart: 'recording-postgres',
      name: `compared with ${name}`,
      daybook: ours,
      reference: { figures: theirs },
      ratio,
      print: perSecond,
      goals: [goalFor('atLeast', min, ratio)],
    })
  }
  const emmett = `emmett-postgresql ${peerVersion('@event-driven-io/emmett-postgresql')}`
  const calls = `one event per call, ${whole(IN_FLIGHT)} in flight`
  return [
    comparedWith('jsonb', 'inserts into a jsonb table, batches of 100', 0.45),
    comparedWith('emmett', `${emmett}, ${calls}`, 1),
    comparedWith('pg-boss', `pg-boss ${peerVersion('pg-boss')}, ${calls}`, 1),
  ]
}

export async function measure({
  size,
  ...options
}: TimedOptions & { readonly size: Size }): Promise<Row[]> {
  return [...(await queryRows(SIZES[size], options.rounds)), ...(await recordRows(options))]
}
