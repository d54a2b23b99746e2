import { AuditLog } from 'daybook'
import { sqliteJournal, sqliteStore } from 'daybook/sqlite'
import fc from 'fast-check'
import { tempDir } from '../support/temp.js'
import type { Outcome, Plan } from './fsync-child.js'
import type { Campaign } from './run.js'
import { runRounds } from './shared/rounds.js'
import { type RunShimmed, withSyncShim } from './shared/sync-shim.js'

/*
 * `fsync` fails a few times or permanently while events are recorded. Then the process is killed. Events of resolved
 * calls must be stored. Events of rejected calls must not be stored, except after `OUTCOME_UNKNOWN`. Needs a C
 * compiler.
 */

const plans: fc.Arbitrary<Plan> = fc.record({
  failures: fc.array(fc.constantFrom(0, 0, 1, 1, 2, 3, 1000), { minLength: 1, maxLength: 6 }),
  isJournalled: fc.boolean(),
  hasRollback: fc.boolean(),
})

async function runRound(plan: Plan, run: RunShimmed): Promise<readonly Outcome[]> {
  const temp = tempDir()
  try {
    const files = [temp.file('audit.db'), temp.file('journal.db')] as const
    const control = temp.file('failing')
    const args = [...files, control, JSON.stringify(plan)]
    const output = await run(args, { DAYBOOK_FAILING_SYNC: control })
    const outcomes = output
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as Outcome)
    if (outcomes.length !== plan.failures.length) throw new Error('the child ended early')
    const audit: AuditLog = new AuditLog({ store: sqliteStore({ filename: files[0] }), types: {} })
    const journal = sqliteJournal({ filename: files[1] })
    const { events } = await audit.list()
    const kept = new Set([
      ...events.map(({ attributes }) => attributes['n']),
      ...journal.first(1000).map(({ draft }) => draft.attributes['n']),
    ])
    await audit.close()
    journal.close()
    for (const { n, outcome } of outcomes)
      if (outcome !== 'OUTCOME_UNKNOWN' && kept.has(n) !== (outcome === 'kept'))
        throw new Error(`event ${n}: ${outcome}, but ${kept.has(n) ? 'kept' : 'not kept'}`)
    return outcomes
  } finally {
    temp.remove()
  }
}

export const campaign: Campaign = {
  rounds: 40,
  async run(run) {
    const counts: Record<string, number> = {}
    await withSyncShim('fsync-child.js', (runShimmed) =>
      runRounds(run, plans, counts, async (plan) => {
        for (const { outcome } of await runRound(plan, runShimmed))
          counts[outcome] = (counts[outcome] ?? 0) + 1
      }),
    )
    return counts
  },
}
