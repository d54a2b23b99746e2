import { createRequire } from 'node:module'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { serve, type TestServer } from '../../support/http.js'
import { watchRequests } from './requests.js'

/* devour-client as it comes from npm, against a server with HTTP Basic authentication. */

/** An event as returned by devour: attributes of the model; they overwrite the resource type. */
interface DevourEvent {
  readonly id: string
  readonly type: string
  readonly created_at: string
  readonly n: number
}

interface Answer<Data> {
  readonly data: Data
  readonly links: { readonly self: string; readonly prev?: string }
}

/** The part of the package that is used here; it has no types. */
interface Devour {
  headers: Readonly<Record<string, string>>
  define(model: string, attributes: object, options?: object): void
  findAll(model: string, params?: object): Promise<Answer<readonly DevourEvent[]>>
  find(model: string, id: string): Promise<Answer<DevourEvent>>
  request(url: string): Promise<Answer<readonly DevourEvent[]>>
  create(model: string, attributes: object): Promise<{ readonly data: unknown }>
}

const JsonApi = createRequire(import.meta.url)('devour-client') as new (options: object) => Devour

const requests = watchRequests()
let server: TestServer

/** The model must name all attributes; `type` is the resource type for create. */
const client = (options: object = { type: 'Event' }): Devour => {
  const auth = { username: 'ann', password: 'ann' }
  const api = new JsonApi({ apiUrl: `${server.url}/api`, auth, logger: false })
  const attributes = { type: '', username: '', system: '', created_at: '', n: '', text: '' }
  api.define('event', attributes, options)
  return api
}
const numbers = ({ data }: Answer<readonly DevourEvent[]>): number[] => data.map(({ n }) => n)
const refusal = (request: Promise<unknown>): Promise<unknown> =>
  request.then(
    () => expect.unreachable('it was not refused'),
    (errors: unknown) => errors,
  )

beforeAll(async () => {
  server = await serve({ outside: [requests.middleware] })
  for (let n = 0; n < 12; n++) await server.audit.recordCustom(`n:${n % 3}`, { n, more: true })
})
afterAll(() => server.close())

describe('devour-client', () => {
  it('lists events', async () => {
    expect(numbers(await client().findAll('event'))).toEqual([2, 3, 4, 5, 6, 7, 8, 9, 10, 11])
  })

  it('shows the attributes that its model names, and the type of the event', async () => {
    const { data } = await client().findAll('event', { limit: 1 })
    expect(data).toEqual([
      {
        id: expect.any(String),
        type: 'n:2',
        username: null,
        system: false,
        created_at: expect.stringMatching(/\.\d{6}Z$/),
        n: 11,
        links: { self: `/api/events/${data[0]!.id}` },
      },
    ])
  })

  it('filters and sorts by lists', async () => {
    const filter = { type_in: ['n:1', 'n:2'], n_gt: 3, sorts: ['type desc', 'n'] }
    expect(numbers(await client().findAll('event', { filter }))).toEqual([5, 8, 11, 4, 7, 10])
  })

  it('pages back by created_at_lt', async () => {
    const seen: number[] = []
    let filter = {}
    for (;;) {
      const page = await client().findAll('event', { limit: 5, filter })
      if (page.data.length === 0) break
      seen.unshift(...numbers(page))
      filter = { created_at_lt: page.data[0]!.created_at }
    }
    expect(seen).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11])
  })

  it('pages back by links.prev, resolved against the address of the server', async () => {
    const api = client()
    let page = await api.findAll('event', { limit: 5 })
    const seen = numbers(page)
    while (page.links.prev !== undefined) {
      page = await api.request(new URL(page.links.prev, server.url).href)
      seen.unshift(...numbers(page))
    }
    expect(seen).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11])
  })

  it('waits for an event', async () => {
    const api = client()
    const [newest] = (await api.findAll('event', { limit: 1 })).data
    api.headers = { Prefer: 'wait=30' }
    const arrived = requests.next('type_eq')
    const filter = { type_eq: 'awaited', created_at_gt: newest!.created_at }
    const waiting = api.findAll('event', { filter })
    await arrived
    await server.audit.recordCustom('awaited', { n: 100 })
    expect(numbers(await waiting)).toEqual([100])
  })

  it('reads one event', async () => {
    const api = client()
    const [newest] = (await api.findAll('event', { limit: 1 })).data
    expect((await api.find('event', newest!.id)).data).toEqual(newest)
  })

  it("gets an error for JSON:API's sort", async () => {
    expect(await refusal(client().findAll('event', { sort: '-n' }))).toEqual({
      0: {
        title: 'there is no such query parameter',
        detail: expect.stringContaining('filter[sorts]'),
      },
    })
  })

  it('sends the plural of its model as resource type on create, which is refused', async () => {
    expect(await refusal(client({}).create('event', { type: 'note' }))).toEqual({
      type: {
        title: 'the collection does not hold this resource type',
        detail: expect.stringContaining('/data/type must be Event; it is "events"'),
      },
    })
  })

  it('creates with the resource type Event in the options of its model', async () => {
    const api = client()
    expect(await api.create('event', { type: 'note', text: 'by devour' })).toMatchObject({
      data: null,
    })
    const { data } = await api.findAll('event', { filter: { text_eq: 'by devour' } })
    expect(data).toMatchObject([{ type: 'note', username: 'ann', system: false }])
  })
})
