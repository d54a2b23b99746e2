import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import path from 'node:path'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { AuditLog } from 'daybook'
import { sqliteStore } from 'daybook/sqlite'
import { compileSources } from '../support/global-compiled.js'
import { allEvents } from '../support/reported-losses.js'
import { tempDir } from '../support/temp.js'
import type { Campaign } from './run.js'
import type { SlowPlan, SlowResult } from './slow-disk-child.js'

/*
 * Every sync takes longer than the deadline for some seconds, with each policy and both writers. What was stored is in
 * the log once, what was journalled too, and nothing else. Needs a C compiler.
 */

const here = (name: string): string => fileURLToPath(new URL(name, import.meta.url))

const PLANS: readonly SlowPlan[] = (['thread', 'inline'] as const).flatMap((writer) =>
  (['block', 'queue', 'drop'] as const).map((policy) => ({
    writer,
    policy,
    syncMs: 2000,
    deadlineMs: 500,
    slowMs: 8000,
  })),
)

async function runPlan(file: string, shim: string, plan: SlowPlan): Promise<SlowResult> {
  const temp = tempDir()
  try {
    const filename = temp.file('audit.db')
    const control = temp.file('slow')
    // The journal is on a disk that is not slow.
    const args = [file, filename, temp.file('journal.sqlite'), control, JSON.stringify(plan)]
    const child = spawn(process.execPath, args, {
      env: { ...process.env, LD_PRELOAD: shim, DAYBOOK_SLOW_SYNC: control },
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    const [output] = await Promise.all([text(child.stdout), once(child, 'close')])
    const result = JSON.parse(output) as SlowResult
    const audit: AuditLog = new AuditLog({ store: sqliteStore({ filename }), types: {} })
    const events = (await allEvents(audit)).filter(({ type }) => type === 'test:slow')
    await audit.close()
    const found = events.map(({ attributes }) => attributes['n'] as number)
    if (new Set(found).size < found.length) throw new Error('an event is doubled')
    const lost = result.stored.filter((n) => !found.includes(n))
    if (lost.length > 0) throw new Error(`lost: ${lost.join()}`)
    const expected = result.stored.length + (plan.policy === 'queue' ? result.journalled : 0)
    if (found.length !== expected)
      throw new Error(`${found.length} events are kept, and ${expected} were promised`)
    return result
  } finally {
    temp.remove()
  }
}

export const campaign: Campaign = {
  rounds: PLANS.length,
  async run({ rounds, from, failed }) {
    const temp = tempDir()
    const shim = path.join(temp.dir, 'failing-sync.so')
    execFileSync('cc', ['-shared', '-fPIC', '-o', shim, here('failing-sync.c'), '-ldl'])
    const compiled = await compileSources()
    const file = path.join(compiled.folder, 'test/campaigns/slow-disk-child.js')
    const figures: Record<string, object> = {}
    for (const plan of PLANS.slice(from, rounds)) {
      const name = `${plan.writer} ${plan.policy}`
      try {
        const { outcomes, loop, journalled } = await runPlan(file, shim, plan)
        figures[name] = { ...outcomes, journalled, loop }
        console.log(name, figures[name])
      } catch (error) {
        failed(`${name}: ${(error as Error).message}`)
      }
    }
    await compiled.remove()
    temp.remove()
    return figures
  },
}
