import Kitsu from 'kitsu'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { serve, type TestServer } from '../../support/http.js'
import { watchRequests } from './requests.js'

/* kitsu as it comes from npm, against a server with HTTP Basic authentication. */

/** An event as returned by kitsu: attributes next to id; they overwrite the resource type. */
interface KitsuEvent {
  readonly id: string
  readonly type: string
  readonly created_at: string
  readonly n: number
}

interface Answer<Data> {
  readonly data: Data
  readonly links: { readonly self: string; readonly prev?: string }
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
}

interface Refusal {
  readonly response: { readonly status: number }
  readonly errors: readonly { readonly code: string; readonly source: object }[]
}

const requests = watchRequests()
let server: TestServer

const client = (options: object = {}): Kitsu =>
  new Kitsu({
    baseURL: `${server.url}/api`,
    axiosOptions: { auth: { username: 'ann', password: 'ann' } },
    ...options,
  })
const numbers = ({ data }: Answer<readonly KitsuEvent[]>): number[] => data.map(({ n }) => n)
const list = async (params: object, api = client()): Promise<Answer<readonly KitsuEvent[]>> =>
  (await api.get('events', { params })) as Answer<readonly KitsuEvent[]>
const refusal = (request: Promise<unknown>): Promise<Refusal> =>
  request.then(
    () => expect.unreachable('it was not refused'),
    (error: unknown) => error as Refusal,
  )

beforeAll(async () => {
  server = await serve({ outside: [requests.middleware] })
  for (let n = 0; n < 12; n++)
    await server.audit.recordCustom(`n:${n % 3}`, { n, project_path: '/projects/acme' })
})
afterAll(() => server.close())

describe('kitsu', () => {
  it('lists events', async () => {
    const response = await list({})
    expect(numbers(response)).toEqual([2, 3, 4, 5, 6, 7, 8, 9, 10, 11])
    expect(response.status).toBe(206)
  })

  it('shows the type of the event in place of that of the resource', async () => {
    const { data } = await list({ limit: 1 })
    expect(data).toEqual([
      {
        id: expect.any(String),
        type: 'n:2',
        username: null,
        system: false,
        created_at: expect.stringMatching(/\.\d{6}Z$/),
        n: 11,
        project_path: '/projects/acme',
        source: { links: { source: '/api/projects/acme' } },
        links: { self: `/api/events/${data[0]!.id}` },
      },
    ])
  })

  it.each(['traditional', 'modern'])('filters and sorts by lists in its %s way', async (query) => {
    const filter = { type_in: ['n:1', 'n:2'], n_gt: 3, sorts: ['type desc', 'n'] }
    expect(numbers(await list({ filter }, client({ query })))).toEqual([5, 8, 11, 4, 7, 10])
  })

  it('selects attributes with fields', async () => {
    const { data } = await list({ limit: 1, fields: { event: 'n' } })
    expect(data).toEqual([{ id: data[0]!.id, type: 'event', n: 11, links: expect.anything() }])
  })

  it('pages back by created_at_lt', async () => {
    const seen: number[] = []
    let filter = {}
    for (;;) {
      const page = await list({ limit: 5, filter })
      if (page.data.length === 0) break
      seen.unshift(...numbers(page))
      filter = { created_at_lt: page.data[0]!.created_at }
    }
    expect(seen).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11])
  })

  it('pages back by links.prev, resolved against the address of the server', async () => {
    const api = client()
    let page = await list({ limit: 5 })
    const seen = numbers(page)
    while (page.links.prev !== undefined) {
      const url = new URL(page.links.prev, server.url).href
      page = (await api.request({ url, method: 'GET' } as Parameters<
        Kitsu['request']
      >[0])) as typeof page
      seen.unshift(...numbers(page))
    }
    expect(seen).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11])
  })

  it('waits for an event', async () => {
    const [newest] = (await list({ limit: 1 })).data
    const arrived = requests.next('type_eq')
    const waiting = client().get('events', {
      headers: { Prefer: 'wait=30' },
      params: { filter: { type_eq: 'awaited', created_at_gt: newest!.created_at } },
    }) as Promise<Answer<readonly KitsuEvent[]>>
    await arrived
    await server.audit.recordCustom('awaited', { n: 100 })
    const response = await waiting
    expect(numbers(response)).toEqual([100])
    expect(response.headers['preference-applied']).toBe('wait=30')
  })

  it('reads one event', async () => {
    const [newest] = (await list({ limit: 1 })).data
    const { data } = (await client().get(`events/${newest!.id}`)) as Answer<KitsuEvent>
    expect(data).toEqual(newest)
  })

  it("gets an error for JSON:API's sort", async () => {
    const { response, errors } = await refusal(client().get('events', { params: { sort: '-n' } }))
    expect(response.status).toBe(400)
    expect(errors).toMatchObject([{ code: 'UNKNOWN_PARAMETER', source: { parameter: 'sort' } }])
  })

  it('sends its plural as resource type on create, which gets 409', async () => {
    const { response, errors } = await refusal(client().create('events', { type: 'note' }))
    expect(response.status).toBe(409)
    expect(errors).toMatchObject([
      { code: 'WRONG_RESOURCE_TYPE', source: { pointer: '/data/type' } },
    ])
  })

  it('leaves out an attribute named type, which gets 422', async () => {
    const api = client({ pluralize: false, camelCaseTypes: false })
    const request = {
      method: 'POST',
      url: 'events',
      type: 'Event',
      body: { type: 'note', text: 'x' },
    } as unknown as Parameters<Kitsu['request']>[0]
    const { response, errors } = await refusal(api.request(request))
    expect(response.status).toBe(422)
    expect(errors).toMatchObject([
      { code: 'INVALID_EVENT', source: { pointer: '/data/attributes/type' } },
    ])
  })

  it('creates with its axios instance', async () => {
    const api = client()
    const document = { data: { type: 'Event', attributes: { type: 'note', text: 'by axios' } } }
    const response = await api.axios.post('events', document, { headers: api.headers as {} })
    expect([response.status, response.data]).toEqual([201, ''])
    const { data } = await list({ filter: { text_eq: 'by axios' } })
    expect(data).toMatchObject([{ type: 'note', username: 'ann', system: false }])
  })
})
