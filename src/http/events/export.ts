import { AuditLogError } from '../../errors.js'
import type { AuditEvent } from '../../event/event.js'
import { bothOf, type EventQuery, MAX_LIMIT, oneCondition } from '../../filter/ast.js'
import { currentPosition } from '../stream/session.js'
import { exportFormats, type ExportLines } from './export-formats.js'
import { readExportRequest } from './export-request.js'
import type { EventsCall, EventsHandler, HandlerOptions } from './handler.js'

/** The file's beginning is not held up for longer; of a large log the number is an estimate then. */
const COUNT_WITHIN_MS = 1000

// As long as connections take at once, so that each chunk waits for the one before to be on its way.
const CHUNK_LENGTH = 65_536

type Texts = AsyncGenerator<string, void, void>

function* chunksOf(
  events: readonly AuditEvent[],
  line: (event: AuditEvent) => string,
): Generator<string, void, void> {
  let text = ''
  for (const event of events) {
    text += line(event)
    if (text.length < CHUNK_LENGTH) continue
    yield text
    text = ''
  }
  if (text !== '') yield text
}

/** What the store fails at is thrown, which breaks the answer off: it must not look whole. */
async function* texts(
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
    // Where nobody is there any more; what the host gave up breaks the answer off.
    const isGone = signal.aborted && error instanceof AuditLogError && error.code === 'ABORTED'
    if (!isGone) throw error
  }
}

// HEAD asks for the headers alone.
async function* nothing(): Texts {}

const fileName = (ending: string): string =>
  `events-${new Date().toISOString().replaceAll(/:|\.\d+/g, '')}.${ending}`

/** `GET <path>/export`: all events that match, as a file that is written as it is read. */
export function exportHandler({ audit }: HandlerOptions): EventsHandler {
  return async ({ request, visible, reportRead }) => {
    const { signal, method } = request
    const { where: asked, format, fields } = readExportRequest(request)
    // An end that does not move: what is recorded meanwhile could keep a slow client for ever.
    const end = oneCondition('created_at', 'lteq', [await currentPosition(audit, signal)])
    const where = bothOf(visible, bothOf(asked, end))
    const query: EventQuery = {
      where,
      sorts: [{ attribute: 'created_at', direction: 'asc' }],
      limit: MAX_LIMIT,
    }
    const { total, sampled } = await audit.count(query, { within: COUNT_WITHIN_MS, signal })
    // The number tells something too; and a host that does not want the export can still say so.
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
        [sampled ? 'x-total-count-estimated' : 'x-total-count']: String(total),
      },
      body:
        method === 'HEAD'
          ? nothing()
          : texts(pages, lines(audit.types, fields), reportRead, signal),
    }
  }
}
