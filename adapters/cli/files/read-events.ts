import fs from 'node:fs'
import type { AuditEvent } from '../../../src/event/event.js'
import { countParquetRows, fromParquet } from '../../../src/parquet/from-parquet.js'
import { CommandError, messageOf } from '../terminal/exit-codes.js'
import { openFile, type OpenFileOptions } from './json-lines.js'
import { type JsonRecord, recordsOf } from './json-records.js'

/**
 * Events of a file, and the number of bytes read for them so far. For Parquet the bytes are in proportion to the
 * events.
 */
export interface EventsPage {
  readonly events: readonly AuditEvent[]
  readonly bytes: number
}

const MAX_PAGE = 1000
const MAX_PAGE_BYTES = 8 * 1024 * 1024
const PARQUET = 'PAR1'

/** True if the file begins like a Parquet file. Its name does not matter. */
async function isParquet(file: string): Promise<boolean> {
  const handle = await fs.promises.open(file)
  try {
    const { buffer, bytesRead } = await handle.read(
      Buffer.alloc(PARQUET.length),
      0,
      PARQUET.length,
      0,
    )
    return buffer.toString('latin1', 0, bytesRead) === PARQUET
  } finally {
    await handle.close()
  }
}

/** The event in a record. The import of events checks its members. */
function readEvent({ value, line }: JsonRecord): AuditEvent {
  if (typeof value === 'string') throw new Error(`line ${line}: ${value}`)
  if ('id' in value && 'created_at' in value) return value as unknown as AuditEvent
  throw new Error(`line ${line}: not an event with id and created_at; --record records other lines`)
}

async function* readLines(
  file: string,
  options: OpenFileOptions,
): AsyncGenerator<EventsPage, void, void> {
  const { stream, progress } = await openFile(file, options)
  let events: AuditEvent[] = []
  let length = 0
  const take = (): EventsPage => {
    const page = { events, bytes: progress().bytes }
    events = []
    length = 0
    return page
  }
  try {
    for await (const records of recordsOf(stream))
      for (const record of records) {
        events.push(readEvent(record))
        length += record.bytes.length
        if (events.length >= MAX_PAGE || length >= MAX_PAGE_BYTES) yield take()
      }
    yield take()
  } finally {
    stream.destroy()
  }
}

async function* readParquet(file: string): AsyncGenerator<EventsPage, void, void> {
  const { size } = await fs.promises.stat(file)
  const total = await countParquetRows(file)
  let rows = 0
  for await (const events of fromParquet(file)) {
    rows += events.length
    yield { events, bytes: Math.floor((size * rows) / total) }
  }
  yield { events: [], bytes: size }
}

/**
 * Reads the events of an export or an archive, or of stdin with `-`: JSON, see {@link recordsOf}, or Parquet. With
 * the last page, the bytes are the size of the file. Rejects with an error that names the file and the line.
 */
export async function* readEvents(
  file: string,
  options: OpenFileOptions = {},
): AsyncGenerator<EventsPage, void, void> {
  try {
    const isWhole = file !== '-' && (await isParquet(file))
    yield* isWhole ? readParquet(file) : readLines(file, options)
  } catch (cause) {
    throw new CommandError('failed', `${file}: ${messageOf(cause)}`)
  }
}
