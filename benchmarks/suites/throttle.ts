/*
 * How fast calls are held back by a throttle, beside what a call costs that does nothing:
 *
 *   npm run build
 *   npx tsx --tsconfig benchmarks/tsconfig.json benchmarks/throttle.ts [--rounds 5] [--seconds 1] [--write]
 *
 * That tsconfig has `daybook` lead to the built package, as users get it. Each store has a process to
 * itself; all of its trials run in that process and take turns, so that each ratio is taken within one round.
 * Every call has to be held back. The Postgres server is one of our own. `--write` puts the result into results.md.
 */
import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { startOwnPostgres } from '../../test/support/postgres.js'
import type { StoreSetup } from '../harness/open-store.js'
import { readOptions } from '../harness/options.js'
import {
  measuredCode,
  processor,
  row,
  sqliteVersion,
  times,
  whole,
  withSpread,
  writeSection,
} from '../harness/format.js'
import { takeTurns } from '../harness/rounds.js'
import type { Job, Path } from '../targets/throttle-process.js'
import { Worker } from '../harness/workers.js'

const PATHS: { readonly [path in Path]: string } = {
  unscoped: 'held back, no scope',
  scoped: 'held back, a scope of two keys',
  cold: 'held back by the store, 64 calls in flight',
  empty: 'an async function that does nothing',
  map: '`Map.has`, no call',
}

const paths = Object.keys(PATHS) as Path[]

/** By path, the calls a second of each round. */
type Rates = { readonly [path in Path]: readonly number[] }

async function measure(setup: StoreSetup, rounds: number, seconds: number): Promise<Rates> {
  const worker = await Worker.start<Job, number>('throttle-process.ts', setup)
  const found = await takeTurns({
    cases: [setup],
    sides: paths,
    rounds,
    isWarmedUp: true,
    measure: (_, one) => worker.ask({ path: one, seconds }),
    tell: (_, rates) =>
      `${setup.store}: ${paths.map((one) => `${one} ${whole(rates[one])}`).join(', ')}`,
  })
  await worker.end()
  return found.get(setup)!
}

async function report(rounds: number, seconds: number): Promise<string> {
  const code = measuredCode()
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'daybook-benchmark-'))
  const server = await startOwnPostgres(['fsync=on', 'synchronous_commit=on'])
  try {
    const setups: readonly StoreSetup[] = [
      { store: 'memory' },
      { store: 'sqlite', filename: path.join(folder, 'trial.db') },
      { store: 'postgres', url: server.url },
    ]
    const found: Rates[] = []
    for (const setup of setups) found.push(await measure(setup, rounds, seconds))
    const date = new Date().toISOString().slice(0, 10)
    return [
      `Measured ${date} on ${processor()}, ${sqliteVersion()}, Postgres: ${code}, one process, one call after the`,
      `other but where it says otherwise. Calls a second; median [least–greatest] of ${rounds} rounds of ${seconds} s. The share is of`,
      'the calls that do nothing, in the same round and process, in front of memory.',
      '',
      row('', 'memory', 'SQLite', 'Postgres', 'to a call that does nothing'),
      row(':--', '--:', '--:', '--:', '--:'),
      ...paths.map((one) =>
        row(
          PATHS[one],
          ...found.map((rates) => withSpread(rates[one], whole)),
          withSpread(
            found[0]![one].map((rate, i) => rate / found[0]!.empty[i]!),
            times,
          ),
        ),
      ),
    ].join('\n')
  } finally {
    await server.stop()
    fs.rmSync(folder, { recursive: true, force: true })
  }
}

const { rounds, seconds, write } = readOptions({ rounds: 5, seconds: 1 })
const text = await report(rounds, seconds)
console.log(text)
if (write) writeSection('throttle', text)
