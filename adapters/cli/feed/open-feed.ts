import type { AuditEvent } from '../../../src/event/event.js'
import type { EventQuery } from '../../../src/filter/ast.js'
import { formatQuery } from '../../../src/filter/format.js'
import type { CountOptions, EventCounts } from '../../../src/store/counts.js'
import type { EventGroups, GroupOptions } from '../../../src/store/groups.js'
import type { EventPage, WaitOptions } from '../../../src/store/store.js'
import { newestPosition } from '../../../src/tail/poll.js'
import type { FeedAddress } from './address.js'
import { type AskCredentials, createClient, type FeedClient, readDocument } from './client.js'
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
import { findFeed, type FeedPaths } from './find-feed.js'
import { countParameters, filterParameters, groupParameters, joined } from './parameters.js'
import { followFeed, type FeedTailOptions } from './tail.js'

const PARTIAL = 206

/** A log behind an HTTP feed. Its answers are those of an `AuditLog` on the store of the feed, as far as the user may read it. */
export interface Feed {
  readonly client: FeedClient
  readonly paths: FeedPaths
  /** What the feed knows of event types. */
  readonly described: DescribedBy
  list(query: EventQuery, options?: WaitOptions): Promise<EventPage>
  get(id: string, options?: WaitOptions): Promise<AuditEvent | undefined>
  count(query: EventQuery, options?: CountOptions): Promise<EventCounts>
  groups(query: EventQuery, options: GroupOptions): Promise<EventGroups>
  /** The bytes of an export: see {@link exportOf}. */
  export(query: EventQuery, options: FeedExport): AsyncGenerator<Uint8Array, void, void>
  /** Matching events from after `after` on, or from now on: see {@link followFeed}. */
  tail(query: EventQuery, options?: FeedTailOptions): AsyncGenerator<AuditEvent, void, void>
}

/** What the feed knows of event types; nothing if the user may not read them. */
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

/** Finds the feed of an address, and reads what it knows of event types. */
export async function openFeed(
  { url, credentials }: FeedAddress,
  ask: AskCredentials,
  { signal }: WaitOptions = {},
): Promise<Feed> {
  const client = createClient(credentials, ask)
  const paths = await findFeed(client, url, signal)
  return createFeed(client, paths, await readTypes(client, paths.events, signal))
}

function createFeed(client: FeedClient, paths: FeedPaths, described: DescribedBy): Feed {
  const { events } = paths

  async function list(query: EventQuery, { signal }: WaitOptions = {}): Promise<EventPage> {
    const url = `${events}?${formatQuery(query)}`
    const { status, document } = await client.document<EventsDocument>(url, { signal })
    return { events: document.data.map(eventOf), truncated: status === PARTIAL }
  }

  const figures = async <Figures>(
    path: string,
    signal: AbortSignal | undefined,
    ...parts: readonly string[]
  ): Promise<Figures> => {
    const url = `${events}/${path}?${joined(...parts)}`
    return (await client.document<{ readonly meta: Figures }>(url, { signal })).document.meta
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
      return eventOf((await readDocument<EventDocument>(response, signal)).data)
    },
    count: ({ where }, options = {}) =>
      figures('counts', options.signal, filterParameters(where), countParameters(options)),
    groups: ({ where }, options) =>
      figures('groups', options.signal, filterParameters(where), groupParameters(options)),
    export: (query, options) => exportOf(client, events, query, options),
    async *tail({ where }, { after, signal, onOutage } = {}) {
      const url = `${events}/stream?${filterParameters(where)}`
      const start = after ?? (await newestPosition({ list }, { signal }))
      yield* followFeed(client, url, { after: start, signal, onOutage })
    },
  }
}
