import type { AuditEvent } from '../event/event.js'
import { type ParquetOptions, parquetWriter } from './writer.js'

type Pages = AsyncIterable<readonly AuditEvent[]> | Iterable<readonly AuditEvent[]>
type Bytes = AsyncGenerator<Uint8Array, void, void>

/** Returns what writes one file. Throws as {@link toParquet} does, before any event is read. */
export function openParquet(options: ParquetOptions): (pages: Pages) => Bytes {
  const writer = parquetWriter(options)
  return async function* (pages) {
    for await (const events of pages) {
      const bytes = await writer.add(events)
      if (bytes.length > 0) yield bytes
    }
    yield await writer.finish()
  }
}

/**
 * The events as the bytes of a Parquet file: `toParquet(audit.pages('filter[sorts]=created_at asc'), audit)`. The memory does not
 * grow with the events but for some hundred bytes of each row group. Throws `MISSING_DEPENDENCY` without the package
 * hyparquet-writer, `INVALID_OPTION`, and the errors of the pages.
 */
export const toParquet = (pages: Pages, options: ParquetOptions = {}): Bytes =>
  openParquet(options)(pages)
