import { createPausingLoop } from '../async/loops.js'
import { TIMES } from '../coordination/times.js'
import type { EventStore, WaitOptions } from '../store/store.js'
import { type Claim, claimLease } from './lease.js'
import type { CleaningResult } from './rule.js'
import type { Schedule } from './schedule.js'
import type { Rule } from './task.js'

/** Reason why a rule was not run. */
export type Refusal = Exclude<Claim, { readonly outcome: 'granted' }>

export interface ScheduledRunsOptions {
  readonly store: EventStore
  /** The rules with a schedule. */
  readonly rules: readonly Rule[]
  /** Runs the rule if it is due. */
  readonly run: (rule: Rule) => Promise<CleaningResult | Refusal>
  /** Records the suppressed calls that no event has reported. */
  readonly recordSuppressed: (options: WaitOptions) => Promise<void>
  readonly signal: AbortSignal
}

// Name of the lease for recording suppressed calls. No rule can have this name.
const SUPPRESSED_LEASE = ''
const SUPPRESSED_SCHEDULE: Schedule = { every: { hours: 1 } }

const FIRST_CHECK_MS = 1000
// Delay of the first report of suppressed calls. Without scheduled rules, the store is not used before.
const FIRST_SUPPRESSED_MS = 3_600_000
const AFTER_RUN_MS = 1000
const RETRY_MS = 60_000
// Bounds how late a changed clock, or a run of another process, is noticed.
const MAX_WAIT_MS = 600_000
const MAX_JITTER_MS = 5000

/** Runs the due rules, one after another. */
export interface DueRuns {
  /** Returns the milliseconds until the next check. Never rejects. */
  check(): Promise<number>
  /** The results of the rules that were due. Rejects with errors of the store. */
  run(): Promise<readonly CleaningResult[]>
}

export function createDueRuns({
  store,
  rules,
  run,
  recordSuppressed,
  signal,
}: ScheduledRunsOptions): DueRuns {
  const runIfDue = async (rule: Rule): Promise<number> => {
    const result = await run(rule)
    return 'outcome' in result ? waitAfter(result) : AFTER_RUN_MS
  }

  const recordSuppressedIfDue = async (): Promise<number> => {
    const schedule = SUPPRESSED_SCHEDULE
    const removedCount = (): number => 0
    const claim = await claimLease(store, SUPPRESSED_LEASE, { schedule, removedCount, signal })
    if (claim.outcome !== 'granted') return waitAfter(claim)
    try {
      await recordSuppressed({ signal })
    } finally {
      await claim.lease.release({ removedCount: 0 })
    }
    return AFTER_RUN_MS
  }

  const check = async (): Promise<number> => {
    let waitMs = MAX_WAIT_MS
    for (const next of [recordSuppressedIfDue, ...rules.map((rule) => () => runIfDue(rule))]) {
      if (signal.aborted) break
      // Failed rules are already reported in the log. This is an error of the store.
      waitMs = Math.min(waitMs, await next().catch(() => RETRY_MS))
    }
    return waitMs
  }

  return {
    check,
    async run() {
      await recordSuppressedIfDue()
      const results: CleaningResult[] = []
      for (const rule of rules) {
        if (signal.aborted) break
        const result = await run(rule)
        if (!('outcome' in result)) results.push(result)
      }
      return results
    },
  }
}

/** Adds a small random time, so that one of several processes checks first. */
const withJitter = (ms: number): number => ms + Math.random() * Math.min(ms / 10, MAX_JITTER_MS)

/** Runs each rule when it is due, until the signal aborts. Returns a function that stops, and resolves when the current run has ended. */
export function startScheduledRuns(options: ScheduledRunsOptions): () => Promise<void> {
  const due = createDueRuns(options)
  const firstMs = withJitter(options.rules.length > 0 ? FIRST_CHECK_MS : FIRST_SUPPRESSED_MS)
  return createPausingLoop(async () => withJitter(await due.check()), { firstMs }).stop
}

const waitAfter = (refusal: Refusal): number =>
  refusal.outcome === 'held' ? TIMES.cleaning.timeoutMs : refusal.dueIn / 1000
