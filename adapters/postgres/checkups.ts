import { setTimeout as delay } from 'node:timers/promises'
import { type Checkup, checkup, unchecked } from '../../src/store/checkup.js'
import { ask, type PostgresPool, type PostgresPoolClient } from './connection/client.js'
import { withConnection } from './connection/connection.js'
import { ownerOf, readCommitSetting } from './log/commit-setting.js'
import { checkStoreOptions, type PostgresStoreOptions, readOptions } from './log/options.js'
import { checkRights } from './rights.js'
import { namesIn } from './schema/names.js'

const LISTEN_MS = 3000
const CLOCK_TOLERANCE_MS = 1000
const MAX_LAG_MS = 10_000

interface SafeSetting {
  readonly name: string
  readonly safe: RegExp
  readonly status: Exclude<Checkup['status'], 'pass'>
  readonly risk: string
}

const DAMAGE = 'a crash of the machine can damage the database'

const SAFE_SETTINGS: readonly SafeSetting[] = [
  { name: 'fsync', safe: /^on$/, status: 'fail', risk: DAMAGE },
  { name: 'full_page_writes', safe: /^on$/, status: 'fail', risk: DAMAGE },
  {
    name: 'default_transaction_read_only',
    safe: /^off$/,
    status: 'fail',
    risk: 'no event can be recorded',
  },
  {
    name: 'session_replication_role',
    safe: /^(?:origin|local)$/,
    status: 'warn',
    risk: 'changes of captured tables leave no event',
  },
]

/** Checks settings of the role, the database or the session that change recorded events, and settings that protect the data. */
async function checkSettings(client: PostgresPoolClient): Promise<Checkup[]> {
  const rows = await ask(
    client,
    `SELECT name, setting, source, boot_val FROM pg_catalog.pg_settings WHERE name = ANY ($1::text[])`,
    SAFE_SETTINGS.map(({ name }) => name),
  )
  return SAFE_SETTINGS.flatMap(({ name, safe, status, risk }): Checkup[] => {
    const [, value, source, normal] = rows.find(([setting]) => setting === name) ?? []
    if (value === undefined || value === null) return []
    const remedy = `set ${name} = ${normal} for ${ownerOf(source)}: ${risk}`
    return [checkup(name, safe.test(value), `${name} is ${value}`, { status, remedy })]
  })
}

async function checkCommits(client: PostgresPoolClient): Promise<Checkup> {
  const { value, risk, remedy } = await readCommitSetting(client)
  const name = 'synchronous_commit'
  if (risk !== undefined) return { name, status: 'warn', found: risk, remedy }
  const others =
    'only other users of the database lose commits; Daybook commits durably in any case'
  const fault = { status: 'warn', remedy: `${remedy}: ${others}` } as const
  return checkup(name, value !== 'off', `synchronous_commit is ${value}`, fault)
}

async function checkClock(client: PostgresPoolClient): Promise<Checkup> {
  const before = Date.now()
  const [row] = await ask(client, `SELECT extract(epoch FROM clock_timestamp()) * 1000`)
  const ahead = Number(row![0]) - (before + Date.now()) / 2
  const found = `the clock of the server differs by ${Math.abs(ahead / 1000).toFixed(1)} s from the one here`
  const remedy = 'synchronize both by NTP; events have the time of the server'
  const isRight = Math.abs(ahead) <= CLOCK_TOLERANCE_MS
  return checkup('clock', isRight, found, { status: 'warn', remedy })
}

async function checkStandbys(client: PostgresPoolClient): Promise<Checkup[]> {
  const rows = await ask(
    client,
    `SELECT application_name, sync_state, COALESCE(extract(epoch FROM replay_lag) * 1000, 0)
     FROM pg_stat_replication`,
  )
  return rows.map(([name, state, lag]) => {
    const found = `the standby ${String(name)} (${String(state)}) is ${(Number(lag) / 1000).toFixed(1)} s behind`
    const remedy = 'look at its load and its network; reads from it are late'
    return checkup('standby', Number(lag) <= MAX_LAG_MS, found, { status: 'warn', remedy })
  })
}

/** Checks that a notification arrives. A pooler in transaction mode loses it. */
async function checkListen(pool: PostgresPool, client: PostgresPoolClient): Promise<Checkup> {
  const channel = 'daybook_checkup'
  const arrived = new Promise<boolean>((resolve) => {
    client.on('notification', () => resolve(true))
  })
  await ask(client, `LISTEN ${channel}`)
  const { signal } = new AbortController()
  await withConnection(pool, signal, (other) => ask(other, `NOTIFY ${channel}`))
  const late = new AbortController()
  const isHeard = await Promise.race([
    arrived,
    delay(LISTEN_MS, false, { signal: late.signal }).catch(() => false),
  ])
  late.abort()
  await ask(client, `UNLISTEN ${channel}`)
  const found = isHeard
    ? 'notifications arrive'
    : `no notification arrived within ${LISTEN_MS / 1000} s`
  const remedy =
    'a pooler in transaction mode drops them: followers then poll; connect directly for fast ones'
  return checkup('LISTEN', isHeard, found, { status: 'warn', remedy })
}

async function checkServer(client: PostgresPoolClient): Promise<Checkup> {
  const [row] = await ask(client, `SELECT current_setting('server_version')`)
  return { name: 'Postgres', status: 'pass', found: `the server runs Postgres ${String(row![0])}` }
}

/** Checks the server, its settings and the role, each as far as the role may. Rejects with `STORE_FAILED`, and throws what `postgresStore` throws. */
export async function postgresCheckups(options: PostgresStoreOptions): Promise<readonly Checkup[]> {
  checkStoreOptions(options)
  const { pool, end } = readOptions(options)
  const names = namesIn(options.schema ?? 'daybook')
  const { signal } = new AbortController()
  try {
    return await withConnection(pool, signal, async (client) => {
      const checks: readonly (readonly [name: string, run: () => Promise<Checkup | Checkup[]>])[] =
        [
          ['Postgres', () => checkServer(client)],
          ['rights', () => checkRights(client, names, options.readOnly ?? false)],
          ['settings', () => checkSettings(client)],
          ['synchronous_commit', () => checkCommits(client)],
          ['clock', () => checkClock(client)],
          ['standby', () => checkStandbys(client)],
          ['LISTEN', () => checkListen(pool, client)],
        ]
      const found: Checkup[] = []
      for (const [name, run] of checks)
        found.push(...[await run().catch((error: unknown) => unchecked(name, error))].flat())
      return found
    })
  } finally {
    await end()
  }
}
