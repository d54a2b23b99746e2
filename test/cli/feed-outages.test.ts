import type { AuditEvent } from 'daybook'
import { sqliteStore } from 'daybook/sqlite'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { readAddress } from '../../adapters/cli/feed/address.js'
import type { FeedClient } from '../../adapters/cli/feed/client.js'
import { type Feed, openFeed } from '../../adapters/cli/feed/open-feed.js'
import { followFeed } from '../../adapters/cli/feed/tail.js'
import { CommandError } from '../../adapters/cli/terminal/exit-codes.js'
import { parseQuery } from '../../src/filter/parse.js'
import { serve, type TestServer } from '../support/http.js'
import { type Proxy, startProxy } from '../support/proxy.js'
import { tempDir } from '../support/temp.js'

const temp = tempDir()
const filename = temp.file('audit.db')
const start = (): Promise<TestServer> => serve({ store: sqliteStore({ filename }), record: false })
const targetOf = ({ url }: TestServer): { host: string; port: number } => ({
  host: '127.0.0.1',
  port: Number(new URL(url).port),
})
let server: TestServer
let proxy: Proxy
let feed: Feed

beforeAll(async () => {
  server = await start()
  proxy = await startProxy(targetOf(server))
  const address = readAddress(`http://ann:ann@127.0.0.1:${proxy.port}`, {})
  feed = await openFeed(address, () => Promise.resolve(undefined))
})
afterAll(async () => {
  await proxy.close()
  await server.close()
  temp.remove()
})

const note = (n: number, text = ''): Promise<AuditEvent | undefined> =>
  server.audit.recordCustom('note', { n, text })
const numberOf = ({ attributes }: AuditEvent): unknown => attributes['n']

describe('a tail of a feed', () => {
  it('delivers each event once while the server is away and comes back as another process', async () => {
    const reports: unknown[] = []
    const before = await note(-1)
    const tail = feed.tail(parseQuery('filter[n_lt]=100'), {
      after: before!.created_at,
      onOutage: (error) => reports.push(error === undefined ? 'back' : 'away'),
    })
    const taken: unknown[] = []
    const take = async (count: number): Promise<void> => {
      while (taken.length < count) {
        const { value } = await tail.next()
        taken.push(numberOf(value as AuditEvent))
      }
    }
    const first = take(2)
    await note(0)
    await note(1)
    await first
    proxy.refuse()
    await note(2)
    await note(3)
    await server.close()
    server = await start()
    await note(4)
    proxy.moveTo(targetOf(server))
    const rest = take(6)
    await expect.poll(() => reports).toEqual(['away'])
    await note(5)
    proxy.heal()
    await rest
    await tail.return()
    expect(taken).toEqual([0, 1, 2, 3, 4, 5])
    expect(reports).toEqual(['away', 'back'])
  })

  it('begins with the next event without a time', async () => {
    await note(100)
    const tail = feed.tail(parseQuery('filter[type_eq]=note'))
    let first: unknown
    const next = tail.next().then(({ value }) => (first = numberOf(value as AuditEvent)))
    // The tail may still be opening while the first events are recorded.
    while (first === undefined) await note(101)
    await next
    await tail.return()
    expect(first).toBe(101)
  })

  it('fails at once if the first connection fails or the query is wrong', async () => {
    const sorted = feed.tail(parseQuery('filter[no_such_eq]=1'), { after: 'yesterday' })
    await expect(sorted.next()).rejects.toThrow('last-event-id')
    proxy.refuse()
    await expect(feed.tail(parseQuery('')).next()).rejects.toThrow('out of reach')
    proxy.heal()
  })
})

const timeOf = (n: number): string => `2026-11-24T06:00:00.00000${n}Z`

const TEXT = 'größe 😀'

/** The text of a message with an event, as servers send it. */
function messageOf(n: number): string {
  const attributes = { type: 'note', created_at: timeOf(n), n, text: TEXT }
  return `id: ${timeOf(n)}\ndata: ${JSON.stringify({ data: { id: `e${n}`, attributes } })}\n\n`
}

/** Two events, and a part of a third. */
const CUT_OFF = messageOf(1) + messageOf(2) + messageOf(3).slice(0, -1)

/** Follows two streams. The first has these bytes, the second has the third event. */
async function followCutOff(chunks: readonly Uint8Array[]) {
  const bodies = [chunks, [Buffer.from(messageOf(3))]]
  const cursors: unknown[] = []
  const client: Pick<FeedClient, 'request'> = {
    request(_url, { headers } = {}) {
      cursors.push(headers?.['last-event-id'])
      const body = bodies.shift()
      if (!body) throw new CommandError('failed', 'both streams have ended')
      return Promise.resolve(new Response(ReadableStream.from(body)))
    },
  }
  const tail = followFeed(client, 'http://127.0.0.1/', { after: timeOf(0) })
  const events = [await tail.next(), await tail.next(), await tail.next()]
  await tail.return()
  return { cursors, attributes: events.map(({ value }) => (value as AuditEvent).attributes) }
}

const ONCE = {
  cursors: [timeOf(0), timeOf(2)],
  attributes: [1, 2, 3].map((n) => ({ n, text: TEXT })),
}

describe('a stream that the server cuts off within a message', () => {
  it.concurrent.each([
    ['with comments and changes', `retry: 9\n\n:\n\nevent: change\ndata: {}\n\n${CUT_OFF}`],
    ['with data on several lines', CUT_OFF.replaceAll(',"attributes"', '\ndata: ,"attributes"')],
    ['without spaces after colons', CUT_OFF.replaceAll(/^(id|data): /gm, '$1:')],
    ['with CR LF', CUT_OFF.replaceAll('\n', '\r\n')],
    ['with CR', CUT_OFF.replaceAll('\n', '\r')],
    ['with a byte order mark', `\uFEFF${CUT_OFF}`],
  ])('delivers each event once: %s', async (_name, text) => {
    const bytes = Buffer.from(text)
    const byteByByte = Array.from(bytes, (_, at) => bytes.subarray(at, at + 1))
    expect(await Promise.all([[bytes], byteByByte].map(followCutOff))).toEqual([ONCE, ONCE])
  })
})

describe('an export of a feed', () => {
  it('continues after the connection broke, and has the bytes of an uninterrupted export', async () => {
    await Promise.all(Array.from({ length: 2000 }, (_, n) => note(n, 'x'.repeat(6000))))
    const query = parseQuery('filter[text_start]=xxx')
    const exported = feed.export(query, { format: 'ndjson' })
    const chunks: Uint8Array[] = [(await exported.next()).value as Uint8Array]
    proxy.refuse()
    proxy.heal()
    // Recorded after the export began, so it is not part of the export.
    await note(2000, 'xxx')
    for await (const chunk of exported) chunks.push(chunk)
    const text = Buffer.concat(chunks).toString()
    const whole = await server.send('/api/events/export?filter[text_start]=xxx&filter[n_lt]=2000')
    expect(text === whole.body).toBe(true)
    expect(text.split('\n')).toHaveLength(2001)
  })
})
