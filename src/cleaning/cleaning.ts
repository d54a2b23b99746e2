import { inspect } from 'node:util'
import { AuditLogError, throwIfAborted } from '../errors.js'
import type { EventDraft } from '../event/event.js'
import type { EventStore, SuppressedCount, WaitOptions } from '../store/store.js'
import { checkHolds } from './filters.js'
import { type Claim, claimLease } from './lease.js'
import { readRules } from './read-rules.js'
import type {
  CleaningOptions,
  CleaningProgress,
  CleaningResult,
  OnCleaningProgress,
} from './rule.js'
import { LEASE_MS, storeTime } from './rule-state.js'
import { previewRule, runRule, type RunOptions } from './run-rule.js'
import type { Schedule } from './schedule.js'
import { type CleaningStatus, readStatuses } from './status.js'
import type { Rule, Tally } from './task.js'
import { type RecordEvent, tellDone } from './run-events.js'
import { startTurns } from './timer-loop.js'

/** What the log gives to its cleaning. */
export interface CleaningContext {
  readonly store: EventStore
  readonly record: RecordEvent
  /** The event that tells what throttles have held back. */
  readonly suppressedDraft: (counts: readonly SuppressedCount[]) => EventDraft
}

export interface CleaningPreviewOptions extends WaitOptions {
  /** Names of the rules. @default all */
  readonly rules?: readonly string[] | undefined
}

export interface CleaningRunOptions extends CleaningPreviewOptions {
  readonly onProgress?: OnCleaningProgress | undefined
}

/** The cleaning rules of a log. */
export interface Cleaning {
  /**
   * Runs the rules, one after another, whether their turn has come or not. One that fails is told
   * in its result and in the log, and stops no other; one that another process is running is skipped.
   * First it tells in the log what throttles have held back and no event has told of.
   *
   * Rejects with `INVALID_OPTION` for a rule that there is not, `STORE_FAILED`, `CLOSED`, and
   * `ABORTED`: between two batches, what was removed until then stays removed. A store that does not
   * answer is waited for about 30 seconds at most, besides the log's deadline; of the last batch some may
   * be gone then, uncounted.
   */
  run(options?: CleaningRunOptions): Promise<readonly CleaningResult[]>
  /** What `run` would remove now. Removes nothing. */
  preview(options?: CleaningPreviewOptions): Promise<readonly CleaningResult[]>
  status(options?: WaitOptions): Promise<CleaningStatus>
  /** Ends what goes on, between two batches, and all turns to come. */
  close(): Promise<void>
}

// What throttles have held back is told in turns of their own too; no rule has this name.
const TELLING = ''
const TELLING_SCHEDULE: Schedule = { every: { hours: 1 } }

const FIRST_LOOK_MS = 1000
// A log without a schedule leaves its store alone at first.
const FIRST_TELLING_MS = 3_600_000
const AGAIN_MS = 1000
const RETRY_MS = 60_000
// A clock that was set, and what other processes did, is noticed within this time.
const LONGEST_WAIT_MS = 600_000

/** Checks the rules, and runs those that have a schedule when their turn comes. */
export function createCleaning(
  { store, record, suppressedDraft }: CleaningContext,
  options: CleaningOptions = { rules: [] },
): Cleaning {
  const rules = readRules(options.rules)
  if (typeof options.holds !== 'function') checkHolds(options.holds)
  const scheduled = rules.filter(({ schedule }) => schedule !== undefined)
  const closing = new AbortController()
  const running = new Set<Promise<unknown>>()

  const choose = (names: readonly string[] | undefined): readonly Rule[] => {
    const stray = names?.find((name) => !rules.some((rule) => rule.name === name))
    if (stray !== undefined)
      throw new AuditLogError('INVALID_OPTION', `there is no cleaning rule ${stray}`)
    return names ? rules.filter(({ name }) => names.includes(name)) : rules
  }

  const recordSuppressed = async (options: WaitOptions): Promise<void> => {
    while ((await store.recordSuppressed(suppressedDraft, options)) > 0);
  }

  const runOptions = ({ signal, onProgress }: CleaningRunOptions = {}): RunOptions => ({
    store,
    record,
    holds: options.holds,
    prepare: recordSuppressed,
    signal: AbortSignal.any([closing.signal, ...(signal ? [signal] : [])]),
    onProgress(progress) {
      notify(options.onProgress, progress)
      notify(onProgress, progress)
    },
  })

  /** Gives the result, or why the rule has not been run. */
  const tryToRun = async (
    rule: Rule,
    schedule: Schedule | undefined,
    options: RunOptions,
  ): Promise<CleaningResult | Refusal> => {
    const tally: Tally = { removed_count: 0 }
    const removedCount = (): number => tally.removed_count
    const { signal } = options
    const claim = await claimLease(store, rule.name, { schedule, removedCount, signal })
    return claim.outcome === 'granted' ? runRule(rule, claim.lease, tally, options) : claim
  }

  const skip = async (rule: Rule): Promise<CleaningResult> => {
    const skipped = 'another process is cleaning'
    const analysis = { analyzed_tables: [], skipped_reason: skipped }
    if (rule.target === 'statistics') await tellDone(record, rule, { removed_count: 0, analysis })
    return { name: rule.name, target: rule.target, removed_count: 0, skipped }
  }

  const runNow = async (
    chosen: readonly Rule[],
    options: RunOptions,
  ): Promise<CleaningResult[]> => {
    if (chosen.length === 0) await recordSuppressed(options)
    const results: CleaningResult[] = []
    for (const rule of chosen) {
      const result = await tryToRun(rule, undefined, options)
      results.push('outcome' in result ? await skip(rule) : result)
    }
    return results
  }

  const previewNow = async (
    chosen: readonly Rule[],
    options: RunOptions,
  ): Promise<CleaningResult[]> => {
    const now = await storeTime(store, options)
    const results: CleaningResult[] = []
    for (const rule of chosen) results.push(await previewRule(rule, now, options))
    return results
  }

  /** The rule's turn, where it has come; gives the milliseconds until the next look at it. */
  const takeTurn = async (rule: Rule): Promise<number> => {
    const result = await tryToRun(rule, rule.schedule, runOptions())
    return 'outcome' in result ? waitFor(result) : AGAIN_MS
  }

  const tellInTurn = async (): Promise<number> => {
    const { signal } = closing
    const schedule = TELLING_SCHEDULE
    const claim = await claimLease(store, TELLING, { schedule, removedCount: () => 0, signal })
    if (claim.outcome !== 'granted') return waitFor(claim)
    try {
      await recordSuppressed({ signal })
    } finally {
      await claim.lease.release({ removedCount: 0 })
    }
    return AGAIN_MS
  }

  const look = async (): Promise<number> => {
    let wait = LONGEST_WAIT_MS
    for (const turn of [tellInTurn, ...scheduled.map((rule) => () => takeTurn(rule))]) {
      if (closing.signal.aborted) break
      // What went wrong with a rule is told; else the store is away.
      wait = Math.min(wait, await turn().catch(() => RETRY_MS))
    }
    return wait
  }

  const turns = startTurns(look, scheduled.length > 0 ? FIRST_LOOK_MS : FIRST_TELLING_MS)

  /** Has `close` wait for it; rejects with `CLOSED` where the log's end has ended it. */
  const track = async <Value>(
    work: () => Promise<Value>,
    { signal }: WaitOptions = {},
  ): Promise<Value> => {
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
  }

  return {
    run: (given) => track(() => runNow(choose(given?.rules), runOptions(given)), given),
    preview: (given) => track(() => previewNow(choose(given?.rules), runOptions(given)), given),
    status: (given) => track(() => readStatuses(store, rules, given), given),
    async close() {
      closing.abort()
      await Promise.allSettled([turns.stop(), ...running])
    },
  }
}

type Refusal = Exclude<Claim, { readonly outcome: 'granted' }>

const waitFor = (refusal: Refusal): number =>
  refusal.outcome === 'held' ? LEASE_MS : refusal.dueIn / 1000

const closedError = (): AuditLogError => new AuditLogError('CLOSED', 'the audit log is closed')

/** A handler that throws stops no run. */
function notify(handler: OnCleaningProgress | undefined, progress: CleaningProgress): void {
  try {
    handler?.(progress)
  } catch (error) {
    process.emitWarning(error instanceof Error ? error : new Error(inspect(error)))
  }
}
