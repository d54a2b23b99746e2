import type { AuditEvent } from '../../../src/event/event.js'
import { bothOf, type EventQuery, MAX_LIMIT, oneCondition } from '../../../src/filter/ast.js'
import { formatQuery } from '../../../src/filter/format.js'
import { isTooLongForUrl } from '../../../src/filter/url-length.js'
import type { CountOptions, EventCounts } from '../../../src/store/counts.js'
import type { EventGroups, GroupOptions } from '../../../src/store/groups.js'
import type { EventPage, WaitOptions } from '../../../src/store/store.js'
import { newestCursor } from '../../../src/tail/poll.js'
import type { FeedAddress } from './address.js'
import {
  type Answer,
  type AskCredentials,
  createClient,
  type FeedClient,
  readDocument,
} from './client.js'
import {
  describedBy,
  type DescribedBy,
  type EventDocument,
  eventOf,
  type EventsDocument,
  type TypesDocument,
} from './documents.js'
import { exportOf, type FeedExport } from './export.js'
import { isJson } from './failures.js'
import { exitOf } from '../terminal/exit-codes.js'
import { findFeed, type FeedPaths } from './find-feed.js'
import { countParameters, filterParameters, groupParameters, joined } from './parameters.js'
import { pollFeed } from './poll.js'
import { followFeed, type FeedTailOptions } from './tail.js'

const PARTIAL = 206

/** A log behind an HTTP feed. It answers like an `AuditLog` on the store of the feed, with the events that the user may read. */
export interface Feed {
  readonly client: FeedClient
  readonly paths: FeedPaths
  /** The event types of the feed. */
  readonly described: DescribedBy
  list(query: EventQuery, options?: WaitOptions): Promise<EventPage>
  get(id: string, options?: WaitOptions): Promise<AuditEvent | undefined>
  count(query: EventQuery, options?: CountOptions): Promise<EventCounts>
  groups(query: EventQuery, options: GroupOptions): Promise<EventGroups>
  /** The proof of an event, with its UUID. Rejects if there is none. */
  prove(id: string, options?: WaitOptions): Promise<string>
  /** The signed head of the ledger. */
  checkpoint(options?: WaitOptions): Promise<string>
  /** The bytes of an export: see {@link exportOf}. */
  export(query: EventQuery, options: FeedExport): AsyncGenerator<Uint8Array, void, void>
  /**
   * Matching events after `after`, or from now on: see {@link followFeed}. Uses lists if the user may not follow the
   * feed.
   */
  tail(query: EventQuery, options?: FeedTailOptions): AsyncGenerator<AuditEvent, void, void>
}

/** Event types of the feed; empty if the user may not read them. */
async function readTypes(
  client: FeedClient,
  events: string,
  signal: AbortSignal | undefined,
): Promise<DescribedBy> {
  const response = await client.send(`${events}/types`, { signal })
  if (response.status === 403 && isJson(response)) {
    await response.body?.cancel()
    return { types: {}, customTypes: {} }
  }
  return describedBy(await readDocument<TypesDocument>(response, signal))
}

/** Finds the feed of an address, and reads its event types. */
export async function openFeed(
  { url, credentials }: FeedAddress,
  ask: AskCredentials,
  { signal }: WaitOptions = {},
): Promise<Feed> {
  const client = createClient(credentials, ask)
  const paths = await findFeed(client, url, signal)
  return createFeed(client, paths, await readTypes(client, paths.events, signal))
}

/** Reads a document by a query. A query that is too long for a URL is posted to `search`. */
function readByQuery<Document>(
  client: FeedClient,
  [url, search]: readonly [url: string, search: string],
  query: string,
  signal: AbortSignal | undefined,
): Promise<Answer<Document>> {
  return isTooLongForUrl(query)
    ? client.document<Document>(search, { method: 'POST', form: query, signal })
    : client.document<Document>(`${url}?${query}`, { signal })
}

function createFeed(client: FeedClient, paths: FeedPaths, described: DescribedBy): Feed {
  const { events } = paths

  async function list(query: EventQuery, { signal }: WaitOptions = {}): Promise<EventPage> {
    const { status, document } = await readByQuery<EventsDocument>(
      client,
      [events, `${events}/search`],
      formatQuery(query),
      signal,
    )
    return { events: document.data.map(eventOf), truncated: status === PARTIAL }
  }

  return {
    client,
    paths,
    described,
    list,
    async get(id, { signal } = {}) {
      const url = `${events}/${encodeURIComponent(id)}`
      const response = await client.send(url, { signal })
      if (response.status === 404 && isJson(response)) {
        await response.body?.cancel()
        return undefined
      }
      // A user who may only list events gets the event from the list.
      if (response.status === 403 && isJson(response)) {
        await response.body?.cancel()
        const where = oneCondition('id', 'eq', [id])
        return (await list({ where, sorts: [], limit: 1 }, { signal })).events[0]
      }
      return eventOf((await readDocument<EventDocument>(response, signal)).data)
    },
    async count({ where }, options = {}) {
      const url = `${events}/counts`
      const query = joined(filterParameters(where), countParameters(options))
      type Counts = { readonly meta: EventCounts }
      return (await readByQuery<Counts>(client, [url, url], query, options.signal)).document.meta
    },
    prove: (id, options) => client.text(`${events}/${id}/proof`, options),
    checkpoint: (options) => client.text(`${events}/checkpoint`, options),
    async groups({ where }, options) {
      const url = `${events}/groups?${joined(filterParameters(where), groupParameters(options))}`
      type Groups = { readonly meta: EventGroups }
      return (await client.document<Groups>(url, { signal: options.signal })).document.meta
    },
    export: (query, options) => exportOf(client, events, query, options),
    async *tail({ where }, { after, signal, onOutage } = {}) {
      const url = `${events}/stream?${filterParameters(where)}`
      const start = after ?? (await newestCursor({ list }, { signal }))
      const options = { after: start, signal, onOutage }
      try {
        yield* followFeed(client, url, options)
      } catch (error) {
        if (exitOf(error) !== 'forbidden') throw error
        const sorts = [{ attribute: 'created_at', direction: 'asc' }] as const
        const later = (position: string) =>
          bothOf(where, oneCondition('created_at', 'gt', [position]))
        const next = (position: string) =>
          list({ where: later(position), sorts, limit: MAX_LIMIT }, { signal })
        yield* pollFeed(next, options)
      }
    },
  }
}
