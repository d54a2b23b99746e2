import { perSecond, ratios, table, times, whole, withSpread } from '../harness/format.js'
import { measuredOn, sqliteVersion } from '../harness/machine.js'
import { type StoreSetup, withEachStore } from '../harness/open-store.js'
import type { TimedOptions } from '../harness/options.js'
import type { Section } from '../harness/results.js'
import { runRounds } from '../harness/rounds.js'
import { Worker } from '../harness/workers.js'
import type { CallKind, Job } from '../targets/throttle-process.js'

/*
 * Calls that a throttle suppresses, compared with calls that do nothing. Each store has one process for all
 * trials, which alternate, so that each ratio is taken within one round.
 */

const TITLES: { readonly [kind in CallKind]: string } = {
  unscoped: 'suppressed, no scope',
  scoped: 'suppressed, a scope of two keys',
  uncached: 'suppressed by the store, 64 calls in flight',
  empty: 'an async function that does nothing',
  map: '`Map.has`, no call',
}

const KINDS = Object.keys(TITLES) as CallKind[]

/** Calls per second of each round. */
type Rates = { readonly [kind in CallKind]: readonly number[] }

async function measureStore(setup: StoreSetup, { rounds, seconds }: TimedOptions): Promise<Rates> {
  const worker = await Worker.start<Job, number>('throttle-process.ts', setup)
  const measured = await runRounds({
    cases: [setup],
    sides: KINDS,
    rounds,
    warmUp: true,
    measure: (_, kind) => worker.ask({ kind, seconds }),
    describe: (_, rates) =>
      `${setup.store}: ${KINDS.map((kind) => `${kind} ${perSecond(rates[kind])}`).join(', ')}`,
  })
  await worker.end()
  return measured.get(setup)!
}

export const measure = (options: TimedOptions): Promise<Section[]> =>
  withEachStore(async (setups) => {
    const memory = await measureStore(setups.memory, options)
    const sqlite = await measureStore(setups.sqlite, options)
    const postgres = await measureStore(setups.postgres, options)
    const rows = KINDS.map((kind) => [
      TITLES[kind],
      ...[memory, sqlite, postgres].map((rates) => withSpread(rates[kind], whole)),
      withSpread(ratios(memory[kind], memory.empty), times),
    ])
    const text = [
      `${measuredOn(sqliteVersion(), 'Postgres')} One process makes one call after the other, except where the table says`,
      `otherwise. Calls per second, medians [min–max] of ${options.rounds} rounds of ${options.seconds} s. The ratio compares the`,
      'memory store with calls that do nothing, in the same round and process.',
      '',
      ...table(['', 'memory', 'SQLite', 'Postgres', 'ratio to a call that does nothing'], rows),
    ].join('\n')
    return [{ name: 'throttle', text }]
  })
