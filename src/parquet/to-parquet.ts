import type { AuditEvent } from '../event/event.js'
import type { EventOfLog } from '../event/event-of-log.js'
import {
  type ItemOptions,
  type ParquetOptions,
  type ParquetWriter,
  parquetWriter,
  writerOfItems,
} from './writer.js'

type Pages<Item> = AsyncIterable<readonly Item[]> | Iterable<readonly Item[]>
type Bytes = AsyncGenerator<Uint8Array, void, void>

async function* bytesOf<Item>(writer: ParquetWriter<Item>, pages: Pages<Item>): Bytes {
  for await (const events of pages) {
    const bytes = await writer.add(events)
    if (bytes.length > 0) yield bytes
  }
  yield await writer.finish()
}

/** Returns a function that writes one file. Throws as {@link toParquet} does, before any event is read. */
export function openParquet(options: ItemOptions): (pages: Pages<EventOfLog>) => Bytes {
  const writer = writerOfItems(options)
  return (pages) => bytesOf(writer, pages)
}

/**
 * The events as the bytes of a Parquet file: `toParquet(audit.pages('filter[sorts]=created_at asc'), audit)`. The
 * memory grows only by some hundred bytes for each row group. Throws `MISSING_DEPENDENCY` without the package
 * hyparquet-writer, `INVALID_OPTION`, and the errors of the pages.
 */
export const toParquet = (pages: Pages<AuditEvent>, options: ParquetOptions = {}): Bytes =>
  bytesOf(parquetWriter(options), pages)
