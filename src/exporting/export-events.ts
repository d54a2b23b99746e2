import type { DescribedTypes } from '../describing/describe-event.js'
import { AuditLogError } from '../errors.js'
import type { AuditEvent } from '../event/event.js'
import { pagesOfOneLog } from '../event/event-of-log.js'
import type { EventQuery, Grouping } from '../filter/ast.js'
import { scanDirection } from '../filter/order.js'
import { type QueryInput, toQuery } from '../filter/query-input.js'
import type { LogEvent, LogsOptions } from '../logs/named-logs.js'
import { LOGS_RANGE_OPTIONS, type LogsRangeOptions } from '../logs/range.js'
import {
  PERSONAL_OPTIONS,
  type PersonalOptions,
  SUBJECT_OPTIONS,
  type SubjectOptions,
} from '../reading/personal-values.js'
import type { EventLister } from '../tail/poll.js'
import { existingEvents, oldestFirst } from './existing-events.js'
import { type ExportChunks, type ExportFormat, type ExportSettings, openExport } from './formats.js'
import { checkOptions, type OptionNames } from '../options.js'

/** The part of an audit log that an export reads. */
export interface ExportedLog extends EventLister, DescribedTypes {
  pages(
    query: EventQuery,
    options: {
      readonly signal?: AbortSignal | undefined
      readonly lazy?: boolean | undefined
    } & PersonalOptions &
      SubjectOptions,
  ): AsyncIterable<readonly AuditEvent[]>
}

/** The part of several audit logs that an export reads. */
export interface ExportedLogs extends DescribedTypes {
  cursor(options: LogsOptions): Promise<string>
  pages(
    query: EventQuery,
    options: LogsRangeOptions & { readonly lazy?: boolean | undefined },
  ): AsyncIterable<readonly LogEvent[]>
}

interface FileOptions extends Pick<ExportSettings, 'columns' | 'service'> {
  /** @default 'ndjson' */
  readonly format?: ExportFormat | undefined
  readonly signal?: AbortSignal | undefined
}

export interface ExportOptions extends FileOptions, PersonalOptions, SubjectOptions {}

const FILE_OPTIONS: OptionNames<FileOptions> = {
  format: true,
  signal: true,
  columns: true,
  service: true,
}
const EXPORT_OPTIONS: OptionNames<ExportOptions> = {
  ...FILE_OPTIONS,
  ...PERSONAL_OPTIONS,
  ...SUBJECT_OPTIONS,
}

/**
 * All matching events that exist now, oldest first, as the bytes of a file. Its lines are as in the export over HTTP. The memory
 * does not grow with the events. `importEvents` and proofs need lines with `personal: 'stored'`. Throws `INVALID_VALUE` for an order other than `created_at asc`, `INVALID_OPTION`,
 * `MISSING_DEPENDENCY` for Parquet without the package hyparquet-writer, and as `pages` does.
 */
export async function* exportEvents(
  log: ExportedLog,
  query?: QueryInput,
  options: ExportOptions = {},
): AsyncGenerator<Uint8Array, void, void> {
  checkOptions(options, EXPORT_OPTIONS, 'exportEvents')
  const { format = 'ndjson', signal, columns, service, personal, subject } = options
  const where = readWhere(query)
  const { types, customTypes } = log
  const write = await openExport(format, { types, customTypes, columns, service })
  const existing = await existingEvents(log, where, { signal })
  const reading = { signal, lazy: true, personal, subject }
  yield* bytesOf(write(pagesOfOneLog(log.pages(existing.query, reading))))
}

export interface LogsExportOptions extends FileOptions, LogsRangeOptions {}

const LOGS_EXPORT_OPTIONS: OptionNames<LogsExportOptions> = {
  ...FILE_OPTIONS,
  ...LOGS_RANGE_OPTIONS,
}

/**
 * All matching events of several logs that exist now, as the bytes of a file: in the order of `created_at`, then of the key of their
 * log. Its lines are as in the export over HTTP, and name the log of each event. `cursor` and `until` limit the export. Holds as many
 * events in memory as `pages` of the logs does. Throws as {@link exportEvents} does, and `UNKNOWN_LOG`.
 */
export async function* exportEventsOfLogs(
  logs: ExportedLogs,
  query?: QueryInput,
  options: LogsExportOptions = {},
): AsyncGenerator<Uint8Array, void, void> {
  checkOptions(options, LOGS_EXPORT_OPTIONS, 'exportEventsOfLogs')
  const { format = 'ndjson', columns, service, ...range } = options
  const where = readWhere(query)
  const { types, customTypes } = logs
  const write = await openExport(format, { types, customTypes, columns, service, hasLogs: true })
  const until =
    range.until ??
    (await logs.cursor({ logs: range.logs, visible: range.visible, signal: range.signal }))
  const pages = logs.pages(oldestFirst(where), { ...range, until, lazy: true })
  yield* bytesOf(write(pages))
}

function readWhere(query: QueryInput | undefined): Grouping | undefined {
  const { where, sorts } = toQuery(query)
  if (sorts.length > 0 && scanDirection(sorts) !== 'asc')
    throw new AuditLogError('INVALID_VALUE', 'sorts of an export must be created_at asc')
  return where
}

async function* bytesOf(chunks: ExportChunks): AsyncGenerator<Uint8Array, void, void> {
  const encoder = new TextEncoder()
  for await (const chunk of chunks) yield typeof chunk === 'string' ? encoder.encode(chunk) : chunk
}
