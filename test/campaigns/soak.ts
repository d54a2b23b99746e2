import { execFileSync, spawnSync } from 'node:child_process'
import fs from 'node:fs'
import path from 'node:path'
import { parseArgs } from 'node:util'

/*
 * Runs a campaign, or tests with rounds for longer than in the suite: `npm run soak -- deliveries [options of the
 * campaign]`, or `npm run soak -- <part of a file name> [--seconds n]`, such as `npm run soak -- processes/faults`.
 * Each test runs for this time, by default 600 seconds. DAYBOOK_SEED repeats tests with a seed.
 */

const args = process.argv.slice(2)
const [name = ''] = args
const run = (command: readonly string[], env: NodeJS.ProcessEnv): void => {
  const { status } = spawnSync('npx', command, {
    stdio: 'inherit',
    env: { ...process.env, ...env },
  })
  process.exitCode = status ?? 1
}

if (/^[\w-]+$/.test(name) && fs.existsSync(path.join(import.meta.dirname, `${name}.ts`))) {
  // An absolute path, because campaigns may change the current folder.
  const threads = import.meta.resolve('../support/typescript-threads.js')
  run(['tsx', '--import', threads, 'test/campaigns/run.ts', ...args], {})
} else {
  const { values, positionals } = parseArgs({
    args,
    allowPositionals: true,
    options: { seconds: { type: 'string', default: '600' } },
  })
  if (positionals.length !== 1 || !(Number(values.seconds) > 0))
    throw new Error('name tests, such as processes/faults, and a number of seconds')
  const commit = execFileSync('git', ['rev-parse', '--short', 'HEAD'], { encoding: 'utf8' }).trim()
  console.log(`${positionals[0]} at ${commit}, ${values.seconds} seconds for each test`)
  run(['vitest', 'run', ...positionals], { DAYBOOK_SOAK_SECONDS: values.seconds })
}
