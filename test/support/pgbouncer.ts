import { spawn } from 'node:child_process'
import fs from 'node:fs'
import path from 'node:path'
import { freePort, unprivileged } from './postgres.js'
import { tempFolder } from './temp.js'

/** A PgBouncer in front of a server. */
export interface PgBouncer {
  readonly url: string
  stop(): Promise<void>
}

export type PoolMode = 'session' | 'transaction' | 'statement'

const PLACES = [...(process.env['PATH'] ?? '').split(':'), '/usr/sbin', '/usr/local/sbin']

function findProgram(): string {
  const found = PLACES.map((folder) => path.join(folder, 'pgbouncer')).find((file) =>
    fs.existsSync(file),
  )
  if (found) return found
  throw new Error(
    'these tests need PgBouncer: apt-get install pgbouncer, or brew install pgbouncer',
  )
}

/** Starts the PgBouncer of the system with the given configuration. */
export async function startPgBouncer(
  serverUrl: string,
  mode: PoolMode,
  settings: readonly string[] = [],
): Promise<PgBouncer> {
  const program = findProgram()
  const server = new URL(serverUrl)
  const port = await freePort()
  const folder = fs.mkdtempSync(path.join(tempFolder(), 'daybook-pgbouncer-'))
  const users = path.join(folder, 'users')
  const config = path.join(folder, 'pgbouncer.ini')
  fs.writeFileSync(users, `"${server.username}" ""\n`)
  const lines = [
    '[databases]',
    `* = host=${server.hostname} port=${server.port}`,
    '[pgbouncer]',
    `listen_addr = 127.0.0.1`,
    `listen_port = ${port}`,
    'unix_socket_dir =',
    'auth_type = trust',
    `auth_file = ${users}`,
    `pool_mode = ${mode}`,
    'default_pool_size = 40',
    'max_client_conn = 1000',
    ...settings,
  ]
  fs.writeFileSync(config, lines.join('\n'))
  const account = unprivileged()
  if (account)
    for (const file of [folder, users, config]) fs.chownSync(file, account.uid, account.gid)
  const child = spawn(program, [config], {
    ...account,
    cwd: folder,
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()))
  // The pooler ends with this process.
  const kill = (): void => void child.kill('SIGKILL')
  process.once('exit', kill)
  await new Promise<void>((resolve, reject) => {
    let log = ''
    child.stderr.on('data', (data: Buffer) => {
      log = (log + data.toString()).slice(-4000)
      if (log.includes('process up')) resolve()
    })
    child.once('error', reject)
    child.once('exit', (code) => reject(new Error(`pgbouncer ended with ${code}: ${log}`)))
  })
  const url = new URL(server)
  url.port = String(port)
  return {
    url: url.href,
    async stop() {
      process.removeListener('exit', kill)
      child.kill('SIGKILL')
      await ended
      fs.rmSync(folder, { recursive: true, force: true })
    },
  }
}
