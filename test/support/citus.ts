import { execFileSync } from 'node:child_process'
import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import pg from 'pg'
import { type OwnServer, startPostgresFrom } from './postgres.js'

/*
 * A cluster of Citus for tests. DAYBOOK_TEST_CITUS is the URL of a coordinator that has nodes for tables, or a folder
 * with the source of Citus, which is built for the Postgres of the system. Without it, the Postgres of the system must
 * have the extension.
 */

export interface CitusCluster {
  /** The coordinator. */
  readonly url: string
  /** The addresses of the nodes that take tables. */
  readonly nodes: readonly string[]
  /** The folder with the programs of its servers; `undefined` for a cluster that was running. */
  readonly programs?: string
  stop(): Promise<void>
}

const MAX_NODES = 2
/** Moving a schema needs logical replication, and each node connects to the others. */
const SETTINGS = [
  ...['shared_preload_libraries=citus', 'wal_level=logical', 'max_connections=300'],
  ...['max_wal_senders=20', 'max_replication_slots=20', 'max_worker_processes=32'],
  ...['citus.local_hostname=127.0.0.1', 'max_prepared_transactions=100'],
]

const cache = fileURLToPath(new URL('../../node_modules/.cache/daybook/citus', import.meta.url))

const run = (folder: string, command: string, ...args: string[]): string =>
  execFileSync(command, args, { cwd: folder, encoding: 'utf8', maxBuffer: 2 ** 28 })

/**
 * The configuration programs of the installed Postgres versions that Citus supports and that have headers, newest
 * first.
 */
function pgConfigs(): readonly string[] {
  return ['17', '16', '15']
    .map((version) => `/usr/lib/postgresql/${version}/bin/pg_config`)
    .filter((file) => fs.existsSync(file))
}

const ask = (pgConfig: string, what: string): string => run('/', pgConfig, `--${what}`).trim()

/** Later releases of Postgres 15 declare a function that Citus 13 declares itself. */
function renameDuplicate(source: string): void {
  const files = [
    'src/include/pg_version_compat.h',
    'src/backend/distributed/commands/serialize_distributed_ddls.c',
  ]
  for (const file of files.map((one) => path.join(source, one))) {
    const text = fs.readFileSync(file, 'utf8')
    const renamed = text.replaceAll(
      /(?<!define )\bhave_createdb_privilege\((?=void\)|\)\))/g,
      'citus_have_createdb_privilege(',
    )
    fs.writeFileSync(file, renamed)
  }
}

/** Builds Citus beside a copy of the system's Postgres, unless that was done before. Returns the folder of programs. */
function build(source: string): string {
  const [pgConfig] = pgConfigs()
  if (!pgConfig)
    throw new Error('Citus is built for a Postgres of the system: install postgresql-server-dev-15')
  const root = path.join(cache, 'root')
  const programs = path.join(root, ask(pgConfig, 'bindir'))
  const done = path.join(cache, 'built-from')
  if (fs.existsSync(done) && fs.readFileSync(done, 'utf8') === source) return programs
  fs.rmSync(cache, { recursive: true, force: true })
  const copy = path.join(cache, 'source')
  fs.cpSync(source, copy, { recursive: true })
  if (pgConfig.includes('/15/')) renameDuplicate(copy)
  console.log(`building Citus from ${source}, which takes some minutes`)
  // The copied files have new times. So make could consider `configure` outdated, and need autoconf.
  const now = new Date()
  fs.utimesSync(path.join(copy, 'configure'), now, now)
  run(copy, './configure', `PG_CONFIG=${pgConfig}`, '--without-libcurl')
  run(copy, 'make', '-s', `-j${os.availableParallelism()}`, 'install-all', `DESTDIR=${root}`)
  for (const folder of [path.dirname(ask(pgConfig, 'bindir')), ask(pgConfig, 'sharedir')])
    fs.cpSync(folder, path.join(root, folder), { recursive: true, force: false })
  fs.writeFileSync(done, source)
  return programs
}

/** The programs of a server that has the extension. */
function installed(): string {
  const found = pgConfigs().find((file) =>
    fs.existsSync(path.join(ask(file, 'sharedir'), 'extension/citus.control')),
  )
  if (!found)
    throw new Error(
      'no Citus: DAYBOOK_TEST_CITUS must be the URL of a coordinator, or a folder with the source of Citus 13',
    )
  return path.dirname(found)
}

/** The rows of a query over a separate connection. */
export async function askNode(
  url: string,
  text: string,
  values: unknown[] = [],
): Promise<unknown[][]> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    return (await client.query({ text, values, rowMode: 'array' })).rows
  } finally {
    await client.end()
  }
}

async function nodesOf(url: string): Promise<readonly string[]> {
  const rows = await askNode(
    url,
    `SELECT nodename || ':' || nodeport FROM pg_dist_node
     WHERE isactive AND shouldhaveshards AND noderole = 'primary' ORDER BY nodeid`,
  )
  return rows.map(([address]) => String(address))
}

const addressOf = (url: string): string => new URL(url).host

async function startCluster(programs: string, settings: readonly string[]): Promise<CitusCluster> {
  const servers: OwnServer[] = []
  const stop = async (): Promise<void> => {
    for (const server of servers) await server.stop()
  }
  try {
    for (let i = 0; i <= MAX_NODES; i++) {
      const server = await startPostgresFrom(programs, [...SETTINGS, ...settings])
      servers.push(server)
      await askNode(server.url, 'CREATE EXTENSION citus')
    }
    const [{ url }, ...workers] = servers as [OwnServer, ...OwnServer[]]
    const call = async (name: string, of: string): Promise<unknown> =>
      askNode(url, `SELECT ${name}($1, $2)`, addressOf(of).split(':'))
    await call('citus_set_coordinator_host', url)
    for (const worker of workers) await call('citus_add_node', worker.url)
    return { url, nodes: await nodesOf(url), programs, stop }
  } catch (error) {
    await stop()
    throw error
  }
}

/** Starts a cluster with additional settings of its servers. */
export async function startCitus(settings: readonly string[] = []): Promise<CitusCluster> {
  const given = process.env['DAYBOOK_TEST_CITUS']
  if (given?.startsWith('postgres'))
    return { url: given, nodes: await nodesOf(given), stop: () => Promise.resolve() }
  return startCluster(given ? build(path.resolve(given)) : installed(), settings)
}
