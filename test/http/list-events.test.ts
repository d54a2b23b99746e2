import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { expectError } from '../support/expect-error.js'
import { JSON_API, listOf, newEvent, serve, type TestServer } from '../support/http.js'

describe('GET /api/events', () => {
  let server: TestServer

  beforeEach(async () => {
    server = await serve()
  })
  afterEach(() => server.close())

  const names = async (query: string): Promise<unknown[]> => {
    const response = await server.send(`/api/events?${query}`)
    expect(response.status, response.body).toBeLessThan(300)
    return listOf(response).data.map((event) => event.attributes['n'])
  }

  const recordNumbers = (count: number): Promise<unknown> =>
    Promise.all(Array.from({ length: count }, (_, n) => server.audit.recordCustom('test:n', { n })))

  describe('warns of a sort by an attribute that no event has', () => {
    const warningsOf = async (query: string, user = 'ann'): Promise<string[] | undefined> => {
      const response = await server.send(`/api/events?${query}`, { user })
      const { meta } = JSON.parse(response.body) as {
        meta?: { warnings: { detail: string; source: { parameter: string } }[] }
      }
      expect(meta?.warnings.every(({ source }) => source.parameter === 'filter[sorts]')).not.toBe(
        false,
      )
      return meta?.warnings.map(({ detail }) => detail)
    }
    const missing = (name: string, hint = ''): string =>
      `no visible event has the attribute "${name}"${hint}`

    it('and of no other', async () => {
      await recordNumbers(20)
      await server.audit.recordCustom('test:deep', { deep: [{ v: 1 }], nothing: null, source: 's' })
      const sorts = 'filter[sorts][]='
      expect(await warningsOf(`${sorts}nope`)).toEqual([missing('nope')])
      expect(await warningsOf(`${sorts}nope+desc&limit=1`)).toEqual([missing('nope')])
      expect(await warningsOf(`${sorts}creatd_at+desc`)).toEqual([
        missing('creatd_at', '; did you mean created_at?'),
      ])
      expect(await warningsOf(`${sorts}n&${sorts}nope&${sorts}nothing&${sorts}nope`)).toEqual([
        missing('nope'),
        missing('nothing'),
      ])
      expect(await warningsOf(`${sorts}nope&filter[type_eq]=none`)).toEqual([missing('nope')])
      for (const name of [
        'n',
        'deep_v+desc',
        'source',
        'username',
        'id+desc',
        'created_at',
        'system',
      ])
        expect(await warningsOf(`${sorts}${name}&limit=1`), name).toBeUndefined()
      // The page has no event with the attribute, but the log has.
      expect(await warningsOf(`${sorts}n+desc&filter[type_eq]=test:deep`)).toBeUndefined()
      expect(await warningsOf('filter[nope_eq]=1')).toBeUndefined()
    })

    it('and its entity tag changes once an event has it', async () => {
      await recordNumbers(1)
      const query = '/api/events?filter[sorts]=m&filter[n_eq]=0'
      const { etag } = (await server.send(query)).headers
      const again = { headers: { 'if-none-match': etag } }
      expect((await server.send(query, again)).status).toBe(304)
      await server.audit.recordCustom('test:m', { m: 1 })
      expect((await server.send(query, again)).status).toBe(200)
      expect(await warningsOf('filter[sorts]=m&filter[n_eq]=0')).toBeUndefined()
    })
  })

  it('gives an empty list for an empty log', async () => {
    const response = await server.send('/api/events')
    expect(response.status).toBe(200)
    expect(response.headers['content-type']).toBe(JSON_API)
    expect(JSON.parse(response.body)).toEqual({
      jsonapi: { version: '1.1' },
      data: [],
      links: { self: '/api/events' },
    })
  })

  it('gives events as resources with source and links', async () => {
    const event = await server.audit.record(
      'api:changes:create',
      { name: 'nightly', request_body: { action: 'deploy' }, project_path: '/projects/acme' },
      { username: 'ann' },
    )
    const { data } = listOf(await server.send('/api/events'))
    expect(data).toEqual([
      {
        type: 'event',
        id: event!.id,
        attributes: {
          type: 'api:changes:create',
          username: 'ann',
          system: true,
          created_at: event!.created_at,
          name: 'nightly',
          request_body: { action: 'deploy' },
          project_path: '/projects/acme',
        },
        relationships: { source: { links: { source: '/api/projects/acme' } } },
        links: { self: `/api/events/${event!.id}` },
      },
    ])
    expect(event!.created_at).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/)
  })

  it.each(['', 'filter[m]=or&filter[n_gt]=3&filter[n_eq]=0', 'filter[created_at_lt]=2999-01-01'])(
    'has links back over all pages, which do not grow: %s',
    async (filter) => {
      await recordNumbers(20)
      const seen: unknown[] = []
      const links: string[] = []
      let link: string | undefined = `/api/events?limit=1&${filter}`
      while (link !== undefined) {
        const response = await server.send(link)
        expect(response.status, response.body).toBeLessThan(300)
        const page = listOf(response)
        seen.unshift(...page.data.map((event) => event.attributes['n']))
        link = page.links.prev
        if (link !== undefined) links.push(link)
      }
      const all = Array.from({ length: 20 }, (_, n) => n)
      expect(seen).toEqual(filter.includes('n_gt') ? all.filter((n) => n === 0 || n > 3) : all)
      expect(new Set(links.map((text) => text.length)).size).toBe(1)
    },
  )

  it('is polled by the time of the last event, and by its type', async () => {
    const type = 'api:changes:success'
    const last = (await server.audit.recordCustom('own'))!
    const query = `filter[created_at_gt]=${last.created_at}&filter[type_eq]=${type}`
    const system = `${query}&filter[system_true]=1`
    expect(await names(query)).toEqual([])
    await server.send('/api/events', newEvent({ type, n: 1 }))
    // An event of a user does not count as an event of the service, whatever its type.
    expect([await names(query), await names(system)]).toEqual([[1], []])
    await server.audit.record(type, { n: 2 })
    expect([await names(query), await names(system)]).toEqual([[1, 2], [2]])
  })

  it('gives the first events of the order with sorts, and no links.prev', async () => {
    await recordNumbers(5)
    expect(await names('limit=2&filter[sorts]=n desc'.replace(' ', '%20'))).toEqual([4, 3])
    const response = await server.send(
      '/api/events?limit=2&filter[sorts][]=type&filter[sorts][]=n+asc',
    )
    expect(response.status).toBe(206)
    expect(listOf(response).links.prev).toBeUndefined()
    expect(listOf(response).data.map((event) => event.attributes['n'])).toEqual([0, 1])
  })

  it('accepts encoded brackets, and repeated keys for lists', async () => {
    await recordNumbers(5)
    expect(await names('filter%5Bn_in%5D%5B%5D=1&filter%5Bn_in%5D%5B%5D=3')).toEqual([1, 3])
    expect(await names('filter[n_in]=1&filter[n_in]=3')).toEqual([1, 3])
    expect(await names('filter[n_in][0]=4&filter[n_in][1]=2')).toEqual([2, 4])
  })

  it('gives self links exactly as requested', async () => {
    for (const query of ['filter[name_eq]=a', 'filter%5Bname_eq%5D=a%20b+c&limit=007', 'limit=3&'])
      expect(listOf(await server.send(`/api/events?${query}`)).links.self).toBe(
        `/api/events?${query}`,
      )
  })

  it('has no paths under an event, and accepts one trailing slash', async () => {
    const event = await server.audit.recordCustom('own', {})
    const id = event!.id
    for (const path of ['a/b', `${id}/`, `${id}/source`, '/', 'stream/', 'openapi.json/x'])
      for (const method of ['GET', 'POST', 'DELETE']) {
        expectError(await server.send(`/api/events/${path}`, { method }), 404, 'NOT_FOUND')
      }
    expect(listOf(await server.send('/api/events/')).data).toHaveLength(1)
    expect((await server.send('/api/eventsx')).status).toBe(404)
  })

  it('returns one event, and 404 for another id', async () => {
    const event = await server.audit.recordCustom('own', { n: 1 }, { username: 'bob' })
    const response = await server.send(`/api/events/${event!.id}`)
    expect(response.status).toBe(200)
    expect(JSON.parse(response.body)).toEqual({
      jsonapi: { version: '1.1' },
      data: {
        type: 'event',
        id: event!.id,
        attributes: {
          type: 'own',
          username: 'bob',
          system: false,
          created_at: event!.created_at,
          n: 1,
        },
        links: { self: `/api/events/${event!.id}` },
      },
      links: { self: `/api/events/${event!.id}` },
    })
    for (const id of ['0196b3c2-0000-7000-8000-000000000000', 'x', '%00', `${event!.id}/x`]) {
      expectError(await server.send(`/api/events/${id}`), 404, 'NOT_FOUND')
    }
  })

  it('responds to HEAD like GET without a body, and to other methods with 405', async () => {
    const event = await server.audit.recordCustom('own', {})
    for (const path of ['', '/', `/${event!.id}`, '/openapi.json']) {
      const head = await server.send(`/api/events${path}`, { method: 'HEAD' })
      const get = await server.send(`/api/events${path}`)
      expect([head.status, head.body]).toEqual([200, ''])
      const { 'content-type': type, 'content-length': length, etag } = get.headers
      expect(head.headers).toMatchObject({ 'content-type': type, 'content-length': length, etag })
    }
    for (const method of ['PUT', 'PATCH', 'DELETE']) {
      const refused = await server.send('/api/events', { method })
      expectError(refused, 405, 'METHOD_NOT_ALLOWED')
      expect(refused.headers.allow).toBe('GET, HEAD, POST')
    }
  })
})

describe('a fieldset', () => {
  let server: TestServer
  let id: string

  beforeAll(async () => {
    server = await serve()
    const data = { project_path: '/projects/acme', '': 0, nested: { deep: true } }
    for (let n = 0; n < 3; n++) {
      const event = await server.audit.recordCustom('own', { ...data, n }, { username: 'ann' })
      id = event!.id
    }
  })
  afterAll(() => server.close())

  const source = { source: { links: { source: '/api/projects/acme' } } }

  it.each([
    ['fields[event]=type,n', { type: 'own', n: 2 }, undefined],
    ['fields[event]=n,source', { n: 2 }, source],
    ['fields[event]=source', {}, source],
    ['fields[event]=', {}, undefined],
    ['fields[event]', {}, undefined],
    ['fields[event]=,n,,', { n: 2 }, undefined],
    ['fields[event][]=n&fields[event][]=username', { username: 'ann', n: 2 }, undefined],
    ['fields[event]=none', {}, undefined],
    ['fields[event]=nested', { nested: { deep: true } }, undefined],
    ['fields%5Bevent%5D=n%2Cusername', { username: 'ann', n: 2 }, undefined],
    ['fields[event]=n&fields[event]=username', { username: 'ann', n: 2 }, undefined],
  ])(
    '%s gives these fields alone, in lists and of one event',
    async (query, attributes, related) => {
      const list = await server.send(`/api/events?limit=1&${query}`)
      const { data } = listOf(list)
      expect(data).toEqual([
        {
          type: 'event',
          id,
          attributes,
          ...(related && { relationships: related }),
          links: { self: `/api/events/${id}` },
        },
      ])
      const one = await server.send(`/api/events/${id}?${query}`)
      expect((JSON.parse(one.body) as { data: unknown }).data).toEqual(data[0])
    },
  )

  it('is kept in links', async () => {
    const self = '/api/events?fields%5Bevent%5D=n&limit=1'
    const { links } = listOf(await server.send(self))
    expect(links.self).toBe(self)
    expect(links.prev).toContain('fields[event]=n')
    const before = listOf(await server.send(links.prev!))
    expect(before.data[0]!.attributes).toEqual({ n: 1 })
    const none = listOf(await server.send('/api/events?fields[event]=&limit=1'))
    expect(listOf(await server.send(none.links.prev!)).data[0]!.attributes).toEqual({})
  })
})
