import { AuditLogError } from '../../errors.js'
import type { EventOfLog } from '../../event/event-of-log.js'
import {
  type ExportChunks,
  type ExportFormat,
  exportFormats,
  type ExportSettings,
  type ExportWriter,
  openExport,
} from '../../exporting/formats.js'
import { HttpProblem } from '../problem.js'
import { readExportRequest } from './export-request.js'
import type { SourceHandler } from './handler.js'
import type { ReportRead } from './source.js'

/** Time limit of counting before the export starts; beyond it the count is a lower bound. */
const COUNT_WITHIN_MS = 1000

/** The pages, each after the host knows that it is read. */
async function* reportPages(
  pages: AsyncIterable<readonly EventOfLog[]>,
  reportRead: ReportRead,
): AsyncGenerator<readonly EventOfLog[], void, void> {
  for await (const events of pages) {
    await reportRead(events)
    yield events
  }
}

/** Store errors are thrown, which cuts the response off, so that it does not look complete. */
async function* untilDisconnected(chunks: ExportChunks, signal: AbortSignal): ExportChunks {
  try {
    yield* chunks
  } catch (error) {
    // The client has disconnected. An abort for another reason cuts the response off.
    const isDisconnected =
      signal.aborted && error instanceof AuditLogError && error.code === 'ABORTED'
    if (!isDisconnected) throw error
  }
}

// HEAD requests only the headers.
async function* emptyBody(): ExportChunks {}

const fileName = (extension: string): string =>
  `events-${new Date().toISOString().replaceAll(/:|\.\d+/g, '')}.${extension}`

/** Throws `FORMAT_UNAVAILABLE` if the service lacks the package that the format needs. */
async function openFormat(format: ExportFormat, settings: ExportSettings): Promise<ExportWriter> {
  try {
    return await openExport(format, settings)
  } catch (error) {
    if (!(error instanceof AuditLogError) || error.code !== 'MISSING_DEPENDENCY') throw error
    throw new HttpProblem('FORMAT_UNAVAILABLE', `on the server of this service, ${error.message}`, {
      parameter: 'format',
    })
  }
}

/**
 * `GET <path>/export`: all matching events as a file, sent while it is read. `service` is the name of the service in formats that
 * have one.
 */
export const exportHandler =
  (service: string): SourceHandler =>
  async ({ request, source, reportRead }) => {
    const { signal, method } = request
    const { where, format, fields } = readExportRequest(request)
    const events = source()
    const { described, hasLogs } = events
    const { types, customTypes } = described
    const columns = fields && [...fields]
    const write = await openFormat(format, { types, customTypes, columns, service, hasLogs })
    // A fixed end: otherwise new events could keep a slow client reading forever.
    const existing = await events.existing(where)
    const { total, exact } = await existing.count(COUNT_WITHIN_MS)
    // The count is a read too, and the host can still refuse the export by throwing.
    await reportRead([])
    const { contentType, extension } = exportFormats[format]
    const pages = reportPages(existing.pages(), reportRead)
    return {
      status: 200,
      headers: {
        'content-type': contentType,
        'content-disposition': `attachment; filename="${fileName(extension)}"`,
        'cache-control': 'no-store',
        vary: 'Accept',
        'x-export-until': existing.until,
        [exact.total ? 'x-total-count' : 'x-total-count-at-least']: String(total),
      },
      body: method === 'HEAD' ? emptyBody() : untilDisconnected(write(pages), signal),
    }
  }
