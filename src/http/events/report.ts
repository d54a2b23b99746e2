import { createHash } from 'node:crypto'
import type { AuditEvent } from '../../event/event.js'
import { formatTimestamp } from '../../event/timestamp.js'
import { existingEvents, upTo } from '../../exporting/existing-events.js'
import { jsonLine } from '../../exporting/lines.js'
import { type EventQuery, type Grouping, MAX_LIMIT } from '../../filter/ast.js'
import { formatQuery } from '../../filter/format.js'
import { createTimeSlices } from '../../filter/time-slices.js'
import { attributesJson } from '../../event/lazy-event.js'
import { checkAccept, jsonResponse } from '../media.js'
import { extractParameters, readSingleValues } from '../parameters.js'
import { HttpProblem } from '../problem.js'
import { joinParts } from '../utf8.js'
import { eventsDocument } from './documents.js'
import { readAllMatching } from './export-request.js'
import type { EventsHandler, EventsReadOptions, HandlerOptions } from './handler.js'
import { createOpenEventFinder } from './open-events.js'
import { MAX_REPORT_EVENTS, MAX_REPORT_MIB } from './routes.js'

const MAX_BYTES = MAX_REPORT_MIB * 1024 * 1024

/** Time limit of counting the events of a query that has too many; beyond it the count is an estimate. */
const COUNT_WITHIN_MS = 1000

const tooManyBytes = (count: number): HttpProblem =>
  new HttpProblem(
    'TOO_MANY_EVENTS',
    `the attributes of the first ${count} matching events have more than ${MAX_REPORT_MIB} MiB, the limit of a report: add filters, or export the events`,
    { parameter: 'filter', meta: { max_bytes: MAX_BYTES } },
  )

/** Reads the events of a report. `undefined` if there are too many. */
async function collect(
  pages: AsyncIterable<readonly AuditEvent[]>,
): Promise<readonly AuditEvent[] | undefined> {
  const all: AuditEvent[] = []
  let size = 0
  for await (const events of pages) {
    if (all.length + events.length > MAX_REPORT_EVENTS) return undefined
    for (const event of events) {
      all.push(event)
      size += attributesJson(event).length
      if (size > MAX_BYTES) throw tooManyBytes(all.length)
    }
  }
  return all
}

/** The size and the digest of the export of these events as JSON lines. */
async function digest(
  events: readonly AuditEvent[],
): Promise<{ readonly bytes: number; readonly sha256: string }> {
  const hash = createHash('sha256')
  const slices = createTimeSlices()
  let bytes = 0
  for (const event of events) {
    const text = Buffer.from(jsonLine(event))
    hash.update(text)
    bytes += text.length
    if (slices.isOver()) await slices.next()
  }
  return { bytes, sha256: hash.digest('hex') }
}

/** The query string of the export that gives the same events later. */
function exportQuery(where: Grouping): string {
  const query = formatQuery({ where, sorts: [], limit: MAX_LIMIT }).replace(/&limit=\d+$/, '')
  return `${query}&format=ndjson`
}

/** `GET <path>/report`: all matching events in one document, with the digest of their export. */
export function reportHandler({ audit, path }: HandlerOptions): EventsHandler {
  const findOpen = createOpenEventFinder(audit)

  const tooManyEvents = async (
    query: EventQuery,
    reading: EventsReadOptions,
  ): Promise<HttpProblem> => {
    const { total, exact } = await audit.count(query, { ...reading, within: COUNT_WITHIN_MS })
    // It is known that there are more than fit in a report, even if counting did not get that far.
    const least = Math.max(total, MAX_REPORT_EVENTS + 1)
    const number = exact.total ? total : `at least ${least}`
    return new HttpProblem(
      'TOO_MANY_EVENTS',
      `${number} events match, and a report has at most ${MAX_REPORT_EVENTS}: add filters, or export the events`,
      { parameter: 'filter', meta: { total: least, exact: exact.total, max: MAX_REPORT_EVENTS } },
    )
  }

  return async ({ request, reading, username, visible, reportRead }) => {
    checkAccept(request.header('accept'))
    const { query: queryString } = request
    const { extracted, rest } = extractParameters(queryString, (name) => name === 'limit')
    const limit = readSingleValues(extracted).get('limit')
    const requested = readAllMatching(rest, { known: 'filter and q', limit })
    const { query } = await existingEvents(audit, requested, { ...reading, visible })
    const events = await collect(audit.pages(query, { ...reading, lazy: true }))
    if (!events) throw await tooManyEvents(query, reading)
    // As in an export, the host gets the events before their lines are written.
    await reportRead(events)
    const { bytes, sha256 } = await digest(events)
    // Not the newest event of the log, which the user may not see.
    const as_of = events.at(-1)?.created_at ?? formatTimestamp(Date.now() * 1000)
    const links = { self: queryString === '' ? `${path}/report` : `${path}/report?${queryString}` }
    const meta = {
      username,
      total: events.length,
      as_of,
      bytes,
      sha256,
      export: `${path}/export?${exportQuery(upTo(requested, as_of))}`,
    }
    const open = await findOpen(events, reading)
    return jsonResponse(200, await joinParts(eventsDocument(events, path, links, { open, meta })))
  }
}
