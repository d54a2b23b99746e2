import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openPage } from '../../support/browser.js'
import { JSON_API, type ListDocument, serve, type TestServer } from '../../support/http.js'
import { watchRequests } from './requests.js'

/* The fetch and the EventSource of a real browser, on a page of the same origin. Its fetch encodes no brackets of a URL. */

const requests = watchRequests()
let server: TestServer

/** The statuses that the endpoints have sent. A browser also requests an icon. */
const statuses: number[] = []

/** The part of a response that a function in the page returns. */
interface Fetched {
  readonly status: number
  readonly type: string | null
  readonly location: string | null
  readonly text: string
}

const open = (tolerates?: RegExp) =>
  openPage(`${server.url}/page`, { user: 'ann', ...(tolerates && { tolerates }) })

type Page = Awaited<ReturnType<typeof open>>

const fetchIn = (page: Page, path: string, init: object = {}): Promise<Fetched> =>
  page.evaluate(
    async ([path, init]) => {
      const response = await fetch(path, init)
      const text = await response.text()
      const { status, headers } = response
      return { status, type: headers.get('content-type'), location: headers.get('location'), text }
    },
    [path, init] as const,
  )
const documentOf = ({ text }: Fetched): ListDocument => JSON.parse(text) as ListDocument
const numbers = (fetched: Fetched): unknown[] =>
  documentOf(fetched).data.map(({ attributes }) => attributes['n'])

beforeAll(async () => {
  server = await serve({
    outside: [
      requests.middleware,
      async (ctx, next) => {
        await next()
        if (ctx.path.startsWith('/api/')) statuses.push(ctx.status)
      },
    ],
    inside: [
      async (ctx, next) => {
        if (ctx.path !== '/page') return next()
        ctx.type = 'html'
        ctx.body = '<!doctype html><html lang="en"><title>Page</title><h1>Events</h1></html>'
        return undefined
      },
    ],
  })
  for (let n = 0; n < 12; n++) await server.audit.recordCustom(`n:${n % 3}`, { n })
})
afterAll(() => server.close())

describe('a browser', () => {
  it('shows text, in English', async () => {
    const page = await open()
    expect(await page.locator('h1').innerText()).toBe('Events')
    expect(await page.evaluate('navigator.language')).toBe('en-US')
  })

  it('answers the challenge of Basic authentication, also for later requests', async () => {
    const httpCredentials = { username: 'bob', password: 'bob' }
    const page = await openPage(`${server.url}/page`, { httpCredentials })
    const { text } = await fetchIn(page, '/api/events/me')
    expect(text).toContain('bob')
  })

  it('lists events, filters and sorts them, and pages back', async () => {
    const page = await open()
    // The first request of a browser has no credentials, and is recorded as refused.
    const response = await fetchIn(page, '/api/events?filter[n_present]=1')
    expect([response.status, response.type]).toEqual([206, JSON_API])
    expect(numbers(response)).toEqual([2, 3, 4, 5, 6, 7, 8, 9, 10, 11])
    const query = 'filter[type_in][]=n:1&filter[type_in][]=n:2&filter[sorts]=n desc&limit=3'
    // URLSearchParams encodes all brackets.
    for (const text of [query, new URLSearchParams(query).toString()])
      expect(numbers(await fetchIn(page, `/api/events?${text}`))).toEqual([11, 10, 8])
    const seen: unknown[] = []
    let path: string | undefined = '/api/events?limit=5&filter[n_present]=1'
    while (path !== undefined) {
      const response: Fetched = await fetchIn(page, path)
      seen.unshift(...numbers(response))
      path = documentOf(response).links.prev
    }
    expect(seen).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11])
  })

  it('creates an event, and reads it from its Location', async () => {
    const page = await open()
    const body = JSON.stringify({ data: { type: 'Event', attributes: { type: 'note', n: -1 } } })
    const headers = { 'content-type': JSON_API }
    const created = await fetchIn(page, '/api/events', { method: 'POST', headers, body })
    expect([created.status, created.text]).toEqual([201, ''])
    const [event] = documentOf(await fetchIn(page, '/api/events?filter[type_eq]=note')).data
    expect(event!.attributes).toMatchObject({ username: 'ann', n: -1 })
    const read = await fetchIn(page, created.location!)
    expect(JSON.parse(read.text)).toMatchObject({ data: event })
  })

  it('revalidates its cached copy and receives no body twice', async () => {
    const page = await open()
    const path = '/api/events?filter[type_eq]=n:1'
    const first = await fetchIn(page, path)
    expect(numbers(first)).toEqual([1, 4, 7, 10])
    statuses.length = 0
    expect(await fetchIn(page, path)).toEqual(first)
    expect(statuses).toEqual([304])
  })

  it('receives events by EventSource, and resumes without a gap after a disconnect', async () => {
    // The disconnect is reported on the console.
    const page = await open(/ERR_.*\/api\/events\/stream/)
    const received: string[] = []
    const opened: (() => void)[] = []
    const isOpen = new Promise<void>((resolve) => opened.push(resolve))
    await page.exposeFunction('opened', () => opened.shift()?.())
    await page.exposeFunction('received', (id: string, data: string) => {
      const { data: event } = JSON.parse(data) as { data: ListDocument['data'][number] }
      expect(event.attributes['created_at']).toBe(id)
      received.push(String(event.attributes['text']))
    })
    await page.evaluate(`
      globalThis.source = new EventSource('/api/events/stream?filter[type_eq]=streamed')
      source.onopen = () => opened()
      source.onmessage = ({ lastEventId, data }) => received(lastEventId, data)
    `)
    await isOpen
    await server.audit.recordCustom('streamed', { text: 'one' })
    await expect.poll(() => received).toEqual(['one'])
    const comesBack = requests.next('/api/events/stream')
    requests.cut()
    for (const text of ['two', 'three']) await server.audit.recordCustom('streamed', { text })
    await comesBack
    await server.audit.recordCustom('streamed', { text: 'four' })
    await expect.poll(() => received).toEqual(['one', 'two', 'three', 'four'])
    await page.evaluate('source.close()')
  })
})
