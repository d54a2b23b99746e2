import fs from 'node:fs'
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { setTimeout as delay } from 'node:timers/promises'
import { AuditLog, type FailurePolicy } from 'daybook'
import { sqliteJournal, sqliteStore } from 'daybook/sqlite'

/*
 * Records 100 events a second while every sync takes some time: `<store file> <journal file> <file of
 * DAYBOOK_SLOW_SYNC> <plan>`. Then the disk is fast again. Prints the outcomes and the delays of the event loop.
 */

export interface SlowPlan {
  readonly policy: FailurePolicy
  readonly syncMs: number
  readonly deadlineMs: number
  readonly slowMs: number
}

export interface SlowResult {
  /** The number of each outcome: the code of an error, `stored`, or `undefined` for a call without an event. */
  readonly outcomes: Readonly<Record<string, number>>
  /** Milliseconds. */
  readonly loop: { readonly p50: number; readonly p99: number; readonly max: number }
  /** The numbers of the stored calls. */
  readonly stored: readonly number[]
  readonly journalled: number
}

const [filename, journalFile, control, text] = process.argv.slice(2) as [
  string,
  string,
  string,
  string,
]
const { policy, syncMs, deadlineMs, slowMs } = JSON.parse(text) as SlowPlan
const store = sqliteStore({ filename })
const journal = sqliteJournal({ filename: journalFile })
const audit: AuditLog = new AuditLog({
  store,
  types: {},
  failurePolicy: policy,
  waiting: { deadlineMs },
  journal,
})
// Otherwise the process warns of each loss.
audit.on('rejected', () => {})
audit.on('dropped', () => {})
for (let n = 0; n < 200; n++) await audit.recordCustom('test:warm')

const outcomes: Record<string, number> = {}
const stored: number[] = []
const loop = monitorEventLoopDelay({ resolution: 1 })
fs.writeFileSync(control, String(syncMs))
loop.enable()
const calls: Promise<void>[] = []
const end = performance.now() + slowMs
for (let n = 0; performance.now() < end; n++) {
  const call = async (): Promise<void> => {
    const outcome = await audit.recordCustom('test:slow', { n }).then(
      (event) => (event ? 'stored' : 'undefined'),
      ({ code }: { readonly code: string }) => code,
    )
    outcomes[outcome] = (outcomes[outcome] ?? 0) + 1
    if (outcome === 'stored') stored.push(n)
  }
  calls.push(call())
  await delay(10)
}
fs.writeFileSync(control, '0')
await Promise.all(calls)
loop.disable()
const { journalled } = audit.stats()
while (journal.length > 0) await delay(20)
await audit.close()
const ms = (nanoseconds: number): number => Math.round(nanoseconds / 1e4) / 100
const result: SlowResult = {
  outcomes,
  stored,
  journalled,
  loop: { p50: ms(loop.percentile(50)), p99: ms(loop.percentile(99)), max: ms(loop.max) },
}
process.stdout.write(JSON.stringify(result))
