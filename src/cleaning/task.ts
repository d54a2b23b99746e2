import type { Duration } from '../event/duration.js'
import type { JsonObject } from '../event/event.js'
import type { Grouping } from '../filter/ast.js'
import type { Analysis, EventStore, WaitOptions } from '../store/store.js'
import type { RuleRemoval } from '../ledger/remover.js'
import type { DescribedTypes } from '../describing/describe-event.js'
import type { Microseconds } from '../event/timestamp.js'
import type { Holds } from './filters.js'
import type { CleaningResult } from './rule.js'
import type { Schedule } from './schedule.js'

/** Totals of a run so far. Recorded also if the run fails. */
export interface RunTotals {
  removed_count: number
  archived_count?: number
  archive_file?: string
  before?: string
  /** Criteria that the host's function reports in place of the rule's. */
  filters?: JsonObject
  analysis?: Analysis
}

/** Records a system event; resolves once it is stored. */
export type RecordEvent = (type: string, data: object) => Promise<unknown>

/** The events that subscriptions still have to deliver. */
export interface Undelivered {
  /** The given time, or the time of an earlier event that must stay until it is delivered. */
  spareFrom(
    before: Microseconds,
    options: WaitOptions & { readonly now: Microseconds },
  ): Promise<Microseconds>
  /**
   * Data of `warn:subscription:gap`: the events that subscriptions lose when the matching events before this time are
   * removed.
   */
  lossesOf(
    removed: { readonly before: Microseconds; readonly where: Grouping | undefined },
    options: WaitOptions,
  ): Promise<readonly JsonObject[]>
}

/** One run or preview of a task. */
export interface Job {
  readonly store: EventStore
  /** The rule's name. */
  readonly rule: string
  readonly described: DescribedTypes
  /** The store's time at the start. */
  readonly now: Microseconds
  /** True while nothing may be removed by age, because the clock is in doubt. */
  readonly ageWaits: boolean
  readonly signal: AbortSignal
  readonly totals: RunTotals
  /** Reads the legal holds. Once the signal aborts, the host's function is not awaited. */
  readonly holds: () => Promise<Holds>
  readonly undelivered: Undelivered
  readonly record: RecordEvent
  /** Begins the removal of sealed events; `undefined` without a ledger. */
  readonly sealed: (holds: Holds) => Promise<RuleRemoval | undefined>
  /** Reports that `totals` has changed. */
  readonly progress: () => void
}

export type Preview = Pick<CleaningResult, 'oldest_due' | 'newest_due' | 'before'> & {
  readonly due_count: number
}

/** The work of a rule. */
export interface Task {
  run(job: Job): Promise<void>
  preview(job: Job): Promise<Preview>
}

/** A checked rule. */
export interface Rule {
  readonly name: string
  readonly target: string
  readonly schedule: Schedule | undefined
  readonly maxAge: Duration | undefined
  /** The criteria of the rule, shown in its events; empty for statistics. */
  readonly filters: JsonObject
  readonly task: Task
}
