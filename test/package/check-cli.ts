import { spawnSync } from 'node:child_process'
import fs from 'node:fs'
import path from 'node:path'

/* The command line of the installed package, started as users do. */

interface Expected {
  readonly exit: number
  readonly stdout?: RegExp
  readonly stderr?: RegExp
}

function daybook(folder: string, args: readonly string[], expected: Expected): void {
  console.log(`> npx daybook ${args.join(' ')}`)
  const { status, stdout, stderr } = spawnSync('npx', ['--no-install', 'daybook', ...args], {
    cwd: folder,
    encoding: 'utf8',
    env: { ...process.env, NO_COLOR: '1' },
  })
  // npm may warn about its own configuration.
  const messages = stderr.replaceAll(/^npm .*\n/gm, '')
  const { exit, stdout: out = /^$/, stderr: err = /^$/ } = expected
  if (status !== exit || !out.test(stdout) || !err.test(messages))
    throw new Error(`expected ${exit}, ${out}, ${err}; got ${status}: ${stdout}${messages}`)
}

const quoted = (text: string): string => text.replaceAll('.', '\\.')

/**
 * Checks the command line without the driver of a store. Commands that need no log must work. With a log, the error
 * must name the missing package.
 */
export function checkCliWithoutStores(folder: string, version: string): void {
  daybook(folder, ['--version'], { exit: 0, stdout: new RegExp(`^${quoted(version)}\n$`) })
  daybook(folder, ['--help'], { exit: 0, stdout: /^Usage: daybook .*\n/ })
  daybook(folder, ['list', '--help'], { exit: 0, stdout: /^Usage: daybook list .*\n/ })
  daybook(folder, ['lst'], {
    exit: 2,
    stderr: /^error: unknown command 'lst'; did you mean list\?\n$/,
  })
  daybook(folder, ['list', 'none.db'], { exit: 3, stderr: /^error: there is no file none\.db\n$/ })
  daybook(folder, ['list', 'http://127.0.0.1:1/'], { exit: 3, stderr: /^error: [^\n]+\n$/ })
  fs.writeFileSync(path.join(folder, 'some.db'), '')
  daybook(folder, ['list', 'some.db'], { exit: 1, stderr: /^error: .*npm install better-sqlite3/ })
  fs.rmSync(path.join(folder, 'some.db'))
}

/** Uses `audit.db`, which has an event of the type `api:things:create` or a similar type. */
export function checkCliWithStores(folder: string): void {
  const row = /^\S+\t[\da-f-]{36}\t[^\n]+\n$/
  daybook(folder, ['list', 'audit.db', '-f', 'system_true=1'], { exit: 0, stdout: row })
  daybook(folder, ['count', 'audit.db'], { exit: 0, stdout: /^\d+\n$/ })
  daybook(folder, ['list', 'audit.db', '--json'], { exit: 0, stdout: /^\{.*"sentence":.*\}\n/ })
  daybook(folder, ['verify', 'audit.db'], { exit: 0, stdout: /: no damage\n$/ })
  daybook(folder, ['export', 'audit.db', '--format', 'parquet', '-o', 'e.parquet'], { exit: 0 })
  daybook(folder, ['import', 'copy.db', 'e.parquet'], { exit: 0, stdout: /^e\.parquet: \d+ event/ })
  const missing = '01a20405-0fa8-7676-ba2c-be23e865d0a6'
  daybook(folder, ['get', 'audit.db', missing], { exit: 1, stderr: /^error: there is no event / })
  daybook(folder, ['list', 'audit.db', '-f', 'type_strt=a'], {
    exit: 2,
    stderr: /did you mean type_start\?/,
  })
  daybook(folder, ['list', 'postgres://127.0.0.1:1/x'], {
    exit: 3,
    stderr: /^error: .*ECONNREFUSED/,
  })
}
