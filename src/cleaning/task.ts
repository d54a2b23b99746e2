import type { JsonObject } from '../event/event.js'
import type { Analysis, EventStore } from '../store/store.js'
import type { Microseconds } from '../event/timestamp.js'
import type { Holds } from './filters.js'
import type { CleaningResult } from './rule.js'
import type { Schedule } from './schedule.js'

/** What a run has to tell so far; if it fails, that is told. */
export interface Tally {
  removed_count: number
  archived_count?: number
  archive_file?: string
  before?: string
  /** What the rule goes by. */
  filters?: JsonObject
  analysis?: Analysis
}

/** What a task is given. */
export interface Job {
  readonly store: EventStore
  /** The rule's name. */
  readonly rule: string
  /** The store's time at the start. */
  readonly now: Microseconds
  readonly signal: AbortSignal
  readonly tally: Tally
  /** Asks the host for what is on hold; it is waited for no longer once the signal aborts. */
  readonly holds: () => Promise<Holds>
  /** To be called when the tally has grown. */
  readonly progress: () => void
}

export type Preview = Pick<CleaningResult, 'oldest_due' | 'newest_due' | 'before'> & {
  readonly due_count: number
}

/** What a rule does. */
export interface Task {
  run(job: Job): Promise<void>
  preview(job: Job): Promise<Preview>
}

/** A rule that has been read. */
export interface Rule {
  readonly name: string
  readonly target: string
  readonly schedule: Schedule | undefined
  /** What it goes by, told in its events. */
  readonly filters: JsonObject | undefined
  readonly task: Task
}
