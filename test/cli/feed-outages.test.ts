import type { AuditEvent } from 'daybook'
import { sqliteStore } from 'daybook/sqlite'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { readAddress } from '../../adapters/cli/feed/address.js'
import { type Feed, openFeed } from '../../adapters/cli/feed/open-feed.js'
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
    // The tail may still be opening while the first ones are recorded.
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

describe('an export of a feed', () => {
  it('goes on after the connection broke, with the bytes of an export that did not break', async () => {
    await Promise.all(Array.from({ length: 2000 }, (_, n) => note(n, 'x'.repeat(6000))))
    const query = parseQuery('filter[text_start]=xxx')
    const exported = feed.export(query, { format: 'ndjson' })
    const chunks: Uint8Array[] = [(await exported.next()).value as Uint8Array]
    proxy.refuse()
    proxy.heal()
    // Recorded after the export began, so it is no part of it.
    await note(2000, 'xxx')
    for await (const chunk of exported) chunks.push(chunk)
    const text = Buffer.concat(chunks).toString()
    const whole = await server.send('/api/events/export?filter[text_start]=xxx&filter[n_lt]=2000')
    expect(text === whole.body).toBe(true)
    expect(text.split('\n')).toHaveLength(2001)
  })
})
