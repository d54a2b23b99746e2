import {
  type AuditEvent,
  AuditLog,
  type EventStore,
  formatQuery,
  parseQuery,
  type QueryObject,
} from 'daybook'
import { auditRoutes } from 'daybook/koa'
import { memoryStore } from 'daybook/memory'
import { sqliteStore } from 'daybook/sqlite'
import { manualClock } from 'daybook/testing'
import fc from 'fast-check'
import Koa from 'koa'
import { afterAll, expect, it } from 'vitest'
import { compileFilter } from '../../src/filter/evaluate.js'
import { parseVisible } from '../../src/filter/visible-filter.js'
import { events, filter, query } from '../property/arbitraries.js'
import { listOf, type RawResponse, send } from '../support/http.js'
import { listen } from '../support/node-server.js'
import { openStream } from '../support/server-sent.js'
import { randomRuns } from '../support/soak.js'
import { tempDir } from '../support/temp.js'

const PATH = '/api/events'
const clock = manualClock('2026-06-01T00:00:00Z')

interface Feed {
  readonly audit: AuditLog
  readonly url: string
  close(): Promise<void>
}

async function serve(
  store: EventStore,
  events: readonly AuditEvent[],
  visible?: QueryObject['filter'],
): Promise<Feed> {
  const audit: AuditLog = new AuditLog({ store, types: {} })
  await audit.importEvents(events)
  const app = new Koa()
  app.silent = true
  app.use(auditRoutes(audit, { username: () => 'ann', visible: () => visible ?? 'all' }))
  const { url, close } = await listen(app.callback())
  return {
    audit,
    url,
    async close() {
      await close()
      await audit.close()
    },
  }
}

/** Everything that a client sees of a response, except the date. */
const comparable = ({
  status,
  headers: { date: _date, ...headers },
  body,
}: RawResponse): unknown => ({
  status,
  headers,
  body,
})

/** The query as a query string. */
const textOf = (query: QueryObject): string => formatQuery(parseQuery(query))

/** Queries that a URL can contain: without lone surrogates. */
const sendable = query.filter((query) => !JSON.stringify(query).includes(String.raw`\ud`))

/** Filters that a host may return: nothing undefined, nothing blank. */
const restricting = filter
  .map((members) => JSON.parse(JSON.stringify(members)) as typeof members)
  .filter((members) => !/"\s*"/.test(JSON.stringify(members)))

/** Visible and hidden events on more than one page, so that every check has events. */
const EXAMPLE: [events: AuditEvent[], visible: { username_eq: string }, queries: QueryObject[]] = [
  Array.from({ length: 6 }, (_, n) => ({
    id: `00000000-0000-4000-8000-00000000000${n}`,
    created_at: `2026-01-01T00:00:0${n}.000000Z`,
    username: n % 2 === 0 ? 'ann' : 'bob',
    system: false,
    type: 'note',
    source: null,
    attributes: { n },
  })),
  { username_eq: 'ann' },
  [{}],
]

const seen = { hidden: 0, visible: 0, listed: 0, truncated: 0, pages: 0 }

it('with a visible filter, the responses equal those of a log that holds only the visible events', async () => {
  const run = async (
    events: readonly AuditEvent[],
    visible: NonNullable<QueryObject['filter']>,
    queries: readonly QueryObject[],
  ): Promise<void> => {
    const temp = tempDir()
    const isVisible = compileFilter(parseVisible(visible))
    const remaining = events.filter((event) => isVisible(event))
    seen.visible += remaining.length
    seen.hidden += events.length - remaining.length
    const feed = await serve(
      sqliteStore({ filename: temp.file('audit.db'), clock }),
      events,
      visible,
    )
    const model = await serve(memoryStore({ clock }), remaining)
    const both = async (path: string): Promise<RawResponse> => {
      const [given, expected] = await Promise.all([send(feed.url, path), send(model.url, path)])
      expect(comparable(given), path).toEqual(comparable(expected))
      return given
    }
    try {
      for (const query of [{ limit: 2 }, ...queries]) {
        let link: string | undefined = `${PATH}?${textOf(query)}`
        for (let page = 0; link !== undefined && page < 10; page++) {
          const response: RawResponse = await both(link)
          const { data, links } = listOf(response)
          seen.pages += page
          seen.listed += data.length
          if (response.status === 206) seen.truncated++
          link = links.prev
        }
      }
      for (const { id } of events) await both(`${PATH}/${id}`)
      await streamBoth(feed, model, queries[0]!)
    } finally {
      await feed.close()
      await model.close()
      temp.remove()
    }
  }

  /** Streams from the first event; they end when the log is closed. */
  const streamBoth = async (feed: Feed, model: Feed, { filter }: QueryObject): Promise<void> => {
    const { where } = parseQuery({ filter })
    const text = formatQuery({ where, sorts: [], limit: 10 }).replace(/&?limit=\d+$/, '')
    const path = `${PATH}/stream?after=2025-01-01&${text}`
    const streams = await Promise.all([feed, model].map(({ url }) => openStream(url + path)))
    const { events } = await model.audit.list({ where, sorts: [], limit: 1000 })
    // Imported events are in the past and not delivered.
    const matching = events.filter(({ id }) => !id.startsWith('00000000'))
    await Promise.all(streams.map((stream) => stream.take(matching.length)))
    await Promise.all([feed, model].map(({ audit }) => audit.close()))
    await Promise.all(streams.map(({ ended }) => ended))
    const [given, expected] = streams.map(({ sent }) => sent.events)
    expect(given, path).toEqual(expected)
  }

  await fc.assert(
    fc.asyncProperty(
      events,
      restricting,
      fc.array(sendable, { minLength: 6, maxLength: 6, size: 'max' }),
      run,
    ),
    { numRuns: randomRuns(8, 100), endOnFailure: true, examples: [EXAMPLE] },
  )
})

// The property must not be vacuous.
afterAll(() => {
  for (const [what, count] of Object.entries(seen)) expect(count, what).toBeGreaterThan(0)
})
