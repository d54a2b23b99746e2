import { createHash } from 'node:crypto'
import type { EventOfLog } from '../../event/event-of-log.js'
import { formatTimestamp } from '../../event/timestamp.js'
import { jsonLine } from '../../exporting/lines.js'
import { createTimeSlices } from '../../filter/time-slices.js'
import { attributesJson } from '../../event/lazy-event.js'
import { checkAccept, jsonResponse } from '../media.js'
import { extractParameters, readSingleValues } from '../parameters.js'
import { HttpProblem } from '../problem.js'
import { joinParts } from '../utf8.js'
import { readAllMatching } from './export-request.js'
import type { SourceHandler } from './handler.js'
import { MAX_REPORT_EVENTS, MAX_REPORT_MIB } from '../openapi/routes.js'
import { eventsDocument } from './documents.js'
import type { ExistingMatches } from './source.js'

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
  pages: AsyncIterable<readonly EventOfLog[]>,
): Promise<readonly EventOfLog[] | undefined> {
  const all: EventOfLog[] = []
  let size = 0
  for await (const items of pages) {
    if (all.length + items.length > MAX_REPORT_EVENTS) return undefined
    for (const item of items) {
      all.push(item)
      size += attributesJson(item.event).length
      if (size > MAX_BYTES) throw tooManyBytes(all.length)
    }
  }
  return all
}

/** The size and the digest of the export of these events as JSON lines. */
async function digest(
  items: readonly EventOfLog[],
): Promise<{ readonly bytes: number; readonly sha256: string }> {
  const hash = createHash('sha256')
  const slices = createTimeSlices()
  let bytes = 0
  for (const item of items) {
    const text = Buffer.from(jsonLine(item))
    hash.update(text)
    bytes += text.length
    if (slices.isOver()) await slices.next()
  }
  return { bytes, sha256: hash.digest('hex') }
}

async function tooManyEvents(existing: ExistingMatches): Promise<HttpProblem> {
  const { total, exact } = await existing.count(COUNT_WITHIN_MS)
  // It is known that there are more than fit in a report, even if counting did not get that far.
  const least = Math.max(total, MAX_REPORT_EVENTS + 1)
  const number = exact.total ? total : `at least ${least}`
  return new HttpProblem(
    'TOO_MANY_EVENTS',
    `${number} events match, and a report has at most ${MAX_REPORT_EVENTS}: add filters, or export the events`,
    { parameter: 'filter', meta: { total: least, exact: exact.total, max: MAX_REPORT_EVENTS } },
  )
}

/** `GET <path>/report`: all matching events in one document, with the digest of their export. */
export const reportHandler: SourceHandler = async ({ request, username, source, reportRead }) => {
  checkAccept(request.header('accept'))
  const found = source()
  const { extracted, rest } = extractParameters(request.query, (name) => name === 'limit')
  const limit = readSingleValues(extracted).get('limit')
  const where = readAllMatching(rest, { known: 'filter and q', limit })
  const existing = await found.existing(where)
  const events = await collect(existing.pages())
  if (!events) throw await tooManyEvents(existing)
  // As in an export, the host gets the events before their lines are written.
  await reportRead(events)
  const { bytes, sha256 } = await digest(events)
  // Not the newest event of the log, which the user may not see.
  const as_of = events.at(-1)?.event.created_at ?? formatTimestamp(Date.now() * 1000)
  const links = { self: found.link('/report', request.query) }
  const meta = {
    username,
    total: events.length,
    as_of,
    bytes,
    sha256,
    export: found.link('/export', `${existing.exportQuery(as_of)}&format=ndjson`),
  }
  const open = await found.open(events)
  const document = eventsDocument(events, found.pathOf, links, { open, meta })
  return jsonResponse(200, await joinParts(document))
}
