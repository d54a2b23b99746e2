import type { Duration } from 'date-fns'
import type { AuditEvent, JsonObject } from '../event/event.js'
import type { QueryInput } from '../filter/query-input.js'

/** Without `every` and `at` a rule runs only when it is asked to. */
interface CommonRule {
  /**
   * No other rule of the log may have it; processes that share a store know a rule by it.
   * @default the target
   */
  readonly name?: string
  /** How long after the start of one run the next one begins. */
  readonly every?: Duration
  /** Time of day in UTC, `HH:MM`. */
  readonly at?: string
}

/** Takes whole events out of the log; they are removed once it resolves. */
export type ArchiveEvents = (events: readonly AuditEvent[]) => Promise<void>

/**
 * Removes those of the events that match the filter which are due by at least one of the bounds.
 * Live events that are open stay and count for nothing. Events on legal hold stay too, but do count
 * among those that `maxRows` and `maxBytes` keep.
 */
export interface EventsRule extends CommonRule {
  readonly target: 'events'
  /** Which events, without sorts and limit. @default all events */
  readonly filter?: QueryInput
  /** Due is what is older. Years and months are those of the calendar in UTC. */
  readonly maxAge?: Duration
  /** Due is what goes beyond so many of the newest. */
  readonly maxRows?: number
  /** Due is what goes beyond the newest that have so many bytes of attributes together (JSON in UTF-8). */
  readonly maxBytes?: number
  /**
   * Where events go before they are removed, a page of at most 200 at a time. A directory gets a file for
   * each run, `<rule>-<created_at of the first>-<random>.ndjson.gz`: an event a line, as `importEvents`
   * takes it. Each page is on the disk before its events are removed. Where the process dies in
   * between, that page comes again in the next run's file; where it dies while it writes, the file
   * ends in the middle of that page.
   */
  readonly archive?: string | ArchiveEvents
}

/** Refreshes what the planner of the store's database knows of its tables. */
export interface StatisticsRule extends CommonRule {
  readonly target: 'statistics'
}

export interface HostRunContext {
  /** What was created before this time (ISO 8601) is due; `undefined` where the rule has no `maxAge`. */
  readonly before: string | undefined
  /** True where nothing may be removed, only counted. */
  readonly preview: boolean
  /** Aborts when the run is given up. */
  readonly signal: AbortSignal
  /** To be told how many have been removed so far. */
  progress(removed: number): void
}

export interface HostRemoved {
  readonly removed_count: number
  /** Told in the event, in place of the rule's. */
  readonly filters?: JsonObject
}

/** Removes what the host keeps elsewhere, such as `jobs` or `agent_images`. */
export interface HostRule extends CommonRule {
  /** Ends the type of the events that tell of it: `info:data_cleanup:<target>`. */
  readonly target: string
  /** What the rule goes by, told in its events. */
  readonly filters?: JsonObject
  readonly maxAge?: Duration
  /** Gives how many it has removed, or, in a preview, would remove. */
  readonly run: (context: HostRunContext) => Promise<number | HostRemoved>
}

export type CleaningRule = EventsRule | StatisticsRule | HostRule

/** Events that no rule removes. */
export interface LegalHold {
  /** Told in messages. */
  readonly name?: string
  readonly filter: QueryInput
}

export interface CleaningProgress {
  /** The rule's name. */
  readonly rule: string
  readonly removed_count: number
  /** Events in the archive so far, where the rule has one. */
  readonly archived_count?: number
}

export type OnCleaningProgress = (progress: CleaningProgress) => void

export interface CleaningOptions {
  readonly rules: readonly CleaningRule[]
  /**
   * A function is asked at the start of each rule's run; where it fails nothing is removed. With
   * holds a rule for all events looks at each one: slower than without, where stretches of time go
   * as a whole, and on Postgres whole partitions.
   */
  readonly holds?:
    | readonly LegalHold[]
    | (() => readonly LegalHold[] | Promise<readonly LegalHold[]>)
  readonly onProgress?: OnCleaningProgress
}

/** What became of one rule in a run, or would in a preview. */
export interface CleaningResult {
  readonly name: string
  readonly target: string
  /** 0 in a preview. */
  readonly removed_count: number
  /** Only in a preview: how many a run would remove. */
  readonly due_count?: number
  /** Only in a preview of events: `created_at` of the oldest and the newest that is due; null where none is. */
  readonly oldest_due?: string | null
  readonly newest_due?: string | null
  /** Events that are due are older. */
  readonly before?: string
  readonly archived_count?: number
  /** Path of the archive's file. */
  readonly archive_file?: string
  /** Why the rule was not run. */
  readonly skipped?: string
  /** Why the run failed; what it had removed until then stays removed. */
  readonly error?: string
}
