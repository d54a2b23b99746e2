import fs from 'node:fs'
import { setTimeout as delay } from 'node:timers/promises'
import { AuditLogs, type LogStores } from 'daybook'
import { postgresLogs } from 'daybook/postgres'
import { sqliteLogs } from 'daybook/sqlite'
import pg from 'pg'
import { median } from 'simple-statistics'
import { createRandom } from '../../benchmarks/harness/random.js'
import { startOwnPostgres } from '../support/postgres.js'
import { tempDir } from '../support/temp.js'
import type { Campaign, CampaignRun } from './run.js'

/*
 * Many logs on one Postgres server, or with `--store sqlite` in one folder. Each round adds 100 logs, so 10 rounds
 * make 1,000. After each round all logs are listed, counted and exported together, and compared with the recorded
 * events. Another process records while a tail follows 100 of the logs. At the end, idle logs must not cause any
 * activity.
 */

const LOGS_PER_ROUND = 100
const EVENTS_PER_LOG = 5
const CONNECTIONS = 10
const FOLLOWED = 100
const APPLICATION = 'many_logs'
const TYPES = { note: {} } as const
const IDLE_MS = 1000
const LISTENING_MS = 30_000
const OBSERVED_IDLE_MS = 5000
const MEBIBYTE = 1024 * 1024

interface Place {
  open(): LogStores
  /** Figures of the server or the folder. */
  figures(): Promise<Record<string, number>>
  /**
   * Number of connections of this process, number of its listening connections, and a number that changes with each
   * statement.
   */
  activity(): Promise<{ connections: number; listening: number; statements: number } | undefined>
  remove(): Promise<void>
}

function sqlitePlace(): Place {
  const temp = tempDir()
  return {
    open: () => sqliteLogs({ directory: temp.dir }),
    async figures() {
      const sizes = fs.readdirSync(temp.dir).map((name) => fs.statSync(temp.file(name)).size)
      const bytes = sizes.reduce((sum, size) => sum + size, 0)
      return { files: sizes.length, 'disk MiB': Math.round(bytes / MEBIBYTE) }
    },
    activity: async () => undefined,
    remove: async () => temp.remove(),
  }
}

async function postgresPlace(): Promise<Place> {
  const server = await startOwnPostgres(['max_connections=40'])
  const client = new pg.Client({ connectionString: server.url })
  await client.connect()
  const value = async (sql: string): Promise<number> => {
    const { rows } = await client.query<{ value: string }>(`SELECT (${sql})::text AS value`)
    return Number(rows[0]!.value)
  }
  const url = new URL(server.url)
  url.searchParams.set('application_name', APPLICATION)
  const ours = `FROM pg_stat_activity WHERE application_name = '${APPLICATION}'`
  return {
    open: () => postgresLogs({ connectionString: url.href, maxConnections: CONNECTIONS }),
    async figures() {
      return {
        'rows of pg_class': await value('SELECT count(*) FROM pg_class'),
        'rows of pg_attribute': await value('SELECT count(*) FROM pg_attribute'),
        'rows of pg_proc': await value('SELECT count(*) FROM pg_proc'),
        'disk MiB': Math.round(
          (await value('SELECT pg_database_size(current_database())')) / MEBIBYTE,
        ),
      }
    },
    async activity() {
      return {
        connections: await value(`SELECT count(*) ${ours}`),
        listening: await value(
          `SELECT count(DISTINCT pid) FROM pg_locks WHERE locktype = 'advisory' AND mode = 'ShareLock'`,
        ),
        statements: await value(`SELECT coalesce(max(extract(epoch FROM query_start)), 0) ${ours}`),
      }
    },
    async remove() {
      await client.end()
      await server.stop()
    },
  }
}

const rounded = (ms: number): number => Math.round(ms * 100) / 100

async function timed<Result>(act: () => Promise<Result>): Promise<readonly [Result, number]> {
  const start = performance.now()
  const result = await act()
  return [result, performance.now() - start]
}

/** The activity once a connection listens. Listening begins a moment after the start of the tail is known. */
async function whileListening(place: Place): ReturnType<Place['activity']> {
  for (const end = performance.now() + LISTENING_MS; ; await delay(100)) {
    const activity = await place.activity()
    if (!activity || activity.listening > 0 || performance.now() > end) return activity
  }
}

/** Follows some logs while another process records in them. */
async function follow(
  place: Place,
  logs: AuditLogs,
  keys: readonly string[],
  run: CampaignRun,
): Promise<number> {
  const other: AuditLogs = new AuditLogs({ stores: place.open(), types: TYPES })
  const tail = logs.tail('filter[followed_true]=1', { logs: keys })
  const start = performance.now()
  const first = tail.next()
  while (tail.cursor === undefined) await delay(5)
  const activity = await whileListening(place)
  if (activity && activity.connections > 2 * CONNECTIONS + 2)
    run.failed(`${activity.connections} connections`)
  const recorded = new Set<string>()
  for (const key of keys)
    recorded.add((await other.log(key).recordCustom('note', { followed: true }))!.id)
  const found = new Set([(await first).value!.event.id])
  while (found.size < recorded.size) found.add((await tail.next()).value!.event.id)
  for (const id of recorded) if (!found.has(id)) run.failed(`the tail has missed ${id}`)
  if (activity && activity.listening !== 1) run.failed(`${activity.listening} connections listen`)
  await tail.return()
  await other.close()
  return performance.now() - start
}

async function compare(logs: AuditLogs, recorded: ReadonlySet<string>, run: CampaignRun) {
  const [counts, countMs] = await timed(() => logs.count({}, { within: 60_000 }))
  if (counts.total !== recorded.size)
    run.failed(`counted ${counts.total} of ${recorded.size} events`)
  const [page, listMs] = await timed(() => logs.list({ limit: 100 }))
  if (page.events.length !== 100) run.failed(`listed ${page.events.length} events`)
  const exported = new Set<string>()
  let last = ''
  const [, exportMs] = await timed(async () => {
    for await (const events of logs.pages({ filter: { s: 'created_at asc' } }))
      for (const { event, log } of events) {
        const place = `${event.created_at} ${log}`
        if (place <= last || exported.has(event.id)) run.failed(`${place} is not in order`)
        last = place
        exported.add(event.id)
      }
  })
  for (const id of recorded) if (!exported.has(id)) run.failed(`the export lacks ${id}`)
  return { countMs, listMs, exportMs }
}

/** Nothing may run once all logs are closed. */
async function checkIdle(place: Place, logs: AuditLogs, run: CampaignRun): Promise<void> {
  while (logs.openCount > 0) await delay(100)
  const before = await place.activity()
  await delay(OBSERVED_IDLE_MS)
  const after = await place.activity()
  if (before && after && before.statements !== after.statements)
    run.failed('statements run while all logs are idle')
}

async function runCampaign(run: CampaignRun): Promise<object> {
  const place = run.store === 'sqlite' ? sqlitePlace() : await postgresPlace()
  const random = createRandom(run.seed)
  const recorded = new Set<string>()
  const keys: string[] = []
  const [created, opened]: [number[], number[]] = [[], []]
  const before = await place.figures()
  const end = performance.now() + (run.seconds ?? Infinity) * 1000
  let figures: Record<string, number> = {}
  const logs: AuditLogs = new AuditLogs({ stores: place.open(), types: TYPES, idleMs: IDLE_MS })
  try {
    for (let round = 0; round < run.rounds && performance.now() < end; round++) {
      for (let i = 0; i < LOGS_PER_ROUND; i++) {
        const key = `t${String(keys.length).padStart(5, '0')}`
        const [event, ms] = await timed(() => logs.log(key).recordCustom('note', { n: 0 }))
        keys.push(key)
        created.push(ms)
        recorded.add(event!.id)
      }
      for (let i = 0; i < LOGS_PER_ROUND * EVENTS_PER_LOG; i++) {
        const key = keys[random.below(keys.length)]!
        recorded.add((await logs.log(key).recordCustom('note', { n: i }))!.id)
      }
      const fresh: AuditLogs = new AuditLogs({ stores: place.open(), types: TYPES })
      for (let i = 0; i < 20; i++) {
        const key = keys[random.below(keys.length)]!
        opened.push((await timed(() => fresh.log(key).list({ limit: 1 })))[1])
      }
      await fresh.close()
      const across = await compare(logs, recorded, run)
      const followed = keys.slice(-FOLLOWED)
      const followMs = await follow(place, logs, followed, run)
      for (const { event } of (
        await logs.list({ filter: { followed_true: 1 }, limit: 1000 }, { logs: followed })
      ).events)
        recorded.add(event.id)
      figures = {
        'list of all logs ms': rounded(across.listMs),
        'count of all logs ms': rounded(across.countMs),
        'export of all logs ms': rounded(across.exportMs),
        'tail of 100 logs ms': rounded(followMs),
      }
      console.log({ round, logs: keys.length, ...figures })
    }
    await checkIdle(place, logs, run)
    const after = await place.figures()
    const perLog = Object.fromEntries(
      Object.entries(after).map(([name, value]) => [
        `${name} per log`,
        rounded((value - before[name]!) / keys.length),
      ]),
    )
    return {
      logs: keys.length,
      events: recorded.size,
      'create and first record ms': rounded(median(created)),
      'open and list ms': rounded(median(opened)),
      ...figures,
      ...perLog,
      'resident memory MiB': Math.round(process.memoryUsage().rss / MEBIBYTE),
      'heap MiB': Math.round(process.memoryUsage().heapUsed / MEBIBYTE),
    }
  } finally {
    await logs.close()
    await place.remove()
  }
}

export const campaign: Campaign = { rounds: 10, run: runCampaign }
