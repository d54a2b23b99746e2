import type { EventStore, WaitOptions } from '../store/store.js'
import { formatTimestamp, type Microseconds } from '../event/timestamp.js'
import { readAll } from '../store/read-states.js'
import {
  isHeld,
  type LastRun,
  nextRunTime,
  readStatus,
  RULE_PREFIX,
  type RuleState,
} from './rule-state.js'
import { type ClockWait, readWaits } from './age-clock.js'
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
  /** Present while the rule removes nothing by age, because the clock was in doubt when the rule was last due. */
  readonly waiting?: ClockWait
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
  const waits = await readWaits(store, options)
  const statuses: CleaningRuleStatus[] = []
  for (const { name, target, schedule } of rules) {
    const { running, last, next } = await readStatus(store, name, schedule, options)
    const waiting = waits.get(name)
    statuses.push({
      name,
      target,
      running,
      lastRun: last ? format(last) : null,
      nextRun: next === undefined ? null : formatTimestamp(next),
      ...(waiting && { waiting }),
    })
  }
  return { oldest: events[0]?.created_at ?? null, rules: statuses }
}

/** Status of a rule from the store, also of a rule of another process. */
export type StoredRuleStatus = Pick<CleaningRuleStatus, 'name' | 'running' | 'lastRun' | 'nextRun'>

/**
 * The rules of this process, and rules that other processes have run, by name. Only reads, so it works on a read-only
 * log. Rules of other processes have no `nextRun`.
 */
export async function readStoredStatuses(
  store: EventStore,
  rules: readonly Rule[],
  now: Microseconds,
  options?: WaitOptions,
): Promise<readonly StoredRuleStatus[]> {
  const states = await readAll<RuleState>(store, RULE_PREFIX, options)
  // The state with an empty name belongs to the reports of suppressed calls.
  const stored = [...states.keys()].filter((name) => name !== '')
  const names = new Set([...rules.map(({ name }) => name), ...stored])
  return Array.from(names, (name) => {
    const state = states.get(name) ?? {}
    const schedule = rules.find((rule) => rule.name === name)?.schedule
    return {
      name,
      running: isHeld(state.lease, now),
      lastRun: state.last ? format(state.last) : null,
      nextRun: schedule ? formatTimestamp(nextRunTime(state, schedule, now)) : null,
    }
  }).toSorted((a, b) => (a.name < b.name ? -1 : 1))
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
