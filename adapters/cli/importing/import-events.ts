import type { Readable } from 'node:stream'
import type { AuditLog } from 'daybook'
import { readEvents } from '../files/read-events.js'

export interface ImportedEvents {
  readonly imported: number
  /** Events that the log already had. */
  readonly skipped: number
}

export interface ImportEventsOptions {
  readonly signal?: AbortSignal | undefined
  /** The stream for the file `-`. */
  readonly stdin?: Readable | undefined
  /** True if the files are only read and checked. */
  readonly isDry?: boolean | undefined
  /** Called with the number of bytes that were read. */
  readonly onProgress?: ((bytes: number) => void) | undefined
}

/** How long an abort waits for the page under way, which the store may keep: then its events are counted. */
const PAGE_MS = 5000

/** Aborts some time after the signal. */
function afterPage(signal: AbortSignal | undefined): AbortSignal {
  const controller = new AbortController()
  const abort = (): void => void setTimeout(() => controller.abort(), PAGE_MS).unref()
  if (signal?.aborted) controller.abort()
  else signal?.addEventListener('abort', abort, { once: true })
  return controller.signal
}

/**
 * Stores the events of a file with their ids and times. A page of at most 1000 events is stored completely or not at
 * all, and stored events are skipped. So an interrupted import can be repeated. After an abort, the error contains
 * the number of stored or skipped events.
 */
export async function importEvents(
  audit: Pick<AuditLog, 'importEvents'>,
  file: string,
  { signal, isDry = false, stdin, onProgress }: ImportEventsOptions = {},
): Promise<ImportedEvents> {
  let [imported, skipped] = [0, 0]
  const pageSignal = afterPage(signal)
  try {
    for await (const { events, bytes } of readEvents(file, { stdin, signal })) {
      signal?.throwIfAborted()
      if (isDry) {
        imported += events.length
      } else if (events.length > 0) {
        const result = await audit.importEvents(events, { signal: pageSignal })
        imported += result.imported
        skipped += result.skipped
      }
      onProgress?.(bytes)
    }
  } catch (cause) {
    if (!signal?.aborted) throw cause
    throw new Error(`${file}: stopped after ${imported + skipped} events`, { cause })
  }
  return { imported, skipped }
}
