import type { Duration } from '../event/duration.js'
import type { AuditEvent, JsonObject } from '../event/event.js'
import type { QueryInput } from '../filter/query-input.js'
import type { ArchiveFormat } from './events-file.js'
import type { OptionNames } from '../options.js'

/** A rule without `every` and `at` runs only by `run`. */
interface CommonRule {
  /**
   * Unique within the log. Processes on one store recognize a rule by its name.
   * @default the target
   */
  readonly name?: string
  /** Time from the start of one run to the start of the next. */
  readonly every?: Duration
  /** Time of day in UTC, `HH:MM`. */
  readonly at?: string
}

/** Stores complete events elsewhere. The events are removed from the log after it resolves. */
export type ArchiveEvents = (events: readonly AuditEvent[]) => Promise<void>

/** Files by year and month: `year=2026/month=11/<rule>-<first>-<last>-<random>.parquet`. */
export interface ArchiveDirectory {
  /** Each log needs a separate directory. */
  readonly directory: string
  /** Gzipped lines of JSON, or Parquet, which needs the package hyparquet-writer. */
  readonly format: ArchiveFormat
  /** Parquet only: attributes by their names in queries that get a column of text each, such as `url_params_project_code`. */
  readonly columns?: readonly string[]
  /** Most events in a file, at most 1,000,000. @default 100_000 */
  readonly maxRows?: number
  /** A file with this many bytes gets no more events, except those of a Parquet row group. @default 256 MiB */
  readonly maxBytes?: number
  /** Permissions of the files; the umask has no effect. @default 0o600 */
  readonly mode?: number
}

export const ARCHIVE_DIRECTORY: OptionNames<ArchiveDirectory> = {
  directory: true,
  format: true,
  columns: true,
  maxRows: true,
  maxBytes: true,
  mode: true,
}

/**
 * Removes the events that match the filter and are due by at least one of the bounds. Open live events
 * stay, and do not count towards the bounds. Events on legal hold stay too, but count towards `maxRows`
 * and `maxBytes`.
 */
export interface EventsRule extends CommonRule {
  readonly target: 'events'
  /** A query without sorts and limit. @default all events */
  readonly filter?: QueryInput
  /**
   * Older events are due. Years and months are those of the UTC calendar. This bound waits for at most 7 days while
   * the clock is ahead of the expected time by more than half of this age; `maxRows` and `maxBytes` do not wait.
   */
  readonly maxAge?: Duration
  /** All events except this many of the newest are due. */
  readonly maxRows?: number
  /** All events are due, except the newest ones with this many bytes of attributes in total (JSON, UTF-8). */
  readonly maxBytes?: number
  /**
   * Destination for events before they are removed, in pages of at most 200. A function gets the pages. A directory
   * gets one file for each run, `<rule>-<created_at of the first>-<random>.ndjson.gz`, with one event per line, as
   * `importEvents` accepts it. Each page is on disk before its events are removed. If the process dies between these
   * steps, the next run writes the page again; if it dies while it writes a page, the file ends within that page.
   *
   * An object with a directory: files that data tools can query, by year and month of `created_at` in UTC. A file is
   * complete, has its final name and a line in `manifest.ndjson`, and is on disk before its events are removed. If
   * the process dies before it has removed the events, two files contain them.
   */
  readonly archive?: string | ArchiveDirectory | ArchiveEvents
  /** Permissions of each file in a directory that is given as a text. The umask has no effect. @default 0o600 */
  readonly archiveMode?: number
}

export const EVENTS_RULE: OptionNames<EventsRule> = {
  name: true,
  target: true,
  every: true,
  at: true,
  filter: true,
  maxAge: true,
  maxRows: true,
  maxBytes: true,
  archive: true,
  archiveMode: true,
}

/** Refreshes the statistics of the database's query planner. */
export interface StatisticsRule extends CommonRule {
  readonly target: 'statistics'
}

export const STATISTICS_RULE: OptionNames<StatisticsRule> = {
  name: true,
  target: true,
  every: true,
  at: true,
}

export interface HostRunContext {
  /** Things from before this time (ISO 8601) are due; `undefined` if the rule has no `maxAge`. */
  readonly before: string | undefined
  /** True if nothing may be removed, only counted. */
  readonly preview: boolean
  /** Aborts the run. */
  readonly signal: AbortSignal
  /** Call it with the number removed so far. */
  progress(removed: number): void
}

export interface HostRemoved {
  readonly removed_count: number
  /** Shown in the event in place of the rule's `filters`. */
  readonly filters?: JsonObject
}

/** Removes things that the host stores elsewhere, such as `jobs` or `agent_images`. */
export interface HostRule extends CommonRule {
  /** The last part of the type of the rule's events: `info:data_cleanup:<target>`. */
  readonly target: string
  /** The criteria of the rule, shown in its events. */
  readonly filters?: JsonObject
  /** Like `maxAge` of events. While the clock is in doubt, the rule does not run. */
  readonly maxAge?: Duration
  /** Resolves to the number of removed things, in a preview to the number of things that a run would remove. */
  readonly run: (context: HostRunContext) => Promise<number | HostRemoved>
}

export const HOST_RULE: OptionNames<HostRule> = {
  ...STATISTICS_RULE,
  filters: true,
  maxAge: true,
  run: true,
}

export type CleaningRule = EventsRule | StatisticsRule | HostRule

/** Matching events are not removed by any rule. */
export interface LegalHold {
  /** Shown in error messages. */
  readonly name?: string
  readonly filter: QueryInput
}

export const LEGAL_HOLD: OptionNames<LegalHold> = { name: true, filter: true }

export interface CleaningProgress {
  /** The rule's name. */
  readonly rule: string
  readonly removed_count: number
  /** Number of archived events so far, if the rule has an archive. */
  readonly archived_count?: number
}

export type OnCleaningProgress = (progress: CleaningProgress) => void

export interface CleaningOptions {
  readonly rules: readonly CleaningRule[]
  /**
   * Filters of events on legal hold, or a function that returns them. The function is called at the start of each
   * rule's run; if it fails, nothing is removed. With holds, a rule for all events has to check each event. Without
   * holds it is faster: it removes time ranges, on Postgres whole partitions, also with an archive.
   */
  readonly holds?:
    | readonly LegalHold[]
    | (() => readonly LegalHold[] | Promise<readonly LegalHold[]>)
  readonly onProgress?: OnCleaningProgress
  /** True if this process runs rules when they are due. Otherwise they only run by `run` and `runDue`. @default true */
  readonly scheduled?: boolean
}

export const CLEANING_OPTIONS: OptionNames<CleaningOptions> = {
  rules: true,
  holds: true,
  onProgress: true,
  scheduled: true,
}

/** The result of one rule in a run or a preview. */
export interface CleaningResult {
  readonly name: string
  readonly target: string
  /** 0 in a preview. */
  readonly removed_count: number
  /** In a preview: the number of things that a run would remove. */
  readonly due_count?: number
  /** In a preview of events: `created_at` of the oldest and newest due event; null if there is none. */
  readonly oldest_due?: string | null
  readonly newest_due?: string | null
  /** Due events are from before this time. */
  readonly before?: string
  readonly archived_count?: number
  /** Path of the archive file, the newest if there are several. */
  readonly archive_file?: string
  /** Reason why the rule was not run, or why it removed nothing by age while the clock was in doubt. */
  readonly skipped?: string
  /** Reason why the run failed. Events that it had removed stay removed. */
  readonly error?: string
}
