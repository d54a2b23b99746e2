import type { DescribedTypes } from '../describing/describe-event.js'
import { AuditLogError } from '../errors.js'
import type { AuditEvent } from '../event/event.js'
import type { EventQuery } from '../filter/ast.js'
import { scanDirection } from '../filter/order.js'
import { type QueryInput, toQuery } from '../filter/query-input.js'
import type { EventLister } from '../tail/poll.js'
import { existingEvents } from './existing-events.js'
import { type ExportFormat, type ExportSettings, openExport } from './formats.js'

/** The part of an audit log that an export reads. */
export interface ExportedLog extends EventLister, DescribedTypes {
  pages(
    query: EventQuery,
    options: { readonly signal?: AbortSignal | undefined; readonly lazy?: boolean | undefined },
  ): AsyncIterable<readonly AuditEvent[]>
}

export interface ExportOptions extends Pick<ExportSettings, 'columns' | 'service'> {
  /** @default 'ndjson' */
  readonly format?: ExportFormat | undefined
  readonly signal?: AbortSignal | undefined
}

/**
 * All matching events that exist now, oldest first, as the bytes of a file. Its lines are those of the export over HTTP. The memory
 * does not grow with the events. Throws `INVALID_VALUE` for an order other than `created_at asc`, `INVALID_OPTION`,
 * `MISSING_DEPENDENCY` for Parquet without the package hyparquet-writer, and as `pages` does.
 */
export async function* exportEvents(
  log: ExportedLog,
  query?: QueryInput,
  { format = 'ndjson', signal, columns, service }: ExportOptions = {},
): AsyncGenerator<Uint8Array, void, void> {
  const { where, sorts } = toQuery(query)
  if (sorts.length > 0 && scanDirection(sorts) !== 'asc')
    throw new AuditLogError('INVALID_VALUE', 'sorts of an export must be created_at asc')
  const { types, customTypes } = log
  const write = await openExport(format, { types, customTypes, columns, service })
  const existing = await existingEvents(log, where, { signal })
  const encoder = new TextEncoder()
  for await (const chunk of write(log.pages(existing.query, { signal, lazy: true })))
    yield typeof chunk === 'string' ? encoder.encode(chunk) : chunk
}
