import type { EventStore, WaitOptions } from '../store/store.js'
import { formatTimestamp } from '../event/timestamp.js'
import { type LastRun, readStatus } from './rule-state.js'
import type { Rule } from './task.js'

export interface CleaningRuleStatus {
  readonly name: string
  readonly target: string
  /** True while any process runs it. */
  readonly running: boolean
  /** The last run that came to its end, well or not; null where there is none. */
  readonly lastRun: {
    readonly started_at: string
    readonly finished_at: string
    readonly removed_count: number
    readonly error?: string
  } | null
  /** Null where the rule runs only when it is asked to. */
  readonly nextRun: string | null
}

export interface CleaningStatus {
  /** `created_at` of the oldest event; null where there is none. */
  readonly oldest: string | null
  readonly rules: readonly CleaningRuleStatus[]
}

export async function readStatuses(
  store: EventStore,
  rules: readonly Rule[],
  options?: WaitOptions,
): Promise<CleaningStatus> {
  const { events } = await store.list(
    { where: undefined, sorts: [{ attribute: 'created_at', direction: 'asc' }], limit: 1 },
    options,
  )
  const statuses: CleaningRuleStatus[] = []
  for (const { name, target, schedule } of rules) {
    const { running, last, next } = await readStatus(store, name, schedule, options)
    statuses.push({
      name,
      target,
      running,
      lastRun: last ? format(last) : null,
      nextRun: next === undefined ? null : formatTimestamp(next),
    })
  }
  return { oldest: events[0]?.created_at ?? null, rules: statuses }
}

function format({
  startedAt,
  finishedAt,
  removedCount,
  error,
}: LastRun): CleaningRuleStatus['lastRun'] {
  return {
    started_at: formatTimestamp(startedAt),
    finished_at: formatTimestamp(finishedAt),
    removed_count: removedCount,
    ...(error !== undefined && { error }),
  }
}
