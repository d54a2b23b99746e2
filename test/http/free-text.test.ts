import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { expectError } from '../support/expect-error.js'
import { listOf, newEvent, serve, type TestServer } from '../support/http.js'
import { openStream } from '../support/server-sent.js'

interface SentDocument {
  readonly data: { readonly attributes: { readonly type: string } }
}

const EVENTS = '/api/events'
const PHRASE = encodeURIComponent('deploy "by hand" -staging')

describe('free text over HTTP', () => {
  let server: TestServer

  beforeEach(async () => {
    server = await serve({
      record: false,
      feed: {
        visible: ({ state }) => (state['username'] === 'eve' ? { '*_cont': 'public' } : 'all'),
        redact: true,
      },
    })
  })
  afterEach(() => server.close())

  const types = (body: string): unknown[] =>
    listOf({ body }).data.map(({ attributes }) => attributes['type'])

  const record = async (): Promise<void> => {
    const { audit } = server
    await audit.recordCustom('a', { note: 'Deploy by hand', scope: 'public' }, { username: 'ann' })
    await audit.recordCustom('b', { notes: [{ deep: 'by hand' }, 'deploys'] })
    await audit.recordCustom('c', { note: 'deploy by hand', target: 'Staging' })
    await server.send(EVENTS, newEvent({ type: 'd', note: 'deploy', password: 'by hand' }))
  }

  it('selects events in lists, counts and exports', async () => {
    await record()
    expect(types((await server.send(`${EVENTS}?q=${PHRASE}`)).body)).toEqual(['a', 'b'])
    const counts = await server.send(`${EVENTS}/counts?q=${PHRASE}&facets=type`)
    expect(JSON.parse(counts.body)).toMatchObject({ meta: { total: 2 } })
    const exported = await server.send(`${EVENTS}/export?q=${PHRASE}`)
    const lines = exported.body.trimEnd().split('\n')
    expect(lines.map((line) => (JSON.parse(line) as { type: string }).type)).toEqual(['a', 'b'])
  })

  it('is joined to the filter, to other parameters q and to the visible filter', async () => {
    await record()
    const list = async (query: string, user = 'ann'): Promise<unknown[]> =>
      types((await server.send(`${EVENTS}?${query}`, { user })).body)
    expect(await list('q=deploy&filter[username_null]=1')).toEqual(['b', 'c'])
    expect(await list('q=deploy&q=staging')).toEqual(['c'])
    expect(await list('q=deploy', 'eve')).toEqual(['a'])
    expect(await list('filter[m]=or&filter[*_cont]=public&filter[type_eq]=d')).toEqual(['a', 'd'])
  })

  it('does not find secrets, which are not stored', async () => {
    await record()
    expect(types((await server.send(`${EVENTS}?q=deploy+hand`)).body)).toEqual(['a', 'b', 'c'])
  })

  it('stays in the link to the page before', async () => {
    await record()
    const page = listOf(await server.send(`${EVENTS}?q=${PHRASE}&limit=1`))
    expect(page.links.prev).toContain('q=deploy%20%22by%20hand%22%20-staging&')
    expect(types((await server.send(page.links.prev!)).body)).toEqual(['a'])
  })

  it('selects the events of a stream', async () => {
    const stream = await openStream(`${server.url}${EVENTS}/stream?q=${PHRASE}`)
    await record()
    const sent = await stream.take(2)
    const documents = sent.map(({ data }) => JSON.parse(data) as SentDocument)
    expect(documents.map(({ data }) => data.attributes.type)).toEqual(['a', 'b'])
    stream.leave()
  })

  it('is refused with the name of the parameter', async () => {
    for (const path of ['', '/counts', '/export', '/stream'])
      for (const [q, code] of [
        ['"open', 'MALFORMED_PARAMETER'],
        ['""', 'INVALID_VALUE'],
        ['a '.repeat(21), 'QUERY_TOO_LARGE'],
      ] as const) {
        const response = await server.send(`${EVENTS}${path}?q=${encodeURIComponent(q)}`)
        expect(expectError(response, 400, code, { parameter: 'q' }).detail).toMatch(/^q/)
      }
  })
})
