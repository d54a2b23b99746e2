import type { EventStore, WaitOptions } from '../store/store.js'
import { formatTimestamp } from '../event/timestamp.js'
import { type LastRun, readStatus } from './rule-state.js'
import type { Rule } from './task.js'

export interface CleaningRuleStatus {
  readonly name: string
  readonly target: string
  /** True while a process runs the rule. */
  readonly running: boolean
  /** The last run that ended, with or without an error; null if there is none. */
  readonly lastRun: {
    readonly started_at: string
    readonly finished_at: string
    readonly removed_count: number
    readonly error?: string
  } | null
  /** Null if the rule has no schedule. */
  readonly nextRun: string | null
}

export interface CleaningStatus {
  /** `created_at` of the oldest event; null if there is none. */
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
