import { it } from 'vitest'
import { type CanaryRun, runCanaries } from './personal-canaries-run.js'

const RUNS: readonly CanaryRun[] = (['SQLite', 'SQLite, compressed', 'Postgres'] as const).map(
  (store) => ({ store, hasLedger: store === 'SQLite, compressed', events: 1000, persons: 50 }),
)

it.each(RUNS)(
  'words of 50 persons cannot be read once they are erased: %o',
  { timeout: 600_000 },
  (run) => runCanaries(run),
)
