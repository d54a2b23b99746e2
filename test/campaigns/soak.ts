import { execFileSync, spawnSync } from 'node:child_process'
import { parseArgs } from 'node:util'

/*
 * Runs tests of rounds for longer than the suite does: `npm run soak -- <part of a file name> [--seconds n]`, such as
 * `npm run soak -- processes/faults`. Each test takes the seconds, 600 by default. DAYBOOK_SEED repeats those with a seed.
 */

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { seconds: { type: 'string', default: '600' } },
})
const [name] = positionals
if (!name || !(Number(values.seconds) > 0))
  throw new Error('name tests, such as processes/faults, and a number of seconds')
const commit = execFileSync('git', ['rev-parse', '--short', 'HEAD'], { encoding: 'utf8' }).trim()
console.log(`${name} at ${commit}, ${values.seconds} seconds for each test`)
const { status } = spawnSync('npx', ['vitest', 'run', name], {
  stdio: 'inherit',
  env: { ...process.env, DAYBOOK_SOAK_SECONDS: values.seconds },
})
process.exitCode = status ?? 1
