/*
 * How fast questions are answered on Postgres, beside SQL written by hand on a table of jsonb that is
 * scanned, and `record` beside plain inserts into that table:
 *
 *   npm run build
 *   npm install --prefix benchmarks/peers
 *   npx tsx --tsconfig benchmarks/tsconfig.json benchmarks/postgres-queries.ts \
 *     [--size 10k|100k|1m] [--rounds 3] [--seconds 2]
 *
 * The server is one of our own, as durable as Postgres is by default, filled through `record`. The
 * same questions as on SQLite; both sides have to find the same events in the same order. Larger logs than
 * of a million events are not made here.
 */
import pg from 'pg'
import { startOwnPostgres } from '../../test/support/postgres.js'
import { askAll, type Found, mediansOf, p99Of, type Side } from '../harness/compare.js'
import { type Aim, aimFor, ratios, type Row, rowOf, tell } from '../harness/results.js'
import type { Job, Sample, Setup, Stretch } from '../targets/log-process.js'
import { readSized, SIZES } from '../harness/options.js'
import { milliseconds, type Print, whole } from '../harness/format.js'
import { PLAIN_TABLE } from '../targets/jsonb-table.js'
import { type Outcome, startCrew } from '../targets/worker-pool.js'
import { peerVersion } from '../harness/peers.js'
import { type Material, QUERY_CASES, type QueryCase } from '../harness/query-cases.js'
import { takeTurns } from '../harness/rounds.js'
import { Worker } from '../harness/workers.js'

const SETTINGS = [
  ...['fsync=on', 'synchronous_commit=on', 'full_page_writes=on', 'shared_buffers=512MB'],
  'max_wal_size=4GB',
]
const MOST_IN_STRETCH = 50_000
const MOST_EVENTS = SIZES['1m']

const perSecond: Print = (value) => `${whole(value)}/s`

/** Records so many events; gives what queries may ask for. */
async function fill(url: string, events: number): Promise<Material> {
  const setup: Setup = { kind: 'record', store: { store: 'postgres', url } }
  const writer = await Worker.start<Job, Stretch>('log-process.ts', setup)
  const samples: Sample[] = []
  const sampled = Math.max(1, Math.floor(events / 500))
  for (let done = 0; done < events; done += MOST_IN_STRETCH) {
    const count = Math.min(MOST_IN_STRETCH, events - done)
    const stretch = await writer.ask({ events: count, sampled })
    samples.push(...stretch.samples)
    console.error(`Postgres, ${whole(done + count)} of ${whole(events)}`)
  }
  await writer.ask('end')
  await writer.end()
  return { events, samples }
}

async function makePlain(url: string): Promise<void> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  await client.query(PLAIN_TABLE)
  await client.query(
    `INSERT INTO plain_jsonb
     SELECT created_at, type, username, attributes::text::jsonb FROM daybook.events`,
  )
  await client.query('VACUUM ANALYZE plain_jsonb')
  await client.query('VACUUM ANALYZE daybook.events')
  await client.query('CHECKPOINT')
  await client.end()
}

function aimsOf({ group }: QueryCase, toScan: number[], ours: number[], events: number): Aim[] {
  if (events < MOST_EVENTS) return []
  switch (group) {
    case 'eq':
      return [aimFor('below', 5, ours, milliseconds)]
    case 'common':
    case 'hard':
      return [aimFor('below', 30, ours, milliseconds)]
    case 'cont':
      return [aimFor('atLeast', 20, toScan, undefined, 'as fast as the scan')]
  }
}

function caseRow(
  one: QueryCase,
  events: number,
  { daybook, scan }: Found<'daybook' | 'scan'>,
): Row {
  const [ours, theirs] = [mediansOf(daybook!), mediansOf(scan!)]
  const toScan = ratios(theirs, ours)
  return rowOf({
    group: `Queries, Postgres, ${whole(events)} events, beside a scan of a jsonb table`,
    name: one.name,
    daybook: ours,
    reference: { figures: theirs },
    ratio: toScan,
    print: milliseconds,
    note: `p99 ${milliseconds(p99Of(daybook!))}`,
    aims: aimsOf(one, toScan, ours, events),
  })
}

async function queryRows(events: number, rounds: number): Promise<Row[]> {
  const server = await startOwnPostgres(SETTINGS)
  try {
    const log = await fill(server.url, events)
    await makePlain(server.url)
    const isAsked: Side['isAsked'] = () => true
    const store = { store: 'postgres', url: server.url } as const
    const sides = {
      daybook: { setup: { side: 'daybook', store }, log, isAsked },
      scan: { setup: { side: 'plain', url: server.url }, log, isAsked },
    } as const
    const found = await askAll(QUERY_CASES, sides, rounds)
    return [...found].map(([one, times]) => caseRow(one, events, times))
  } finally {
    await server.stop()
  }
}

const BESIDE = ['jsonb', 'emmett', 'pg-boss'] as const
const SUBJECTS = ['record', ...BESIDE] as const
const IN_FLIGHT = 1000

async function ingestRows(rounds: number, seconds: number): Promise<Row[]> {
  const crew = await startCrew()
  const found = await takeTurns({
    cases: [crew],
    sides: SUBJECTS,
    rounds,
    measure(_, subject) {
      const calls =
        subject === 'jsonb' ? { batch: 100, inFlight: 1 } : { batch: 1, inFlight: IN_FLIGHT }
      return crew.run(1, { subject, ...calls, seconds })
    },
    tell: (_, outcomes) =>
      SUBJECTS.map((name) => `${name} ${whole(outcomes[name].eventsPerSecond)}`).join(', '),
  })
  await crew.end()
  const { record, ...others } = found.get(crew)!
  const ratesOf = (outcomes: readonly Outcome[]): number[] =>
    outcomes.map(({ eventsPerSecond }) => eventsPerSecond)
  const beside = (subject: (typeof BESIDE)[number], name: string, least: number): Row => {
    const [ours, theirs] = [ratesOf(record), ratesOf(others[subject])]
    const ratio = ratios(ours, theirs)
    return rowOf({
      group: `Recording, Postgres: \`record()\`, ${whole(IN_FLIGHT)} calls in flight, as durable`,
      name,
      daybook: ours,
      reference: { figures: theirs },
      ratio,
      print: perSecond,
      aims: [aimFor('atLeast', least, ratio)],
    })
  }
  const emmett = '@event-driven-io/emmett-postgresql'
  const atOnce = `an event a call, ${whole(IN_FLIGHT)} in flight`
  return [
    beside('jsonb', 'beside inserts into a plain jsonb table, batches of 100', 0.45),
    beside('emmett', `beside emmett-postgresql ${peerVersion(emmett)}, ${atOnce}`, 1),
    beside('pg-boss', `beside pg-boss ${peerVersion('pg-boss')}, ${atOnce}`, 1),
  ]
}

const { size, rounds, seconds, rows } = readSized({ rounds: 3 })
const events = Math.min(SIZES[size], MOST_EVENTS)
tell([...(await queryRows(events, rounds)), ...(await ingestRows(rounds, seconds))], rows)
