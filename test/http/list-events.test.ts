import { sqliteStore } from 'daybook/sqlite'
import { memoryStore } from 'daybook/memory'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { errorOf, JSON_API, listOf, serve, type TestServer } from '../support/http.js'
import { tempDir } from '../support/temp.js'

const stores = {
  memory: () => ({ store: memoryStore(), remove() {} }),
  sqlite: () => {
    const temp = tempDir()
    return { store: sqliteStore({ filename: temp.file('audit.db') }), remove: temp.remove }
  },
}

describe.each(Object.entries(stores))('GET /api/events on the %s store', (_name, create) => {
  let server: TestServer
  let remove: () => void

  beforeEach(async () => {
    const made = create()
    remove = made.remove
    server = await serve({ store: made.store })
  })
  afterEach(async () => {
    await server.close()
    remove()
  })

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

  it('gives the newest 10, oldest first, as 206 when more match', async () => {
    await recordNumbers(12)
    const response = await server.send('/api/events')
    expect(response.status).toBe(206)
    expect(listOf(response).data.map((event) => event.attributes['n'])).toEqual([
      2, 3, 4, 5, 6, 7, 8, 9, 10, 11,
    ])
  })

  it('accepts limits from 1 to 1000, and treats more as 1000', async () => {
    await recordNumbers(1002)
    expect(await names('limit=1')).toEqual([1001])
    expect(await names('limit=1000')).toHaveLength(1000)
    expect(await names('limit=5000')).toHaveLength(1000)
    expect((await server.send('/api/events?limit=1000')).status).toBe(206)
  })

  it.each(['0', '-1', '1.5', 'ten', '', '1e2', '%20'])(
    'refuses limit=%s with 400',
    async (limit) => {
      const response = await server.send(`/api/events?limit=${limit}`)
      expect(response.status).toBe(400)
      expect(errorOf(response)).toMatchObject({
        status: '400',
        code: 'INVALID_VALUE',
        source: { parameter: 'limit' },
      })
    },
  )

  it('pages back to the oldest by created_at_lt and by links.prev', async () => {
    await recordNumbers(25)
    const byHand: unknown[] = []
    let query = 'limit=7'
    for (;;) {
      const { data } = listOf(await server.send(`/api/events?${query}`))
      if (data.length === 0) break
      byHand.unshift(...data.map((event) => event.attributes['n']))
      query = `limit=7&filter[created_at_lt]=${String(data[0]!.attributes['created_at'])}`
    }
    const byLinks: unknown[] = []
    let link: string | undefined = '/api/events?limit=7&filter[m]=or&filter[n_gt]=3&filter[n_eq]=0'
    while (link !== undefined) {
      const page = listOf(await server.send(link))
      byLinks.unshift(...page.data.map((event) => event.attributes['n']))
      link = page.links.prev
    }
    const all = Array.from({ length: 25 }, (_, n) => n)
    expect(byHand).toEqual(all)
    expect(byLinks).toEqual(all.filter((n) => n === 0 || n > 3))
  })

  it.each([
    '',
    'filter[m]=or&filter[n_gteq]=0&filter[n_null]=1',
    'filter[created_at_lt]=2999-01-01',
  ])('leads back over any number of pages by links of one length: %s', async (filter) => {
    await recordNumbers(40)
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
    expect(seen).toEqual(Array.from({ length: 40 }, (_, n) => n))
    expect(new Set(links.map((text) => text.length)).size).toBe(1)
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

  it.each([
    ['filter[type_equals]=x', 'UNKNOWN_PREDICATE', 'filter[type_equals]'],
    ['filter[created_at_lt]=yesterday', 'INVALID_VALUE', 'filter[created_at_lt]'],
    ['filter[created_at_lt]=', 'INVALID_VALUE', 'filter[created_at_lt]'],
    ['filter[system_eq]=maybe', 'INVALID_VALUE', 'filter[system_eq]'],
    ['filter[m]=xor', 'INVALID_VALUE', 'filter[m]'],
    ['filter[sorts]=type,name', 'MALFORMED_PARAMETER', 'filter[sorts]'],
    ['filter[sorts]=type%20up', 'INVALID_VALUE', 'filter[sorts]'],
    ['filter[type_eq=x', 'MALFORMED_PARAMETER', 'filter[type_eq'],
    ['filter[type_eq][]=x', 'INVALID_VALUE', 'filter[type_eq]'],
    ['filter=x', 'MALFORMED_PARAMETER', 'filter'],
    ['filter[name_cont]=50%', 'MALFORMED_PARAMETER', 'filter[name_cont]'],
    ['sort=-created_at', 'UNKNOWN_PARAMETER', 'sort'],
    ['page[size]=5', 'UNKNOWN_PARAMETER', 'page[size]'],
  ])('refuses %s with 400', async (query, code, parameter) => {
    const response = await server.send(`/api/events?${query}`)
    expect(response.status).toBe(400)
    expect(response.headers['content-type']).toBe(JSON_API)
    expect(errorOf(response)).toMatchObject({ status: '400', code, source: { parameter } })
    expect(errorOf(response).title).not.toBe('')
    expect(errorOf(response).detail).not.toBe('')
  })

  it.each([
    ['sort=-created_at', 'sort', 'did you mean filter[sorts]?'],
    ['page[size]=5', 'page[size]', 'did you mean limit and filter[created_at_lt]?'],
    ['include=source', 'include', 'events relate to other resources only by links'],
    ['limt=5', 'limt', 'did you mean limit?'],
  ])('suggests an alternative to %s', async (query, parameter, hint) => {
    const response = await server.send(`/api/events?${query}`)
    expect(response.status).toBe(400)
    expect(errorOf(response)).toMatchObject({
      code: 'UNKNOWN_PARAMETER',
      detail: `${parameter} is not supported here; the parameters are filter, q, limit and fields[event]; ${hint}`,
      source: { parameter },
    })
  })

  it('refuses parameters other than fields for one event', async () => {
    const event = await server.audit.recordCustom('own', {})
    for (const name of ['include', 'filter[type_eq]', 'limit']) {
      const response = await server.send(`/api/events/${event!.id}?${name}=x`)
      expect(response.status).toBe(400)
      expect(errorOf(response)).toMatchObject({
        detail: `${name}: only fields[event] is allowed here`,
        source: { parameter: name },
      })
    }
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
        const response = await server.send(`/api/events/${path}`, { method })
        expect([response.status, errorOf(response).code], path).toEqual([404, 'NOT_FOUND'])
      }
    expect(listOf(await server.send('/api/events/')).data).toHaveLength(1)
    expect((await server.send('/api/eventsx')).status).toBe(404)
  })

  it('suggests the nearest predicate', async () => {
    const response = await server.send('/api/events?filter[type_equals]=x')
    expect(errorOf(response).detail).toContain('type_eq?')
  })

  it('gives one event, and 404 for another id', async () => {
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
      const missing = await server.send(`/api/events/${id}`)
      expect(missing.status).toBe(404)
      expect(errorOf(missing).code).toBe('NOT_FOUND')
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
      expect(refused.status).toBe(405)
      expect(refused.headers.allow).toBe('GET, HEAD, POST')
    }
    for (const path of ['x', 'stream', 'openapi.json']) {
      const post = await server.send(`/api/events/${path}`, { method: 'POST' })
      expect([post.status, post.headers.allow]).toEqual([405, 'GET, HEAD'])
    }
  })

  it('does not record requests to the feed', async () => {
    await server.send('/api/events')
    await server.send('/api/events?limit=x')
    await server.send('/api/events/none')
    await server.send('/api/events', { method: 'DELETE' })
    expect((await server.audit.list()).events).toEqual([])
  })
})
