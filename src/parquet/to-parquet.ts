import type { AuditEvent } from '../event/event.js'
import { type ParquetOptions, parquetWriter } from './writer.js'

/**
 * The events as the bytes of a Parquet file, in constant memory but for the footer: `toParquet(audit.pages('filter[sorts]=created_at asc'), audit)`.
 * Throws as {@link parquetWriter} does, and what the events throw.
 */
export async function* toParquet(
  events: AsyncIterable<readonly AuditEvent[]> | Iterable<readonly AuditEvent[]>,
  options: ParquetOptions = {},
): AsyncGenerator<Uint8Array, void, void> {
  const writer = parquetWriter(options)
  for await (const page of events) {
    const bytes = await writer.add(page)
    if (bytes.length > 0) yield bytes
  }
  yield await writer.finish()
}
