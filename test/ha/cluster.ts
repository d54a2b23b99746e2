import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import pg from 'pg'
import { childrenOf, freePort, freeze, systemBinaries, unprivileged } from '../support/postgres.js'

/*
 * A cluster of Postgres servers that Patroni manages, with etcd and HAProxy, from the packages of the system. All of them run as
 * an unprivileged user, on loopback, in one temporary folder.
 */

export type Mode = 'synchronous' | 'asynchronous'

/** A server and its Patroni. */
export interface Node {
  readonly name: string
  readonly port: number
}

export interface Cluster {
  readonly nodes: readonly Node[]
  /** Leads to the primary, through HAProxy. */
  readonly proxyUrl: string
  /** Names all servers. */
  readonly hostsUrl: string
  /** The primary according to the members of the cluster; `undefined` while there is none. */
  primary(): Promise<Node | undefined>
  /** False for a server that Patroni has chosen, but not promoted yet. */
  acceptsWrites(node: Node): Promise<boolean>
  /** Resolves once all servers follow one primary, and a standby is synchronous if the mode is. */
  untilHealthy(): Promise<void>
  /** Kills all processes of the server with SIGKILL. Its Patroni continues. */
  killPostgres(node: Node): void
  /** Kills Patroni with SIGKILL. The server continues. */
  killPatroni(node: Node): void
  startPatroni(node: Node): void
  /** Suspends the server and its Patroni. Returns a function that resumes them. */
  freeze(node: Node): () => void
  /** Makes Patroni promote a standby and demote the primary. */
  switchOver(from: Node): Promise<void>
  /** Copies the logs of all processes to the folder. */
  copyLogs(to: string): void
  /** Ends all processes, and removes the folder. */
  stop(): Promise<void>
}

const SERVERS = 3
const HEALTHY_WITHIN_MS = 120_000
/** Number of last lines of each Patroni in the error of a cluster that does not become healthy. */
const LOGGED_LINES = 40

interface Programs {
  readonly patroni: string
  readonly etcd: string
  readonly haproxy: string
  readonly postgres: string
}

const PACKAGES = 'patroni etcd-server haproxy python3-etcd postgresql'

/** Throws if a program is missing. The message names its package. */
export function findPrograms(): Programs {
  const folders = [...(process.env['PATH'] ?? '').split(path.delimiter), '/usr/sbin', '/usr/bin']
  const find = (name: string): string | undefined =>
    folders.map((folder) => path.join(folder, name)).find((file) => fs.existsSync(file))
  const [patroni, etcd, haproxy] = ['patroni', 'etcd', 'haproxy'].map(find)
  const postgres = systemBinaries()?.postgres
  const hasRewind = postgres && fs.existsSync(path.join(path.dirname(postgres), 'pg_rewind'))
  if (!patroni || !etcd || !haproxy || !hasRewind)
    throw new Error(
      `Patroni, etcd, HAProxy or Postgres is missing. On Debian: apt-get install ${PACKAGES}. ` +
        'Debian starts some of them as services, which are not needed: systemctl disable --now patroni etcd haproxy postgresql',
    )
  return { patroni, etcd, haproxy, postgres }
}

// Ends everything in the folder when this process closes the pipe, also if it is killed. The parent of the processes
// of a server comes last, because they may be suspended.
const GUARD = `cat >/dev/null
for file in "$CLUSTER"/*/data/postmaster.pid; do
  server=$(head -n 1 "$file") && pkill -KILL -P "$server"; kill -KILL "$server"
done
pkill -KILL -f "$CLUSTER/"
sleep 0.2
rm -rf "$CLUSTER"`

interface Ports {
  readonly etcd: number
  readonly etcdPeers: number
  readonly haproxy: number
}

interface Member extends Node {
  readonly folder: string
  /** Port of the REST API of Patroni. */
  readonly rest: number
}

const lines = (...some: readonly string[]): string => `${some.join('\n')}\n`

/** The configuration as YAML, of which JSON is a subset. */
const patroniConfig = (member: Member, mode: Mode, ports: Ports, programs: Programs): string =>
  JSON.stringify({
    scope: 'daybook',
    name: member.name,
    restapi: {
      listen: `127.0.0.1:${member.rest}`,
      connect_address: `127.0.0.1:${member.rest}`,
    },
    // Not etcd3, because with it a primary of Patroni 3.0.2, the version of Debian 12, takes the leader key back from
    // the standby that has taken over (https://github.com/patroni/patroni/pull/2689).
    etcd: { host: `127.0.0.1:${ports.etcd}` },
    bootstrap: {
      dcs: {
        // As short as Patroni allows: a failover takes this long after the primary has gone silent.
        ttl: 8,
        loop_wait: 1,
        retry_timeout: 3,
        maximum_lag_on_failover: 100_000_000,
        // A server that has died is replaced, not restarted.
        primary_start_timeout: 0,
        master_start_timeout: 0,
        synchronous_mode: mode === 'synchronous',
        postgresql: { use_pg_rewind: true, use_slots: true },
      },
      initdb: [{ encoding: 'UTF8' }, 'data-checksums'],
    },
    postgresql: {
      listen: `127.0.0.1:${member.port}`,
      connect_address: `127.0.0.1:${member.port}`,
      data_dir: path.join(member.folder, 'data'),
      bin_dir: path.dirname(programs.postgres),
      pgpass: path.join(member.folder, 'pgpass'),
      authentication: {
        superuser: { username: 'postgres' },
        replication: { username: 'replicator' },
        rewind: { username: 'postgres' },
      },
      pg_hba: ['host all all 127.0.0.1/32 trust', 'host replication all 127.0.0.1/32 trust'],
      parameters: {
        unix_socket_directories: '',
        max_connections: 200,
        wal_log_hints: 'on',
        wal_keep_size: '1GB',
        // Processes are killed here, not machines.
        fsync: 'off',
      },
      remove_data_directory_on_rewind_failure: true,
      remove_data_directory_on_diverged_timelines: true,
    },
    watchdog: { mode: 'off' },
  })

const haproxyConfig = (members: readonly Member[], port: number): string =>
  lines(
    'global',
    '  maxconn 500',
    'defaults',
    '  mode tcp',
    '  timeout connect 2s',
    '  timeout client 1h',
    '  timeout server 1h',
    '  timeout check 2s',
    'listen primary',
    `  bind 127.0.0.1:${port}`,
    '  option httpchk OPTIONS /primary',
    '  http-check expect status 200',
    '  default-server inter 500ms fall 2 rise 1 on-marked-down shutdown-sessions',
    ...members.map(
      ({ name, port: server, rest }) =>
        `  server ${name} 127.0.0.1:${server} maxconn 200 check port ${rest}`,
    ),
  )

/** The state of a member according to the REST API of Patroni. */
interface Seen {
  readonly name: string
  readonly role: string
  readonly state: string
  readonly timeline?: number
}

async function ask(member: Member, place: string, body?: object): Promise<unknown> {
  const response = await fetch(`http://127.0.0.1:${member.rest}/${place}`, {
    // A switchover is answered once it is over.
    signal: AbortSignal.timeout(body ? 30_000 : 2000),
    ...(body && { method: 'POST', body: JSON.stringify(body) }),
  })
  const text = await response.text()
  if (body && !response.ok) throw new Error(`${place}: ${text}`)
  return body ? text : JSON.parse(text)
}

export async function startCluster(mode: Mode): Promise<Cluster> {
  const programs = findPrograms()
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'daybook-ha-'))
  const account = unprivileged()
  const own = (place: string): string => {
    if (account) fs.chownSync(place, account.uid, account.gid)
    return place
  }
  own(folder)
  const guard = spawn('/bin/sh', ['-c', GUARD], {
    env: { PATH: process.env['PATH'], CLUSTER: folder },
    stdio: ['pipe', 'ignore', 'ignore'],
    // Ctrl C ends this process, and must not end these.
    detached: true,
  })
  const run = (name: string, command: string, args: readonly string[]): ChildProcess => {
    const log = fs.openSync(path.join(folder, `${name}.log`), 'a')
    const child = spawn(command, args, {
      ...account,
      cwd: folder,
      env: { PATH: process.env['PATH'], LC_ALL: 'C', HOME: folder },
      stdio: ['ignore', log, log],
    })
    fs.closeSync(log)
    return child
  }
  const ports: Ports = {
    etcd: await freePort(),
    etcdPeers: await freePort(),
    haproxy: await freePort(),
  }
  const members: Member[] = []
  for (let n = 0; n < SERVERS; n++) {
    const name = `node${n}`
    const place = path.join(folder, name)
    fs.mkdirSync(place)
    own(place)
    members.push({ name, folder: place, port: await freePort(), rest: await freePort() })
  }
  const [clients, peers] = [ports.etcd, ports.etcdPeers].map((port) => `http://127.0.0.1:${port}`)
  run('etcd', programs.etcd, [
    ...['--data-dir', path.join(folder, 'etcd'), '--unsafe-no-fsync', '--enable-v2'],
    ...['--listen-client-urls', clients!, '--advertise-client-urls', clients!],
    ...['--listen-peer-urls', peers!, '--initial-advertise-peer-urls', peers!],
    ...['--initial-cluster', `default=${peers}`],
  ])
  const managers = new Map<string, ChildProcess>()
  const memberOf = ({ name }: Node): Member => members.find((one) => one.name === name)!
  const startPatroni = (node: Node): void => {
    const file = path.join(memberOf(node).folder, 'patroni.yml')
    managers.set(node.name, run(node.name, programs.patroni, [file]))
  }
  for (const member of members) {
    const file = path.join(member.folder, 'patroni.yml')
    fs.writeFileSync(file, patroniConfig(member, mode, ports, programs))
    startPatroni(member)
  }
  fs.writeFileSync(path.join(folder, 'haproxy.cfg'), haproxyConfig(members, ports.haproxy))
  run('haproxy', programs.haproxy, ['-db', '-f', path.join(folder, 'haproxy.cfg')])

  const postmaster = (node: Node): number =>
    Number.parseInt(
      fs.readFileSync(path.join(memberOf(node).folder, 'data/postmaster.pid'), 'utf8'),
      10,
    )
  /** The members of the cluster; empty if no member answers. */
  const seen = async (): Promise<readonly Seen[]> => {
    for (const member of members) {
      try {
        return ((await ask(member, 'cluster')) as { members: readonly Seen[] }).members
      } catch {
        // This member does not answer. Try the next one.
      }
    }
    return []
  }
  const logsOfPatroni = (): string =>
    members
      .map(({ name }) => {
        const log = fs.readFileSync(path.join(folder, `${name}.log`), 'utf8')
        return `\n${name}:\n${log.trimEnd().split('\n').slice(-LOGGED_LINES).join('\n')}`
      })
      .join('')
  const isHealthy = async (): Promise<boolean> => {
    const all = await seen()
    const leader = all.find(({ role }) => role === 'leader')
    const isFollowing = ({ state, timeline }: Seen): boolean =>
      (state === 'running' || state === 'streaming') && timeline === leader?.timeline
    return (
      all.length === SERVERS &&
      leader !== undefined &&
      all.every(isFollowing) &&
      (mode === 'asynchronous' || all.some(({ role }) => role === 'sync_standby'))
    )
  }

  return {
    nodes: members,
    proxyUrl: `postgres://postgres@127.0.0.1:${ports.haproxy}/postgres`,
    hostsUrl: `postgres://postgres@${members.map(({ port }) => `127.0.0.1:${port}`).join()}/postgres`,
    async primary() {
      const leader = (await seen()).find(
        ({ role, state }) => role === 'leader' && state === 'running',
      )
      return leader && members.find(({ name }) => name === leader.name)
    },
    async acceptsWrites({ port }) {
      const client = new pg.Client({
        host: '127.0.0.1',
        port,
        user: 'postgres',
        connectionTimeoutMillis: 2000,
      })
      client.on('error', () => {})
      try {
        await client.connect()
        const { rows } = await client.query('SELECT NOT pg_is_in_recovery() AS accepts')
        return rows[0].accepts
      } catch {
        return false
      } finally {
        await client.end().catch(() => {})
      }
    },
    async untilHealthy() {
      const end = performance.now() + HEALTHY_WITHIN_MS
      while (!(await isHealthy())) {
        if (performance.now() > end)
          throw new Error(
            `the cluster does not become healthy: ${JSON.stringify(await seen())}${logsOfPatroni()}`,
          )
        await delay(250)
      }
    },
    killPostgres(node) {
      const parent = postmaster(node)
      for (const pid of [parent, ...childrenOf(parent)]) spawnSync('kill', ['-KILL', String(pid)])
    },
    killPatroni: ({ name }) => void managers.get(name)!.kill('SIGKILL'),
    startPatroni,
    freeze(node) {
      const resumeManager = freeze(managers.get(node.name)!.pid!)
      const resumeServer = freeze(postmaster(node))
      return () => {
        resumeServer()
        resumeManager()
      }
    },
    async switchOver(from) {
      await ask(memberOf(from), 'switchover', { leader: from.name })
    },
    copyLogs(to) {
      fs.mkdirSync(to, { recursive: true })
      for (const name of ['etcd', 'haproxy', ...members.map((member) => member.name)])
        fs.copyFileSync(path.join(folder, `${name}.log`), path.join(to, `${name}.log`))
    },
    async stop() {
      const ended = once(guard, 'close')
      guard.stdin.end()
      await ended
    },
  }
}
