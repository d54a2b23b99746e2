import { AuditLogError, throwIfAborted } from '../errors.js'
import { warnThrown } from '../async/warn.js'
import type { EventDraft } from '../event/event.js'
import type { DescribedTypes } from '../describing/describe-event.js'
import {
  type EventStore,
  type SuppressedCount,
  WAIT_OPTIONS,
  type WaitOptions,
} from '../store/store.js'
import { type AgeClock, createAgeClock } from './age-clock.js'
import type { RemovalPolicy, Remover } from '../ledger/remover.js'
import { checkHolds, readHolds, type Holds } from './filters.js'
import type { SealedNames } from '../filter/sealed-names.js'
import { claimLease } from './lease.js'
import { readRules } from './read-rules.js'
import {
  CLEANING_OPTIONS,
  type CleaningOptions,
  type CleaningProgress,
  type CleaningResult,
  type OnCleaningProgress,
} from './rule.js'
import { storeTime } from './rule-state.js'
import { previewRule, runRule, type RunOptions } from './run-rule.js'
import type { Schedule } from './schedule.js'
import {
  createDueRuns,
  type Refusal,
  type ScheduledRunsOptions,
  startScheduledRuns,
} from './scheduled-runs.js'
import { type CleaningStatus, readStatuses } from './status.js'
import type { RecordEvent, Rule, RunTotals, Undelivered } from './task.js'
import { recordRun } from './run-events.js'
import { checkOptions, type OptionNames } from '../options.js'

/** The parts of a log that cleaning uses. */
export interface CleaningContext {
  readonly store: EventStore
  readonly record: RecordEvent
  readonly undelivered: Undelivered
  /** Names of attributes that no rule and no hold may use. */
  readonly sealedNames: SealedNames
  /** Makes the sentences of archived events. */
  readonly described: DescribedTypes
  /** Decides if the clock can be trusted. @default one for these rules alone */
  readonly ageClock?: AgeClock
  /** Removes sealed events. @default the store removes them */
  readonly remover?: Remover | undefined
  /** The event that reports calls that throttles have suppressed. */
  readonly suppressedDraft: (counts: readonly SuppressedCount[]) => EventDraft
}

export interface CleaningPreviewOptions extends WaitOptions {
  /** Names of the rules. @default all */
  readonly rules?: readonly string[] | undefined
}

export interface CleaningRunOptions extends CleaningPreviewOptions {
  readonly onProgress?: OnCleaningProgress | undefined
}

const PREVIEW: OptionNames<CleaningPreviewOptions> = { ...WAIT_OPTIONS, rules: true }
const RUN: OptionNames<CleaningRunOptions> = { ...PREVIEW, onProgress: true }

/** The cleaning rules of a log. */
export interface Cleaning {
  /**
   * Runs the rules one after another, also rules that are not due. First records suppressed calls that no event has
   * reported. A failed rule does not stop the other rules: its error is in its result and in the log. A rule that
   * another process is running is skipped.
   *
   * Rejects with `INVALID_OPTION` for an unknown rule, `STORE_FAILED`, `CLOSED`, and `ABORTED`. An abort takes effect
   * between two batches; removed events stay removed. If the store does not answer, the run ends after about 30
   * seconds and the deadline of the log. Then a part of the last batch may be removed without being counted.
   */
  run(options?: CleaningRunOptions): Promise<readonly CleaningResult[]>
  /**
   * Runs the rules that are due by their schedule, for processes with `scheduled: false`. Resolves to the results of
   * these rules. Rejects as `run` does.
   */
  runDue(options?: WaitOptions): Promise<readonly CleaningResult[]>
  /** Resolves to the results that `run` would have now. Removes nothing. */
  preview(options?: CleaningPreviewOptions): Promise<readonly CleaningResult[]>
  status(options?: WaitOptions): Promise<CleaningStatus>
  /** Stops the runs under way between two batches, and the schedule. */
  close(): Promise<void>
}

/** Checks the options, and returns the rules. Throws `INVALID_OPTION`. */
export function readCleaning(options: CleaningOptions, names: SealedNames): readonly Rule[] {
  checkOptions(options, CLEANING_OPTIONS, 'cleaning')
  if ('holds' in options && typeof options.holds !== 'function') checkHolds(options.holds, names)
  return readRules(options.rules, names)
}

/** Checks the rules, and runs rules with a schedule when they are due. */
export function createCleaning(
  context: CleaningContext,
  options: CleaningOptions = { rules: [] },
): Cleaning {
  const { store, record, undelivered, described, suppressedDraft, remover, sealedNames } = context
  const { ageClock = createAgeClock(store) } = context
  const rules = readCleaning(options, sealedNames)
  if (rules.some(({ maxAge }) => maxAge)) ageClock.begin()
  const tasks = createTaskTracker()
  const { closing } = tasks

  const recordSuppressed = async (given: WaitOptions): Promise<void> => {
    while ((await store.recordSuppressed(suppressedDraft, given)) > 0);
  }

  const runOptions = ({ signal, onProgress }: CleaningRunOptions = {}): RunOptions => ({
    store,
    record,
    undelivered,
    described,
    ageClock,
    holds: () => readHolds(options.holds, sealedNames),
    sealed: async (rule, holds, given) => remover?.begin(rule.name, policyOf(rules, holds), given),
    prepare: recordSuppressed,
    signal: AbortSignal.any([closing, ...(signal ? [signal] : [])]),
    onProgress(progress) {
      notify(options.onProgress, progress)
      notify(onProgress, progress)
    },
  })

  const runNow = async (chosen: readonly Rule[], given: RunOptions): Promise<CleaningResult[]> => {
    if (chosen.length === 0) await recordSuppressed(given)
    const results: CleaningResult[] = []
    for (const rule of chosen) {
      const result = await runUnlessRefused(rule, undefined, given)
      results.push('outcome' in result ? await skip(rule, record) : result)
    }
    return results
  }

  const previewNow = async (
    chosen: readonly Rule[],
    given: RunOptions,
  ): Promise<CleaningResult[]> => {
    const now = await storeTime(store, given)
    const results: CleaningResult[] = []
    for (const rule of chosen) results.push(await previewRule(rule, now, given))
    return results
  }

  const dueOptions = (given?: WaitOptions): ScheduledRunsOptions => ({
    store,
    rules: rules.filter(({ schedule }) => schedule !== undefined),
    run: (rule) => runIfDue(rule, runOptions(given), remover),
    recordSuppressed,
    signal: runOptions(given).signal,
  })

  const isScheduled = !store.readOnly && (options.scheduled ?? true)
  const stopScheduled = isScheduled ? startScheduledRuns(dueOptions()) : undefined

  return {
    run: (given) =>
      tasks.track(() => runNow(choose(rules, given?.rules), runOptions(given)), given, RUN, 'run'),
    runDue: (given) =>
      tasks.track(() => createDueRuns(dueOptions(given)).run(), given, WAIT_OPTIONS, 'runDue'),
    preview: (given) =>
      tasks.track(
        () => previewNow(choose(rules, given?.rules), runOptions(given)),
        given,
        PREVIEW,
        'preview',
      ),
    status: (given) =>
      tasks.track(() => readStatuses(store, rules, given), given, WAIT_OPTIONS, 'status'),
    close: () => tasks.close(async () => stopScheduled?.()),
  }
}

/** The rules that remove events, and the holds, as the ledger states them. */
const policyOf = (rules: readonly Rule[], holds: Holds): RemovalPolicy => ({
  rules: rules
    .filter(({ target }) => target === 'events')
    .map(({ name, filters }) => ({ name, ...filters })),
  holds: holds.map(({ text }) => text),
})

/** The rules with these names, or all. Throws `INVALID_OPTION` for a name that no rule has. */
function choose(rules: readonly Rule[], names: readonly string[] | undefined): readonly Rule[] {
  if (names === undefined) return rules
  if (!Array.isArray(names))
    throw new AuditLogError('INVALID_OPTION', 'rules must be a list of names of cleaning rules')
  const unknown = (names as readonly string[]).find(
    (name) => !rules.some((rule) => rule.name === name),
  )
  if (unknown !== undefined)
    throw new AuditLogError('INVALID_OPTION', `there is no cleaning rule ${unknown}`)
  return rules.filter(({ name }) => names.includes(name))
}

/** Runs the rule, with a schedule only if it is due. Returns the result, or the reason why the rule was not run. */
async function runUnlessRefused(
  rule: Rule,
  schedule: Schedule | undefined,
  options: RunOptions,
): Promise<CleaningResult | Refusal> {
  const totals: RunTotals = { removed_count: 0 }
  const removedCount = (): number => totals.removed_count
  const { store, signal } = options
  const claim = await claimLease(store, rule.name, { schedule, removedCount, signal })
  return claim.outcome === 'granted' ? runRule(rule, claim.lease, totals, options) : claim
}

async function runIfDue(
  rule: Rule,
  options: RunOptions,
  remover: Remover | undefined,
): Promise<CleaningResult | Refusal> {
  // The process that seals the log runs the rule; this one must not take its turn.
  if (rule.target === 'events' && (await remover?.canRemove(options)) === false)
    return { outcome: 'held' }
  const result = await runUnlessRefused(rule, rule.schedule, options)
  if ('outcome' in result) await options.ageClock.keepUp(rule, { signal: options.signal })
  return result
}

async function skip(rule: Rule, record: RecordEvent): Promise<CleaningResult> {
  const skipped = 'another process is cleaning'
  const analysis = { analyzed_tables: [], skipped_reason: skipped }
  if (rule.target === 'statistics') await recordRun(record, rule, { removed_count: 0, analysis })
  return { name: rule.name, target: rule.target, removed_count: 0, skipped }
}

interface TaskTracker {
  /** Aborts when `close` is called. */
  readonly closing: AbortSignal
  /** Rejects with `INVALID_OPTION` for options that the method does not have, and with `CLOSED` if `close` has ended the work. */
  track<Value>(
    work: () => Promise<Value>,
    options: WaitOptions | undefined,
    names: Readonly<Record<string, true>>,
    method: string,
  ): Promise<Value>
  /** Resolves when `stop` and all tracked work have ended. */
  close(stop: () => Promise<void>): Promise<void>
}

function createTaskTracker(): TaskTracker {
  const closing = new AbortController()
  const running = new Set<Promise<unknown>>()
  return {
    closing: closing.signal,
    async track(work, options, names, method) {
      checkOptions(options, names, `cleaning.${method}`)
      const signal = options?.signal
      if (closing.signal.aborted) throw closedError()
      throwIfAborted(signal)
      const promise = work()
      running.add(promise)
      try {
        return await promise
      } catch (error) {
        throw closing.signal.aborted && !signal?.aborted ? closedError() : error
      } finally {
        running.delete(promise)
      }
    },
    async close(stop) {
      closing.abort()
      await Promise.allSettled([stop(), ...running])
    },
  }
}

const closedError = (): AuditLogError => new AuditLogError('CLOSED', 'the audit log is closed')

/** A handler that throws does not end the run. */
function notify(handler: OnCleaningProgress | undefined, progress: CleaningProgress): void {
  try {
    handler?.(progress)
  } catch (error) {
    warnThrown(error)
  }
}
