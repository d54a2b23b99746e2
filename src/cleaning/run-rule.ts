import { abortedError, untilAborted } from '../errors.js'
import type { EventStore, WaitOptions } from '../store/store.js'
import { readHolds } from './filters.js'
import type { Lease } from './lease.js'
import type { CleaningOptions, CleaningResult, OnCleaningProgress } from './rule.js'
import type { Job, Rule, Tally } from './task.js'
import { messageOf, type RecordEvent, tellDone, tellFailed, tellLost } from './run-events.js'

export interface RunOptions {
  readonly store: EventStore
  readonly record: RecordEvent
  readonly holds: CleaningOptions['holds']
  /** Aborts when the run is given up. */
  readonly signal: AbortSignal
  readonly onProgress: OnCleaningProgress
  /** Comes first in every run. */
  readonly prepare: (options: WaitOptions) => Promise<void>
}

/**
 * Runs the rule, for which `lease` has been granted, and has the log tell of it. What goes wrong is in
 * the result; rejects with `ABORTED` only, once it has told what was removed until then.
 */
export async function runRule(
  rule: Rule,
  lease: Lease,
  tally: Tally,
  options: RunOptions,
): Promise<CleaningResult> {
  const { record, signal: givenUp } = options
  const signal = AbortSignal.any([givenUp, lease.signal])
  const job = jobOf(rule, lease.startedAt, tally, { ...options, signal })
  const work = async (): Promise<void> => {
    await options.prepare({ signal })
    if (lease.unfinished) await tellLost(record, rule, lease.unfinished)
    await rule.task.run(job)
  }
  const tell = ({ error }: Outcome): Promise<void> =>
    error ? tellFailed(record, rule, tally, error.thrown) : tellDone(record, rule, tally)

  let outcome = await outcomeOf(work())
  const isGivenUp = givenUp.aborted
  // What a store says about a signal that has aborted is less than the reason.
  if (lease.signal.aborted) outcome = { error: { thrown: lease.signal.reason } }
  else if (isGivenUp) outcome = {}
  const told = await outcomeOf(tell(outcome))
  const failure = outcome.error ?? told.error
  const error = failure && messageOf(failure.thrown)
  const run = { removedCount: tally.removed_count, error: isGivenUp ? 'aborted' : error, isGivenUp }
  // Where the store is away the lease ends by itself.
  await outcomeOf(lease.release(run))
  if (isGivenUp) throw abortedError(givenUp)
  return resultOf(rule, tally, error)
}

/** What the rule would remove; an error of it is in the result. Rejects with `ABORTED`. */
export async function previewRule(
  rule: Rule,
  now: number,
  options: RunOptions,
): Promise<CleaningResult> {
  const tally: Tally = { removed_count: 0 }
  try {
    const due = await rule.task.preview(jobOf(rule, now, tally, options))
    return { name: rule.name, target: rule.target, removed_count: 0, ...due }
  } catch (thrown) {
    if (options.signal.aborted) throw abortedError(options.signal)
    return resultOf(rule, tally, messageOf(thrown))
  }
}

function jobOf(rule: Rule, now: number, tally: Tally, options: RunOptions): Job {
  const { store, holds, signal, onProgress } = options
  return {
    store,
    rule: rule.name,
    now,
    signal,
    tally,
    holds: () => untilAborted(readHolds(holds), signal),
    progress() {
      const { removed_count, archived_count } = tally
      onProgress({
        rule: rule.name,
        removed_count,
        ...(archived_count !== undefined && { archived_count }),
      })
    },
  }
}

function resultOf(rule: Rule, tally: Tally, error: string | undefined): CleaningResult {
  const { removed_count, archived_count, archive_file, before, analysis } = tally
  return {
    name: rule.name,
    target: rule.target,
    removed_count,
    ...(before !== undefined && { before }),
    ...(archived_count !== undefined && { archived_count }),
    ...(archive_file !== undefined && { archive_file }),
    ...(analysis?.skipped_reason !== undefined && { skipped: analysis.skipped_reason }),
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
