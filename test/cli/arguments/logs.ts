import { hash } from 'node:crypto'
import fs from 'node:fs'
import path from 'node:path'
import { AuditLog, type AuditLogOptions, type EventStore, type EventTypes } from 'daybook'
import { auditRoutes, basicAuth, subscriptionRoutes } from 'daybook/koa'
import { postgresStore } from 'daybook/postgres'
import { sqliteStore } from 'daybook/sqlite'
import Database from 'better-sqlite3'
import Koa from 'koa'
import pg from 'pg'
import { listen } from '../../support/node-server.js'
import { tempDir } from '../../support/temp.js'
import type { Names } from './random-arguments.js'

/* The logs for random command lines, and the folder in which they run. */

export const KINDS = ['sqlite', 'postgres', 'http'] as const
export type Kind = (typeof KINDS)[number]

export type Fingerprints = Readonly<Record<string, string>>

export interface ArgumentsLog extends Names {
  readonly kind: Kind
  /** A hash of each part of the log, such as a table. */
  fingerprints(): Promise<Fingerprints>
  /** The number of events. */
  count(): Promise<number>
  /** Records an event that `clean` removes. */
  recordDebug(): Promise<void>
  close(): Promise<void>
}

const EVENTS = 40

const options: Partial<AuditLogOptions<EventTypes>> = {
  subscriptions: { deliver: false, channels: { search: { deliver: () => {} } } },
}

async function fill(audit: AuditLog): Promise<readonly string[]> {
  await audit.subscriptions.create({ name: 'search', channel: 'search' })
  await audit.subscriptions.create({ name: 'mail', channel: 'search', paused: true })
  const ids: string[] = []
  for (let n = 0; n < EVENTS; n++) {
    const type = ['debug', 'deploy', 'error:step:action'][n % 3]!
    const data = { n, name: `sh%op ${n}`, text: '\u202E"a"\n\tb', '10': [n, { a: null }] }
    const event = await audit.recordCustom(n % 3 === 2 ? 'debug' : type, data, { username: 'ann' })
    ids.push(event!.id)
  }
  return [...ids.slice(0, 3), '01a20405-0fa8-7676-ba2c-be23e865d0a6', 'seven']
}

const open = (store: EventStore): AuditLog => new AuditLog({ ...options, types: {}, store })

/** The logs have fewer events than a list may have. */
const countOf = async (audit: AuditLog): Promise<number> =>
  (await audit.list('limit=1000')).events.length

type Common = Pick<ArgumentsLog, 'ids' | 'count' | 'recordDebug'>

/** Between command lines no process has the log open for writing, so that all changes are theirs. */
async function createLog(store: () => EventStore): Promise<Common> {
  const act = async <Result>(run: (audit: AuditLog) => Promise<Result>): Promise<Result> => {
    const audit = open(store())
    try {
      return await run(audit)
    } finally {
      await audit.close()
    }
  }
  return {
    ids: await act(fill),
    count: () => act(countOf),
    recordDebug: () => act(async (audit) => void (await audit.recordCustom('debug', {}))),
  }
}

const hashOf = (value: unknown): string => hash('sha256', JSON.stringify(value))

/** The hashes of all tables. They are read again only after a commit of another connection. */
function watchTables(file: string): { read: () => Fingerprints; close: () => void } {
  const database = new Database(file, { readonly: true })
  const tables = database
    .prepare(`SELECT name FROM sqlite_master WHERE type = 'table' AND name LIKE 'daybook%'`)
    .pluck()
    .all() as string[]
  let [version, found]: [unknown, Fingerprints] = [undefined, {}]
  return {
    read() {
      const now = database.pragma('data_version', { simple: true })
      if (now === version) return found
      version = now
      found = Object.fromEntries(
        tables.map((name) => [name, hashOf(database.prepare(`SELECT * FROM ${name}`).all())]),
      )
      return found
    },
    close: () => void database.close(),
  }
}

async function sqliteLog(): Promise<ArgumentsLog> {
  const file = 'audit.db'
  const log = await createLog(() => sqliteStore({ filename: file }))
  const tables = watchTables(file)
  return {
    ...log,
    kind: 'sqlite',
    target: file,
    env: {},
    fingerprints: () => Promise.resolve(tables.read()),
    close: () => Promise.resolve(tables.close()),
  }
}

const TABLES = `SELECT format('SELECT %L, md5(coalesce(string_agg(t::text, '','' ORDER BY t::text), '''')) FROM %I.%I t', tablename, schemaname, tablename)
  FROM pg_tables WHERE schemaname NOT IN ('pg_catalog', 'information_schema') ORDER BY 1`

async function postgresLog(url: string): Promise<ArgumentsLog> {
  const log = await createLog(() => postgresStore({ connectionString: url }))
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  const { rows } = await client.query<[string]>({ text: TABLES, rowMode: 'array' })
  const hashes = `${rows.map(([sql]) => sql).join(' UNION ALL ')} UNION ALL SELECT 'tables', count(*)::text FROM pg_class`
  return {
    ...log,
    kind: 'postgres',
    target: url,
    env: {},
    async fingerprints() {
      const { rows } = await client.query<[string, string]>({ text: hashes, rowMode: 'array' })
      return Object.fromEntries(rows)
    },
    close: () => client.end(),
  }
}

async function httpLog(): Promise<ArgumentsLog> {
  const file = 'served.db'
  const audit = open(sqliteStore({ filename: file }))
  const app = new Koa()
    .use(basicAuth({ users: { ann: 'ann' }, failures: false }))
    .use(auditRoutes(audit))
    .use(subscriptionRoutes(audit, { authorize: () => 'all' }))
  app.silent = true
  const server = await listen(app.callback())
  return {
    ids: await fill(audit),
    count: () => countOf(audit),
    recordDebug: async () => void (await audit.recordCustom('debug', {})),
    kind: 'http',
    target: server.url,
    env: { DAYBOOK_USER: 'ann', DAYBOOK_PASSWORD: 'ann' },
    // The index is left out, because the service builds it at the same time.
    async fingerprints() {
      const { events } = await audit.list('limit=1000')
      return {
        events: hashOf(events.map(({ id }) => id)),
        subscriptions: hashOf(await audit.subscriptions.list()),
      }
    },
    async close() {
      await server.close()
      await audit.close()
    },
  }
}

const CONFIG = `export default {
  cleaning: { rules: [{ name: 'debug', target: 'events', filter: 'filter[type_eq]=debug', maxRows: 20, every: { seconds: 1 } }] },
  subscriptions: { channels: { search: { deliver() {} } } },
}`

const EVENT = {
  id: '01a20405-0fa8-7676-ba2c-be23e865d0a6',
  created_at: '2026-11-20T10:00:00.000000Z',
  type: 'note',
  username: null,
  source: null,
  system: false,
  attributes: {},
}

const INPUTS: Readonly<Record<string, string>> = {
  'config.mjs': CONFIG,
  'throws.mjs': `throw new Error('the database of the service is away')`,
  'number.mjs': 'export default 7',
  'broken.mjs': 'export default {',
  'store.mjs': 'export default { store: {} }',
  'rules.mjs': `export default { cleaning: { rules: [{ name: 'x', target: 'nothing' }] } }`,
  'lines.ndjson': '{"type":"a","user":"ann","n":1,"time":"2026-11-20T10:00:00Z"}\n{"n":2}\n',
  'events.ndjson': `${JSON.stringify(EVENT)}\n`,
  'broken.ndjson': '{"n":\nno\n[]\n\n{"id":7,"created_at":1}\n',
  'empty.db': '',
  'text.db': 'This is no database.\n'.repeat(100),
}

export interface Sandbox {
  /** The files that have changed in the folder since the last call, by name. */
  changes(): readonly string[]
  /** Returns to the folder from before, and removes this one. */
  remove(): void
}

/** Creates a temporary folder with files for command lines, and makes it the current folder. */
export function enterSandbox(): Sandbox {
  const temp = tempDir()
  const before = process.cwd()
  const create = (): void => {
    fs.mkdirSync(temp.file('in'), { recursive: true })
    fs.mkdirSync(temp.file('folder'), { recursive: true })
    for (const [name, text] of Object.entries(INPUTS))
      fs.writeFileSync(path.join(temp.dir, 'in', name), text)
  }
  create()
  process.chdir(temp.dir)
  const isOfLog = (name: string): boolean => /^(?:audit|served)\.db(?:-wal|-shm)?$/.test(name)
  const read = (): Map<string, string> => {
    const names = fs.readdirSync(temp.dir, { recursive: true, encoding: 'utf8' })
    const states = names
      .filter((name) => !isOfLog(name))
      .map((name) => {
        const { size, mtimeMs } = fs.statSync(path.join(temp.dir, name))
        return [
          name,
          fs.statSync(path.join(temp.dir, name)).isDirectory() ? 'folder' : `${size} ${mtimeMs}`,
        ]
      })
    return new Map(states as [string, string][])
  }
  let known = read()
  return {
    changes() {
      const now = read()
      const changed = [...new Set([...now.keys(), ...known.keys()])].filter(
        (name) => now.get(name) !== known.get(name),
      )
      if (changed.length === 0) return changed
      for (const name of now.keys())
        if (!known.has(name)) fs.rmSync(path.join(temp.dir, name), { recursive: true, force: true })
      create()
      known = read()
      return changed
    },
    remove() {
      process.chdir(before)
      temp.remove()
    },
  }
}

/** Opens the logs in the current folder. */
export const openLogs = async (
  kinds: readonly Kind[],
  postgresUrl: string,
): Promise<ArgumentsLog[]> =>
  Promise.all(
    kinds.map((kind) =>
      kind === 'sqlite' ? sqliteLog() : kind === 'http' ? httpLog() : postgresLog(postgresUrl),
    ),
  )
