import { AuditLogError } from '../../errors.js'
import type { AuditEvent } from '../../event/event.js'
import type { Operation } from '../../event/json-patch.js'
import { formatTimestamp, parseTimestamp } from '../../event/timestamp.js'
import { bothOf } from '../../filter/ast.js'
import { createTimeSlices } from '../../filter/time-slices.js'
import { type HistoryEntry, historyOf, historyQuery } from '../../history/history.js'
import { revertPatch } from '../../history/revert-patch.js'
import { checkAccept, jsonResponse } from '../media.js'
import { extractParameters } from '../parameters.js'
import { joinParts } from '../utf8.js'
import { eventsDocument } from './documents.js'
import type { EventsHandler, HandlerOptions } from './handler.js'
import { readHistoryRequest } from './history-request.js'

/** The newest entries, oldest first, and the number of all. */
interface NewestEntries {
  readonly entries: readonly HistoryEntry[]
  readonly total: number
}

/** Reads the whole history, because each state follows from the one before. Keeps `limit` entries. */
async function newestOf(
  history: AsyncIterable<HistoryEntry>,
  limit: number,
): Promise<NewestEntries> {
  const slices = createTimeSlices()
  const entries: HistoryEntry[] = []
  let total = 0
  for await (const entry of history) {
    total += 1
    entries.push(entry)
    if (entries.length > limit) entries.shift()
    if (slices.isOver()) await slices.next()
  }
  return { entries, total }
}

type Revert =
  | { readonly revert: readonly Operation[] }
  | { readonly revert: null; readonly not_revertible: string }

function revertOf(event: AuditEvent): Revert {
  try {
    return { revert: revertPatch(event, { test: true }) }
  } catch (error) {
    if (!(error instanceof AuditLogError) || error.code !== 'NOT_REVERTIBLE') throw error
    // Without the beginning, which all of these messages share.
    return { revert: null, not_revertible: error.message.replace(/^[^:]*: /, '') }
  }
}

/** What the history adds to an event. */
const changeOf = ({ event, patch, state }: HistoryEntry): object => ({
  known: state !== undefined,
  state: state ?? null,
  patch: patch ?? null,
  ...revertOf(event),
})

/** The query string of the entries before an event. Times are unique, so the one before excludes only this event. */
function queryBefore(query: string, { created_at }: AuditEvent): string {
  const { rest } = extractParameters(query, (name) => name === 'as_of')
  return `${rest}&as_of=${formatTimestamp(parseTimestamp(created_at)! - 1)}`
}

/** `GET <path>/history`: the changes of a resource with the states after them. */
export function historyHandler({ audit, path }: HandlerOptions): EventsHandler {
  return async ({ request, reading, visible, reportRead }) => {
    checkAccept(request.header('accept'))
    const { query } = request
    const { resource, asOf, limit } = readHistoryRequest(query)
    const changes = historyQuery(resource, { asOf })
    const where = bothOf(visible, changes.where)
    const pages = audit.pages({ ...changes, where }, { ...reading, lazy: true })
    const { entries, total } = await newestOf(historyOf(pages), limit)
    const events = entries.map(({ event }) => event)
    await reportRead(events)
    const isPart = total > entries.length
    const self = `${path}/history?${query}`
    const links = isPart
      ? { self, prev: `${path}/history?${queryBefore(query, events[0]!)}` }
      : { self }
    const byId = new Map(entries.map((entry) => [entry.event.id, entry]))
    const body = await joinParts(
      eventsDocument(events, path, links, {
        meta: { total, restricted: visible !== undefined },
        metaOf: ({ id }) => ({ change: changeOf(byId.get(id)!) }),
      }),
    )
    return jsonResponse(isPart ? 206 : 200, body)
  }
}
