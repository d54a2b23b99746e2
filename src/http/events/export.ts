import { AuditLogError } from '../../errors.js'
import type { AuditEvent } from '../../event/event.js'
import { createTimeSlices } from '../../filter/time-slices.js'
import { existingEvents } from './existing-events.js'
import { exportFormats, type ExportLines } from './export-formats.js'
import { readExportRequest } from './export-request.js'
import type { EventsCall, EventsHandler, HandlerOptions } from './handler.js'

/** Time limit of counting before the export starts; beyond it the count is a lower bound. */
const COUNT_WITHIN_MS = 1000

// About as much as a socket buffers at once, so that each chunk waits until the previous one is sent.
const CHUNK_LENGTH = 65_536

type Texts = AsyncGenerator<string, void, void>

/** The lines of the events in chunks. The event loop turns between them, and within long lines. */
async function* chunksOf(events: readonly AuditEvent[], line: ExportLines['line']): Texts {
  const timeSlices = createTimeSlices()
  let text = ''
  for (const event of events) {
    const written = line(event)
    for (const piece of typeof written === 'string' ? [written] : written) {
      text += piece ?? ''
      if (timeSlices.isOver()) await timeSlices.next()
      if (text.length < CHUNK_LENGTH) continue
      yield text
      text = ''
    }
  }
  if (text !== '') yield text
}

/** Store errors are thrown, which cuts the response off, so that it does not look complete. */
async function* exportTexts(
  pages: AsyncIterable<readonly AuditEvent[]>,
  { head, line }: ExportLines,
  reportRead: EventsCall['reportRead'],
  signal: AbortSignal,
): Texts {
  if (head !== '') yield head
  try {
    for await (const events of pages) {
      await reportRead(events)
      yield* chunksOf(events, line)
    }
  } catch (error) {
    // The client has disconnected. An abort for another reason cuts the response off.
    const isDisconnected =
      signal.aborted && error instanceof AuditLogError && error.code === 'ABORTED'
    if (!isDisconnected) throw error
  }
}

// HEAD requests only the headers.
async function* emptyBody(): Texts {}

const fileName = (extension: string): string =>
  `events-${new Date().toISOString().replaceAll(/:|\.\d+/g, '')}.${extension}`

/** `GET <path>/export`: all matching events as a file, sent while it is read. */
export function exportHandler({ audit }: HandlerOptions): EventsHandler {
  return async ({ request, visible, reportRead }) => {
    const { signal, method } = request
    const { where: requested, format, fields } = readExportRequest(request)
    // A fixed end: otherwise new events could keep a slow client reading forever.
    const query = await existingEvents(audit, requested, { visible, signal })
    const { total, exact } = await audit.count(query, { within: COUNT_WITHIN_MS, signal })
    // The count is a read too, and the host can still refuse the export by throwing.
    await reportRead([])
    const { contentType, lines } = exportFormats[format]
    const pages = audit.pages(query, { signal, lazy: true })
    return {
      status: 200,
      headers: {
        'content-type': contentType,
        'content-disposition': `attachment; filename="${fileName(format)}"`,
        'cache-control': 'no-store',
        vary: 'Accept',
        [exact.total ? 'x-total-count' : 'x-total-count-at-least']: String(total),
      },
      body:
        method === 'HEAD'
          ? emptyBody()
          : exportTexts(pages, lines(audit, fields), reportRead, signal),
    }
  }
}
