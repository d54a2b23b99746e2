import { AuditLogError } from '../../errors.js'
import type { AuditEvent } from '../../event/event.js'
import { SOURCE } from '../../event/own-fields.js'
import type { Operation } from '../../event/json-patch.js'
import { createTimeSlices } from '../../filter/time-slices.js'
import { linkRules } from '../../event/links.js'
import { type HistoryEntry, historyOf, historyQuery, readResource } from '../../history/history.js'
import { revertPatch } from '../../history/revert-patch.js'
import { checkAccept, jsonResponse } from '../media.js'
import { joinParts } from '../utf8.js'
import { eventsDocument } from './documents.js'
import type { SourceHandler } from './handler.js'
import { readHistoryRequest } from './history-request.js'

/** The newest entries, oldest first, and the number of all. Reads the whole history, because each state follows from the one before. Keeps `limit` entries. */
async function newestOf<Entry>(
  history: AsyncIterable<Entry>,
  limit: number,
): Promise<{ readonly entries: readonly Entry[]; readonly total: number }> {
  const slices = createTimeSlices()
  const entries: Entry[] = []
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

/** Members that the history adds to an event. */
const changeOf = ({ event, patch, state }: HistoryEntry): object => ({
  known: state !== undefined,
  state: state ?? null,
  patch: patch ?? null,
  ...revertOf(event),
})

/** `GET <path>/history`: the changes of a resource with the states after them. */
export const historyHandler: SourceHandler = async ({ request, source, reportRead }) => {
  checkAccept(request.header('accept'))
  const { query } = request
  const found = source()
  const { resource, asOf, limit } = readHistoryRequest(query)
  const isSource = typeof resource === 'string'
  found.checkNames(isSource ? [SOURCE] : Object.keys(resource), isSource ? 'source' : 'resource')
  const filters = readResource(resource, linkRules(found.described.links))
  const pages = found.pages(historyQuery(filters, { asOf }))
  const { entries, total } = await newestOf(historyOf(pages, filters), limit)
  await reportRead(entries)
  const isPart = total > entries.length
  const self = found.link('/history', query)
  const links = isPart
    ? { self, prev: found.link('/history', found.queryBefore(query, entries[0]!)) }
    : { self }
  const body = await joinParts(
    eventsDocument(entries, found.pathOf, links, {
      meta: { total, restricted: found.isRestricted },
      metaOf: (entry) => ({ change: changeOf(entry) }),
    }),
  )
  return jsonResponse(isPart ? 206 : 200, body)
}
