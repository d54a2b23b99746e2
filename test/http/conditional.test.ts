import { listRoute } from 'daybook/koa'
import { beforeEach, expect, it, onTestFinished } from 'vitest'
import { JSON_API, newEvent, type RawResponse, serve, type TestServer } from '../support/http.js'

let server: TestServer

beforeEach(async () => {
  server = await serve({
    routes: (router) =>
      router.get('/api/projects', listRoute({ resource: 'project', attributes: {}, source: [] })),
  })
  onTestFinished(() => server.close())
})

const get = (path: string, known?: string): Promise<RawResponse> =>
  server.send(path, known === undefined ? {} : { headers: { 'if-none-match': known } })

const tagOf = (response: RawResponse): string => {
  expect(response.headers.etag).toMatch(/^W\/"[\w-]{27}"$/)
  return response.headers.etag!
}

it('responds 304 without a body if the client has the document', async () => {
  const event = await server.audit.recordCustom('own', { n: 1 })
  await server.audit.recordCustom('own', { n: 2 })
  for (const [path, status] of [
    ['/api/events', 200],
    ['/api/events?limit=1', 206],
    [`/api/events/${event!.id}`, 200],
    ['/api/projects', 200],
  ] as const) {
    const whole = await get(path)
    expect(whole.status).toBe(status)
    const response = await get(path, tagOf(whole))
    expect([response.status, response.body]).toEqual([304, ''])
    const { etag, vary, 'cache-control': cacheControl } = whole.headers
    expect(response.headers).toMatchObject({ etag, vary, 'cache-control': cacheControl })
    expect([vary, cacheControl]).toEqual([
      expect.stringContaining('Accept, Accept-Encoding'),
      'private, no-cache',
    ])
    expect(response.headers['content-type']).toBeUndefined()
    const head = await server.send(path, { method: 'HEAD', headers: { 'if-none-match': etag } })
    expect(head.status).toBe(304)
  }
})

it('sends a list again if it is incomplete now, although its events are the same', async () => {
  const path = '/api/events?filter[sorts]=n&limit=2'
  for (const n of [1, 2]) await server.audit.recordCustom('own', { n })
  const whole = await get(path)
  expect((await get(path, tagOf(whole))).status).toBe(304)
  await server.audit.recordCustom('own', { n: 3 })
  const part = await get(path, tagOf(whole))
  expect([part.status, part.body]).toEqual([206, whole.body])
  expect((await get(path, tagOf(part))).status).toBe(304)
})

it('compares weakly, with every tag of the list', async () => {
  const tag = tagOf(await get('/api/events'))
  for (const known of [
    tag.slice(2),
    `"a", ${tag}`,
    `"a,b" , W/"c",${tag},"d"`,
    '*',
    ' * ',
    `W/"", ${tag}`,
  ])
    expect((await get('/api/events', known)).status, known).toBe(304)
  const opaque = tag.slice(3, -1)
  for (const known of [
    '"a"',
    opaque,
    `"${opaque}x"`,
    `"x${opaque}"`,
    '',
    'W/',
    `"${opaque}`,
    '"*"',
  ])
    expect((await get('/api/events', known)).status, known).toBe(200)
})

it('gives no tag to errors and 201 responses, and ignores If-None-Match there', async () => {
  for (const path of ['/api/events?limit=x', '/api/events/none', '/api/projects?limit=x']) {
    const failed = await get(path, '*')
    expect(failed.status).toBeGreaterThanOrEqual(400)
    expect(failed.headers.etag).toBeUndefined()
    expect(failed.headers['cache-control']).toBe('no-store')
  }
  const created = await server.send('/api/events', {
    ...newEvent({ type: 'own' }),
    headers: { 'content-type': JSON_API, 'if-none-match': '*' },
  })
  expect([created.status, created.headers.etag]).toEqual([201, undefined])
})
