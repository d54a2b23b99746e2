import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import path from 'node:path'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { AuditLog } from 'daybook'
import { sqliteJournal, sqliteStore } from 'daybook/sqlite'
import fc from 'fast-check'
import { tempDir } from '../support/temp.js'
import type { Outcome, Plan } from './fsync-child.js'
import type { Campaign } from './run.js'

/*
 * `fsync` fails a few times or for good while events are recorded; then the process is killed. What was resolved must
 * be kept, and what was rejected must not, except after `OUTCOME_UNKNOWN`. Needs a C compiler.
 */

const here = (name: string): string => fileURLToPath(new URL(name, import.meta.url))

const plans: fc.Arbitrary<Plan> = fc.record({
  failures: fc.array(fc.constantFrom(0, 0, 1, 1, 2, 3, 1000), { minLength: 1, maxLength: 6 }),
  isJournalled: fc.boolean(),
  hasRollback: fc.boolean(),
  writer: fc.constantFrom('thread', 'inline'),
})

async function runRound(plan: Plan, shim: string): Promise<readonly Outcome[]> {
  const temp = tempDir()
  try {
    const files = [temp.file('audit.db'), temp.file('journal.db')] as const
    const control = temp.file('failing')
    const hooks = ['--import', 'tsx', '--import', './test/support/typescript-threads.js']
    const args = [...hooks, here('fsync-child.ts'), ...files, control, JSON.stringify(plan)]
    const child = spawn(process.execPath, args, {
      env: { ...process.env, LD_PRELOAD: shim, DAYBOOK_FAILING_SYNC: control },
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    const [output] = await Promise.all([text(child.stdout), once(child, 'close')])
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
  async run({ seed, rounds, failed }) {
    const temp = tempDir()
    const shim = path.join(temp.dir, 'failing-sync.so')
    execFileSync('cc', ['-shared', '-fPIC', '-o', shim, here('failing-sync.c'), '-ldl'])
    const counts: Record<string, number> = {}
    for (const [round, plan] of fc.sample(plans, { seed, numRuns: rounds }).entries()) {
      try {
        for (const { outcome } of await runRound(plan, shim))
          counts[outcome] = (counts[outcome] ?? 0) + 1
      } catch (error) {
        failed(`round ${round}, ${JSON.stringify(plan)}: ${(error as Error).message}`)
      }
    }
    temp.remove()
    return counts
  },
}
