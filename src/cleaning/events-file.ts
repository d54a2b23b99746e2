import { createGzip } from 'node:zlib'
import { eventJson } from '../event/body.js'
import type { AuditEvent } from '../event/event.js'
import type { DescribedTypes } from '../describing/describe-event.js'
import { parquetWriter } from '../parquet/writer.js'

// Maximum length of a text in characters. A page of large events would be too long for one string.
const MAX_TEXT_LENGTH = 4_194_304

/** Turns events into the bytes of a file. Calls must not overlap. */
export interface EventsEncoder {
  /** Resolves to the bytes that are ready. */
  add(events: readonly AuditEvent[]): Promise<Uint8Array>
  /** Resolves to the remaining bytes. */
  finish(): Promise<Uint8Array>
}

/** The formats of the files in an archive. */
export const ARCHIVE_FORMATS = ['ndjson', 'parquet'] as const
export type ArchiveFormat = (typeof ARCHIVE_FORMATS)[number]

export const EXTENSIONS: Readonly<Record<ArchiveFormat, string>> = {
  ndjson: 'ndjson.gz',
  parquet: 'parquet',
}

/** The events as lines of JSON, in strings of a bounded length. */
export function* linesOf(events: readonly AuditEvent[]): Generator<string, void, void> {
  let text = ''
  for (const event of events) {
    text += `${eventJson(event)}\n`
    if (text.length < MAX_TEXT_LENGTH) continue
    yield text
    text = ''
  }
  if (text !== '') yield text
}

/** Writes lines of JSON as a single gzip member, because some readers support only one member. */
function ndjsonEncoder(): EventsEncoder {
  const gzip = createGzip()
  let chunks: Uint8Array[] = []
  gzip.on('data', (chunk: Uint8Array) => chunks.push(chunk))
  const take = (): Uint8Array => {
    const bytes = Buffer.concat(chunks)
    chunks = []
    return bytes
  }
  const settled = (begin: (done: (error?: Error | null) => void) => void): Promise<void> =>
    new Promise((resolve, reject) => {
      begin((error) => (error ? reject(error) : resolve()))
    })
  return {
    async add(events) {
      for (const text of linesOf(events)) await settled((done) => gzip.write(text, done))
      return take()
    },
    async finish() {
      await settled((done) => {
        gzip.once('end', done)
        gzip.end()
      })
      return take()
    },
  }
}

/** Throws `MISSING_DEPENDENCY` without hyparquet-writer, and `INVALID_OPTION` for wrong columns. */
export function eventsEncoder(
  format: ArchiveFormat,
  { types, customTypes }: DescribedTypes,
  columns: readonly string[] | undefined,
): EventsEncoder {
  return format === 'parquet' ? parquetWriter({ types, customTypes, columns }) : ndjsonEncoder()
}
