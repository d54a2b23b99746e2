import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { JSON_API, type ListDocument, serve, type TestServer } from '../../support/http.js'
import { watchRequests } from './requests.js'

/* The fetch of Node itself. It encodes no brackets of a URL, and all of those of URLSearchParams. */

const requests = watchRequests()
let server: TestServer

const headers = { authorization: `Basic ${btoa('ann:ann')}` }
const get = (path: string, init: RequestInit = {}): Promise<Response> =>
  fetch(server.url + path, { ...init, headers: { ...headers, ...init.headers } })
const documentOf = async (response: Response): Promise<ListDocument> =>
  (await response.json()) as ListDocument
const numbers = ({ data }: ListDocument): unknown[] => data.map(({ attributes }) => attributes['n'])

beforeAll(async () => {
  server = await serve({ outside: [requests.middleware] })
  for (let n = 0; n < 12; n++) await server.audit.recordCustom(`n:${n % 3}`, { n })
})
afterAll(() => server.close())

describe("Node's fetch", () => {
  it('lists events', async () => {
    const response = await get('/api/events')
    expect(response.status).toBe(206)
    expect(numbers(await documentOf(response))).toEqual([2, 3, 4, 5, 6, 7, 8, 9, 10, 11])
  })

  it('filters and sorts by URLSearchParams', async () => {
    const query = new URLSearchParams([
      ['filter[type_in][]', 'n:1'],
      ['filter[type_in][]', 'n:2'],
      ['filter[sorts]', 'n desc'],
      ['limit', '3'],
    ])
    expect(numbers(await documentOf(await get(`/api/events?${query.toString()}`)))).toEqual([
      11, 10, 8,
    ])
  })

  it('pages back by links.prev', async () => {
    const seen: unknown[] = []
    let path: string | undefined = '/api/events?limit=5'
    while (path !== undefined) {
      const page: ListDocument = await documentOf(await get(path))
      seen.unshift(...numbers(page))
      path = page.links.prev
    }
    expect(seen).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11])
  })

  it('creates an event, and reads it where Location says', async () => {
    const body = JSON.stringify({ data: { type: 'Event', attributes: { type: 'note', n: -1 } } })
    const created = await get('/api/events', {
      method: 'POST',
      headers: { 'content-type': JSON_API },
      body,
    })
    expect([created.status, await created.text()]).toEqual([201, ''])
    const read = await get(created.headers.get('location')!)
    expect(await read.json()).toMatchObject({ data: { attributes: { type: 'note', n: -1 } } })
  })

  it('waits for an event', async () => {
    const [newest] = (await documentOf(await get('/api/events?limit=1'))).data
    const query = `filter[created_at_gt]=${String(newest!.attributes['created_at'])}&filter[type_eq]=awaited`
    const arrived = requests.next('awaited')
    const waiting = get(`/api/events?${query}`, { headers: { prefer: 'wait=30' } })
    await arrived
    await server.audit.recordCustom('awaited', { n: 100 })
    expect(numbers(await documentOf(await waiting))).toEqual([100])
  })

  it('cancels a wait', async () => {
    const controller = new AbortController()
    const arrived = requests.next('never')
    const { signal } = controller
    const waiting = get('/api/events?filter[type_eq]=never', {
      headers: { prefer: 'wait=30' },
      signal,
    })
    await arrived
    controller.abort()
    await expect(waiting).rejects.toThrow(/abort/)
    expect((await get('/api/events')).status).toBe(206)
  })
})
