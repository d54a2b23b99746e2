import { setTimeout as delay } from 'node:timers/promises'
import { AuditLogs } from 'daybook'
import { postgresLogs } from 'daybook/postgres'
import pg from 'pg'
import { milliseconds, short, whole, type Print } from '../harness/format.js'
import type { Options } from '../harness/options.js'
import { startServer } from '../harness/postgres-server.js'
import { defineSuite, type Row, type Table } from '../harness/suite.js'

/* Many logs on one Postgres server: the catalogue, disk and connections that they take, and the time of reads of one, some and all. */

const TYPES = { note: {} } as const
const APPLICATION = 'many_logs'
/** Logs that are created at a time. */
const CREATORS = 4
/** Most logs in one query over HTTP. */
const SOME = 100
/** Logs that are opened one by one. */
const SAMPLE = 100
const CONNECTIONS = 10
const MEBIBYTE = 1024 * 1024
const KEYS_PAGE = 1000

const COUNTED = {
  'rows of `pg_class`': 'SELECT count(*) FROM pg_class',
  'rows of `pg_attribute`': 'SELECT count(*) FROM pg_attribute',
  'rows of `pg_proc`': 'SELECT count(*) FROM pg_proc',
  'rows of `pg_depend`': 'SELECT count(*) FROM pg_depend',
  'KiB of the database': 'SELECT pg_database_size(current_database()) / 1024',
} as const

type Counted = Readonly<Record<keyof typeof COUNTED, number>>

const TRANSACTIONS = `
  SELECT sum(xact_commit) FROM pg_stat_database WHERE datname = current_database()`
/** Sessions report their transactions after a second. */
const SETTLED_MS = 3000
const IDLE_MS = 5000

const OURS = `SELECT count(*) FROM pg_stat_activity WHERE application_name = '${APPLICATION}'`

const keyOf = (i: number): string => `t${String(i).padStart(6, '0')}`

async function timed(act: () => Promise<unknown>): Promise<number> {
  const start = performance.now()
  await act()
  return performance.now() - start
}

const memoryOf = (): number => process.memoryUsage().rss / MEBIBYTE

async function valueOf(client: pg.Client, sql: string): Promise<number> {
  const { rows } = await client.query<[string]>({ text: sql, rowMode: 'array' })
  return Number(rows[0]![0])
}

async function countAll(client: pg.Client): Promise<Counted> {
  const counted: [name: string, value: number][] = []
  for (const [name, sql] of Object.entries(COUNTED))
    counted.push([name, await valueOf(client, sql)])
  return Object.fromEntries(counted) as Counted
}

/** Creates the logs, each by its first event. Returns the milliseconds of each. */
async function create(logs: AuditLogs<typeof TYPES>, count: number): Promise<readonly number[]> {
  const took: number[] = []
  let next = 0
  const work = async (): Promise<void> => {
    while (next < count) {
      const key = keyOf(next++)
      took.push(await timed(() => logs.log(key).record('note')))
      if (took.length % 500 === 0) console.error(`${took.length} of ${count} logs`)
    }
  }
  await Promise.all(Array.from({ length: CREATORS }, work))
  return took
}

const row = (name: string, ours: number | readonly number[], print: Print = milliseconds): Row => ({
  name,
  ours: typeof ours === 'number' ? [ours] : ours,
  print,
})

interface Opened {
  readonly open: () => AuditLogs<typeof TYPES>
  readonly client: pg.Client
  readonly count: number
}

async function measureOne({ open, count }: Opened): Promise<Row[]> {
  await using logs = open()
  const [first, second, counts]: [number[], number[], number[]] = [[], [], []]
  // The first one also opens a connection.
  await logs.log(keyOf(0)).list({ limit: 1 })
  const sample = Math.min(SAMPLE, count - 1)
  for (let i = 0; i < sample; i++) {
    const log = logs.log(keyOf(1 + Math.floor((i * (count - 1)) / sample)))
    first.push(await timed(() => log.list({ limit: 1 })))
    second.push(await timed(() => log.list({ limit: 1 })))
    counts.push(await timed(() => log.count()))
  }
  return [
    row('first list of a log, which opens it', first),
    row('second list of it', second),
    row('count of it', counts),
  ]
}

async function measureAcross(
  { open, client, count: all }: Opened,
  wanted?: readonly string[],
): Promise<Row[]> {
  await using logs = open()
  const before = memoryOf()
  const name = wanted ? `${wanted.length} logs` : `all ${whole(all)} logs`
  const options = { logs: wanted }
  const list = () => logs.list({ limit: 100 }, options)
  const first = await timed(list)
  const connections = await valueOf(client, OURS)
  const again = await timed(list)
  const count = await timed(() => logs.count({}, { ...options, within: 60_000 }))
  const pages = await timed(async () => {
    for await (const _events of logs.pages({ filter: { s: 'created_at asc' } }, options));
  })
  return [
    row(`list of ${name}, first`, first),
    row(`list of ${name}, again`, again),
    row(`count of ${name}`, count),
    row(`pages of ${name}`, pages),
    row(`connections while ${name} are read`, connections, whole),
    row(`MiB of memory of the process, more than before`, memoryOf() - before, short),
  ]
}

/** Follows some logs while another process, which has stores of its own, records in them one after the other. */
async function measureTail({ open, client }: Opened, keys: readonly string[]): Promise<Row[]> {
  await using logs = open()
  await using other = open()
  const tail = logs.tail('filter[n_eq]=1', { logs: keys })
  const first = tail.next()
  while (tail.cursor === undefined) await delay(5)
  await delay(SETTLED_MS)
  const before = await valueOf(client, TRANSACTIONS)
  await delay(IDLE_MS)
  const transactions = ((await valueOf(client, TRANSACTIONS)) - before) / (IDLE_MS / 1000)
  const recordedAt = new Map<string, number>()
  const latencies: number[] = []
  const receive = async (): Promise<void> => {
    for (let { value } = await first; value; { value } = await tail.next()) {
      latencies.push(performance.now() - (recordedAt.get(value.log) ?? performance.now()))
      if (latencies.length === keys.length) return
    }
  }
  const receiving = receive()
  for (const key of keys) {
    recordedAt.set(key, performance.now())
    await other.log(key).record('note', { n: 1 })
  }
  await receiving
  await tail.return()
  return [
    row(`tail of ${keys.length} logs, from the call of record`, latencies),
    row(
      `transactions/s of the server, while the tail of ${keys.length} logs waits`,
      transactions,
      whole,
    ),
  ]
}

async function measureKeys({ open, count }: Opened): Promise<Row[]> {
  await using logs = open()
  const took = await timed(async () => {
    for (let after: string | undefined, found = KEYS_PAGE; found === KEYS_PAGE;) {
      const keys = await logs.keys({ after, limit: KEYS_PAGE })
      found = keys.length
      after = keys.at(-1)
    }
  })
  return [row(`keys of all ${whole(count)} logs`, took)]
}

async function logs({ open, client, count }: Opened): Promise<Table[]> {
  const opened = { open, client, count }
  const before = await countAll(client)
  const creating = open()
  const created = await create(creating, count)
  await creating.close()
  const after = await countAll(client)
  const perLog = (Object.keys(COUNTED) as (keyof Counted)[]).map((name) =>
    row(`${name}, for each log`, (after[name] - before[name]) / count, whole),
  )
  const some = Array.from({ length: Math.min(SOME, count) }, (_, i) => keyOf(i))
  return [
    {
      title: `${whole(count)} logs with one event each`,
      text: `At most ${CONNECTIONS} connections and 100 open logs. Single calls; reads of many logs ran once.`,
      rows: [
        row(`creating a log with its first event, ${CREATORS} at a time`, created),
        ...perLog,
        ...(await measureKeys(opened)),
        ...(await measureOne(opened)),
        ...(await measureAcross(opened, some)),
        ...(await measureTail(opened, some)),
        ...(await measureAcross(opened)),
      ],
    },
  ]
}

async function setUp(
  { logs: count }: Options,
  use: (opened: Opened) => Promise<void>,
): Promise<void> {
  const server = await startServer('max_connections=60', 'max_locks_per_transaction=256')
  const client = new pg.Client({ connectionString: server.url })
  try {
    await client.connect()
    const url = new URL(server.url)
    url.searchParams.set('application_name', APPLICATION)
    const open = (): AuditLogs<typeof TYPES> =>
      new AuditLogs({
        stores: postgresLogs({ connectionString: url.href, maxConnections: CONNECTIONS }),
        types: TYPES,
        // A checkpoint may hold up the creation of a log for seconds.
        waiting: { deadlineMs: 60_000 },
      })
    await use({ open, client, count })
  } finally {
    await client.end()
    await server.stop()
  }
}

export const suite = defineSuite<Opened>({ setUp, parts: { logs } })
