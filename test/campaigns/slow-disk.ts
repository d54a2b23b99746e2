import { AuditLog } from 'daybook'
import { sqliteStore } from 'daybook/sqlite'
import { allEvents } from '../support/reported-losses.js'
import { tempDir } from '../support/temp.js'
import type { Campaign } from './run.js'
import { type RunShimmed, withSyncShim } from './shared/sync-shim.js'
import type { SlowPlan, SlowResult } from './slow-disk-child.js'

/*
 * For some seconds, every sync takes longer than the deadline. Tests each failure policy. Stored and journalled
 * events must be in the log once. Events with an unknown outcome may be there. Needs a C compiler.
 */

const PLANS: readonly SlowPlan[] = (['block', 'queue', 'drop'] as const).map((policy) => ({
  policy,
  syncMs: 2000,
  deadlineMs: 500,
  slowMs: 8000,
}))

async function runPlan(plan: SlowPlan, run: RunShimmed): Promise<SlowResult> {
  const temp = tempDir()
  try {
    const filename = temp.file('audit.db')
    const control = temp.file('slow')
    // The journal is on a fast disk.
    const args = [filename, temp.file('journal.sqlite'), control, JSON.stringify(plan)]
    const output = await run(args, { DAYBOOK_SLOW_SYNC: control })
    const result = JSON.parse(output) as SlowResult
    const audit: AuditLog = new AuditLog({ store: sqliteStore({ filename }), types: {} })
    const events = (await allEvents(audit)).filter(({ type }) => type === 'test:slow')
    await audit.close()
    const found = events.map(({ attributes }) => attributes['n'] as number)
    if (new Set(found).size < found.length) throw new Error('an event is doubled')
    const lost = result.stored.filter((n) => !found.includes(n))
    if (lost.length > 0) throw new Error(`lost: ${lost.join()}`)
    const expected = result.stored.length + (plan.policy === 'queue' ? result.journalled : 0)
    const { OUTCOME_UNKNOWN = 0, undefined: dropped = 0 } = result.outcomes
    const unknown = plan.policy === 'queue' ? 0 : OUTCOME_UNKNOWN + dropped
    if (found.length < expected || found.length > expected + unknown)
      throw new Error(`${found.length} events are kept, and ${expected} were promised`)
    return result
  } finally {
    temp.remove()
  }
}

export const campaign: Campaign = {
  rounds: PLANS.length,
  async run({ rounds, from, failed }) {
    const figures: Record<string, object> = {}
    await withSyncShim('slow-disk-child.js', async (run) => {
      for (const plan of PLANS.slice(from, rounds)) {
        const name = plan.policy
        try {
          const { outcomes, loop, journalled } = await runPlan(plan, run)
          figures[name] = { ...outcomes, journalled, loop }
          console.log(name, figures[name])
        } catch (error) {
          failed(`${name}: ${(error as Error).message}`)
        }
      }
    })
    return figures
  },
}
