import { type FileHandle, open } from 'node:fs/promises'
import { gunzipSync } from 'node:zlib'
import { AuditLogError } from '../errors.js'
import type { AuditEvent, JsonObject } from '../event/event.js'
import { formatTimestamp } from '../event/timestamp.js'
import { type AsyncBuffer, loadReaderLibrary } from './library.js'

/** The columns that make up an event. */
const COLUMNS = ['id', 'created_at', 'username', 'system', 'type', 'source', 'attributes'] as const

type Row = Readonly<Record<(typeof COLUMNS)[number], unknown>>

// hyparquet drops a byte order mark at the start of a text.
const decoder = new TextDecoder('utf-8', { ignoreBOM: true })

const text = (bytes: Uint8Array | undefined): string | undefined => bytes && decoder.decode(bytes)

/** By default, hyparquet converts times to dates, which have no microseconds. */
const PARSERS = {
  timestampFromMicroseconds: (time: bigint) => formatTimestamp(Number(time)),
  timestampFromMilliseconds: (time: bigint) => formatTimestamp(Number(time * 1000n)),
  timestampFromNanoseconds: (time: bigint) => formatTimestamp(Number(time / 1000n)),
  stringFromBytes: text,
  jsonFromBytes: text,
}

const COMPRESSORS = { GZIP: (bytes: Uint8Array): Uint8Array => gunzipSync(bytes) }

const PAGE_ROWS = 1000

/** Converts a row to an event, with the members in their documented order. The import of events checks it. */
function toEvent({ id, created_at, username, system, type, source, attributes }: Row): AuditEvent {
  return {
    id,
    created_at,
    username: username ?? null,
    system,
    type,
    source: source ?? null,
    attributes:
      typeof attributes === 'string' ? (JSON.parse(attributes) as JsonObject) : attributes,
  } as AuditEvent
}

async function openBuffer(handle: FileHandle): Promise<AsyncBuffer> {
  const { size } = await handle.stat()
  return {
    byteLength: size,
    async slice(start, end = size) {
      const bytes = new ArrayBuffer(end - start)
      let done = 0
      while (done < bytes.byteLength) {
        const rest = new Uint8Array(bytes, done)
        const { bytesRead } = await handle.read(rest, 0, rest.length, start + done)
        if (bytesRead === 0) throw new Error('the file became shorter while it was read')
        done += bytesRead
      }
      return bytes
    },
  }
}

/**
 * Reads the events of a Parquet file that `toParquet`, an export or an archive has written, in pages of at most 1000, with
 * exact microseconds. `audit.importEvents` takes them. Keeps one row group in memory. Throws `MISSING_DEPENDENCY` without the
 * package hyparquet, and `INVALID_EVENT` for a file without the columns of events.
 */
export async function* fromParquet(
  file: string,
): AsyncGenerator<readonly AuditEvent[], void, void> {
  const library = loadReaderLibrary()
  const handle = await open(file)
  try {
    const buffer = await openBuffer(handle)
    const metadata = await library.parquetMetadataAsync(buffer)
    const names = new Set(metadata.schema.map(({ name }) => name))
    const missing = COLUMNS.filter((name) => !names.has(name))
    if (missing.length > 0)
      throw new AuditLogError(
        'INVALID_EVENT',
        `${file} is not a file of events: it has no column ${missing.join(', ')}`,
      )
    let rowStart = 0
    for (const { num_rows } of metadata.row_groups) {
      const rowEnd = rowStart + Number(num_rows)
      const rows = await library.parquetReadObjects({
        file: buffer,
        metadata,
        columns: COLUMNS,
        rowStart,
        rowEnd,
        compressors: COMPRESSORS,
        parsers: PARSERS,
      })
      for (let at = 0; at < rows.length; at += PAGE_ROWS)
        yield rows.slice(at, at + PAGE_ROWS).map((row) => toEvent(row as Row))
      rowStart = rowEnd
    }
  } finally {
    await handle.close()
  }
}

/** The number of rows that the footer of a Parquet file states. Throws `MISSING_DEPENDENCY` without the package hyparquet. */
export async function countParquetRows(file: string): Promise<number> {
  const library = loadReaderLibrary()
  const handle = await open(file)
  try {
    const { row_groups } = await library.parquetMetadataAsync(await openBuffer(handle))
    return row_groups.reduce((total, { num_rows }) => total + Number(num_rows), 0)
  } finally {
    await handle.close()
  }
}
