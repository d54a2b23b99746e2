import { it } from 'vitest'
import { type CanaryRun, runCanaries } from './personal-canaries-run.js'

const RUNS: readonly CanaryRun[] = (['SQLite', 'SQLite, compressed', 'Postgres'] as const).flatMap(
  (store) => [false, true].map((hasLedger) => ({ store, hasLedger, events: 10_000, persons: 500 })),
)

it.each(RUNS)(
  'words of 500 persons cannot be read once they are erased: %o',
  { timeout: 600_000 },
  (run) => runCanaries(run),
)
