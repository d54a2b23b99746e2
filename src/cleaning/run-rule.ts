import { abortedError, untilAborted } from '../errors.js'
import type { DescribedTypes } from '../describing/describe-event.js'
import type { EventStore, WaitOptions } from '../store/store.js'
import { type AgeClock, type ClockWait, type Judged, waitText } from './age-clock.js'
import type { Holds } from './filters.js'
import type { Lease } from './lease.js'
import type { CleaningResult, OnCleaningProgress } from './rule.js'
import type { Job, RecordEvent, Rule, RunTotals, Undelivered } from './task.js'
import { messageOf, recordRun, recordFailedRun, recordLostRun } from './run-events.js'

export interface RunOptions {
  readonly store: EventStore
  readonly record: RecordEvent
  readonly described: DescribedTypes
  /** Reads the legal holds. */
  readonly holds: () => Promise<Holds>
  readonly undelivered: Undelivered
  /** Begins the removal of sealed events; `undefined` without a ledger. */
  readonly sealed: (rule: Rule, holds: Holds, options: WaitOptions) => ReturnType<Job['sealed']>
  /** Aborts the run. */
  readonly ageClock: AgeClock
  readonly signal: AbortSignal
  readonly onProgress: OnCleaningProgress
  /** Called at the start of every run. */
  readonly prepare: (options: WaitOptions) => Promise<void>
}

/**
 * Runs the rule, whose lease has been granted, and records the run. Errors are in the result. Rejects
 * only with `ABORTED`, after it has recorded what was removed until the abort.
 */
export async function runRule(
  rule: Rule,
  lease: Lease,
  totals: RunTotals,
  options: RunOptions,
): Promise<CleaningResult> {
  const { record, signal: abortSignal } = options
  const signal = AbortSignal.any([abortSignal, lease.signal])
  let wait: ClockWait | undefined
  const work = async (): Promise<void> => {
    await options.prepare({ signal })
    if (lease.unfinished) await recordLostRun(record, rule, lease.unfinished)
    const judged = await options.ageClock.judge(rule, { signal })
    wait = judged.wait
    await rule.task.run(jobOf(rule, lease.startedAt, totals, { ...options, judged, signal }))
  }
  const recordOutcome = ({ error }: Outcome): Promise<void> =>
    error ? recordFailedRun(record, rule, totals, error.thrown) : recordRun(record, rule, totals)

  let outcome = await outcomeOf(work())
  const isAborted = abortSignal.aborted
  // The signal's reason says more than the store's error.
  if (lease.signal.aborted) outcome = { error: { thrown: lease.signal.reason } }
  else if (isAborted) outcome = {}
  const recorded = await outcomeOf(recordOutcome(outcome))
  const failure = outcome.error ?? recorded.error
  const error = failure && messageOf(failure.thrown)
  const run = {
    removedCount: totals.removed_count,
    error: isAborted ? 'aborted' : error,
    isAborted,
  }
  // If the store fails, the lease expires.
  await outcomeOf(lease.release(run))
  if (isAborted) throw abortedError(abortSignal)
  return resultOf(rule, totals, error, wait)
}

/** Resolves to a preview of what the rule would remove. Errors are in the result. Rejects only with `ABORTED`. */
export async function previewRule(
  rule: Rule,
  now: number,
  options: RunOptions,
): Promise<CleaningResult> {
  const totals: RunTotals = { removed_count: 0 }
  try {
    const { signal } = options
    const judged = await options.ageClock.judge(rule, { signal, preview: true })
    const due = await rule.task.preview(jobOf(rule, now, totals, { ...options, judged }))
    const { wait } = judged
    return {
      name: rule.name,
      target: rule.target,
      removed_count: 0,
      ...due,
      ...(wait && { skipped: waitText(wait) }),
    }
  } catch (thrown) {
    if (options.signal.aborted) throw abortedError(options.signal)
    return resultOf(rule, totals, messageOf(thrown))
  }
}

function jobOf(
  rule: Rule,
  now: number,
  totals: RunTotals,
  options: RunOptions & { readonly judged: Judged },
): Job {
  const { judged, store, holds, undelivered, record, described, signal, onProgress } = options
  return {
    store,
    undelivered,
    record,
    described,
    sealed: (read) => options.sealed(rule, read, { signal }),
    rule: rule.name,
    // The clock may have been set meanwhile, and only a judged time may remove events.
    now: Math.min(now, judged.now ?? now),
    ageWaits: judged.wait !== undefined,
    signal,
    totals,
    holds: () => untilAborted(holds(), signal),
    progress() {
      const { removed_count, archived_count } = totals
      onProgress({
        rule: rule.name,
        removed_count,
        ...(archived_count !== undefined && { archived_count }),
      })
    },
  }
}

function resultOf(
  rule: Rule,
  totals: RunTotals,
  error: string | undefined,
  wait?: ClockWait,
): CleaningResult {
  const { removed_count, archived_count, archive_file, before, analysis } = totals
  const skipped = analysis?.skipped_reason ?? (wait && waitText(wait))
  return {
    name: rule.name,
    target: rule.target,
    removed_count,
    ...(before !== undefined && { before }),
    ...(archived_count !== undefined && { archived_count }),
    ...(archive_file !== undefined && { archive_file }),
    ...(skipped !== undefined && { skipped }),
    ...(error !== undefined && { error }),
  }
}

interface Outcome {
  readonly error?: { readonly thrown: unknown }
}

async function outcomeOf(promise: Promise<void>): Promise<Outcome> {
  try {
    await promise
    return {}
  } catch (thrown) {
    return { error: { thrown } }
  }
}
