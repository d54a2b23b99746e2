import { createRequire } from 'node:module'
import Kitsu from 'kitsu'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { serve, type TestServer } from '../../support/http.js'
import { watchRequests } from './requests.js'

/* Clients of JSON:API from npm, against a server with HTTP Basic authentication. */

/**
 * An event as these clients return it, with the attributes next to the id. The attribute `type` overwrites the type
 * of the resource.
 */
interface ClientEvent {
  readonly id: string
  readonly type: string
  readonly created_at: string
  readonly n: number
}

interface Answer<Data> {
  readonly data: Data
  readonly links: { readonly self: string; readonly prev?: string }
  readonly status?: number
  readonly headers?: Readonly<Record<string, string>>
}

type List = Answer<readonly ClientEvent[]>

interface Client {
  list(params: object, headers?: Readonly<Record<string, string>>): Promise<List>
  follow(url: string): Promise<List>
  find(id: string): Promise<Answer<ClientEvent>>
  /** Creates an event of the type `note`, in the way that works. */
  create(text: string): Promise<unknown>
}

/** The part of devour-client that is used here; it has no types. */
interface Devour {
  headers: Readonly<Record<string, string>>
  define(model: string, attributes: object, options?: object): void
  findAll(model: string, params?: object): Promise<List>
  find(model: string, id: string): Promise<Answer<ClientEvent>>
  request(url: string): Promise<List>
  create(model: string, attributes: object): Promise<{ readonly data: unknown }>
}

const JsonApi = createRequire(import.meta.url)('devour-client') as new (options: object) => Devour

const requests = watchRequests()
let server: TestServer
const auth = { username: 'ann', password: 'ann' }

/** The model must name all attributes; `type` is the resource type for create. */
function devour(options: object = { type: 'Event' }): Devour {
  const api = new JsonApi({ apiUrl: `${server.url}/api`, auth, logger: false })
  const attributes = { type: '', username: '', system: '', created_at: '', n: '', text: '' }
  api.define('event', attributes, options)
  return api
}

const kitsu = (options: object = {}): Kitsu =>
  new Kitsu({ baseURL: `${server.url}/api`, axiosOptions: { auth }, ...options })

type KitsuRequest = Parameters<Kitsu['request']>[0]

const clientOfKitsu = (options?: object): Client => ({
  list: async (params, headers) =>
    (await kitsu(options).get('events', { params, ...(headers && { headers }) })) as List,
  follow: async (url) => (await kitsu().request({ url, method: 'GET' } as KitsuRequest)) as List,
  find: async (id) => (await kitsu().get(`events/${id}`)) as Answer<ClientEvent>,
  create(text) {
    const api = kitsu()
    const document = { data: { type: 'Event', attributes: { type: 'note', text } } }
    return api.axios.post('events', document, { headers: api.headers as {} })
  },
})

const clients: Readonly<Record<string, Client>> = {
  kitsu: clientOfKitsu(),
  'kitsu with modern queries': clientOfKitsu({ query: 'modern' }),
  'kitsu with traditional queries': clientOfKitsu({ query: 'traditional' }),
  'devour-client': {
    list(params, headers) {
      const api = devour()
      if (headers) api.headers = headers
      return api.findAll('event', params)
    },
    follow: (url) => devour().request(url),
    find: (id) => devour().find('event', id),
    create: (text) => devour().create('event', { type: 'note', text }),
  },
}

const ALL = Array.from({ length: 12 }, (_, n) => n)
const numbers = ({ data }: List): number[] => data.map(({ n }) => n)

beforeAll(async () => {
  server = await serve({ outside: [requests.middleware] })
  for (const n of ALL)
    await server.audit.recordCustom(`n:${n % 3}`, { n, project_path: '/projects/acme' })
})
afterAll(() => server.close())

describe.each(Object.entries(clients))('%s', (name, client) => {
  it('lists events', async () => {
    const response = await client.list({})
    expect(numbers(response)).toEqual(ALL.slice(2))
    if (name.startsWith('kitsu')) expect(response.status).toBe(206)
  })

  it('shows the type of the event in place of the type of the resource', async () => {
    const { data } = await client.list({ limit: 1 })
    expect(data).toEqual([
      {
        id: expect.any(String),
        type: 'n:2',
        username: null,
        system: false,
        created_at: expect.stringMatching(/\.\d{6}Z$/),
        n: 11,
        // devour shows the attributes that its model names.
        ...(name.startsWith('kitsu') && {
          project_path: '/projects/acme',
          source: { links: { source: '/api/projects/acme' } },
        }),
        links: { self: `/api/events/${data[0]!.id}` },
      },
    ])
  })

  it('filters and sorts by lists', async () => {
    const filter = { type_in: ['n:1', 'n:2'], n_gt: 3, sorts: ['type desc', 'n'] }
    expect(numbers(await client.list({ filter }))).toEqual([5, 8, 11, 4, 7, 10])
  })

  it('pages back by created_at_lt', async () => {
    const seen: number[] = []
    let page = await client.list({ limit: 5 })
    while (page.data.length > 0) {
      seen.unshift(...numbers(page))
      const filter = { created_at_lt: page.data[0]!.created_at }
      page = await client.list({ limit: 5, filter })
    }
    expect(seen).toEqual(ALL)
  })

  it('pages back by links.prev, resolved against the address of the server', async () => {
    let page = await client.list({ limit: 5 })
    const seen = numbers(page)
    while (page.links.prev !== undefined) {
      page = await client.follow(new URL(page.links.prev, server.url).href)
      seen.unshift(...numbers(page))
    }
    expect(seen).toEqual(ALL)
  })

  it('reads one event', async () => {
    const [newest] = (await client.list({ limit: 1 })).data
    expect((await client.find(newest!.id)).data).toEqual(newest)
  })
})

describe.each(Object.entries(clients))('%s, with new events', (name, client) => {
  it('waits for an event', async () => {
    const [newest] = (await client.list({ limit: 1 })).data
    const arrived = requests.next('type_eq')
    const filter = { type_eq: 'awaited', created_at_gt: newest!.created_at }
    const waiting = client.list({ filter }, { Prefer: 'wait=30' })
    await arrived
    await server.audit.recordCustom('awaited', { n: 100 })
    const response = await waiting
    expect(numbers(response)).toEqual([100])
    if (name.startsWith('kitsu')) expect(response.headers!['preference-applied']).toBe('wait=30')
  })

  it('creates an event', async () => {
    await client.create(`by ${name}`)
    const { data } = await client.list({ filter: { text_eq: `by ${name}` } })
    expect(data).toMatchObject([{ type: 'note', username: 'ann', system: false }])
  })
})

const refusal = (request: Promise<unknown>): Promise<unknown> =>
  request.then(
    () => expect.unreachable('it was not refused'),
    (error: unknown) => error,
  )

describe('kitsu', () => {
  it('selects attributes with fields', async () => {
    const { data } = await clients['kitsu']!.list({ filter: { n_eq: 11 }, fields: { event: 'n' } })
    expect(data).toEqual([{ id: data[0]!.id, type: 'event', n: 11, links: expect.anything() }])
  })

  it.each([
    [
      "JSON:API's sort",
      () => kitsu().get('events', { params: { sort: '-n' } }),
      [400, 'UNKNOWN_PARAMETER', { parameter: 'sort' }],
    ],
    [
      'its plural as resource type on create',
      () => kitsu().create('events', { type: 'note' }),
      [409, 'WRONG_RESOURCE_TYPE', { pointer: '/data/type' }],
    ],
    [
      'an attribute named type, which it leaves out',
      () => {
        const body = { type: 'note', text: 'x' }
        const request = { method: 'POST', url: 'events', type: 'Event', body }
        const api = kitsu({ pluralize: false, camelCaseTypes: false })
        return api.request(request)
      },
      [422, 'INVALID_EVENT', { pointer: '/data/attributes/type' }],
    ],
  ] as const)('gets an error for %s', async (_name, request, [status, code, source]) => {
    expect(await refusal(request())).toMatchObject({
      response: { status },
      errors: [{ code, source }],
    })
  })
})

describe('devour-client', () => {
  it("gets an error for JSON:API's sort", async () => {
    expect(await refusal(devour().findAll('event', { sort: '-n' }))).toEqual({
      0: {
        title: 'there is no such query parameter',
        detail: expect.stringContaining('filter[sorts]'),
      },
    })
  })

  it('sends the plural of its model as resource type on create, which is refused', async () => {
    expect(await refusal(devour({}).create('event', { type: 'note' }))).toEqual({
      type: {
        title: 'the collection does not hold this resource type',
        detail: expect.stringContaining('/data/type must be Event; it is "events"'),
      },
    })
  })
})
