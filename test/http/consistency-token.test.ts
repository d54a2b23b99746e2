import { afterEach, beforeEach, expect, it } from 'vitest'
import { errorOf, newEvent, type RawResponse, serve, type TestServer } from '../support/http.js'

let server: TestServer

beforeEach(async () => {
  server = await serve()
})
afterEach(() => server.close())

const create = (): Promise<RawResponse> =>
  server.send('/api/events', { ...newEvent({ type: 'x' }), user: 'ann' })

const read = (path: string, token: string): Promise<RawResponse> =>
  server.send(path, { user: 'ann', headers: { 'consistency-token': token } })

const PATHS = [
  '',
  '/counts',
  '/groups?by[]=type',
  '/history?resource[n]=1',
  '/export?format=csv',
  '/report',
]

it('a created event has a token that every read takes', async () => {
  const { headers } = await create()
  const [event] = (await server.audit.list()).events
  const token = headers['consistency-token'] as string
  expect(token).toBe(event!.created_at)
  for (const path of [...PATHS, `/${event!.id}`])
    expect((await read(`/api/events${path}`, token)).status, path).toBe(200)
  const log = await server.audit.consistencyToken()
  expect((await read('/api/events', log)).status).toBe(200)
})

it('a token that the log has not reached is refused', async () => {
  await create()
  const [event] = (await server.audit.list()).events
  for (const path of [...PATHS, `/${event!.id}`, '/stream']) {
    const response = await read(`/api/events${path}`, '2999-01-01T00:00:00.000000Z')
    expect(response.status, path).toBe(412)
    expect(errorOf(response), path).toMatchObject({
      code: 'NOT_REACHED',
      source: { header: 'consistency-token' },
    })
  }
})

it.each(['x', '1', 'yesterday', '2026-11-28T03:31:00Z_1'])('%j is refused', async (token) => {
  for (const path of ['', '/counts', '/stream']) {
    const response = await read(`/api/events${path}`, token)
    expect(response.status).toBe(400)
    expect(errorOf(response)).toMatchObject({
      code: 'INVALID_HEADER',
      detail: expect.stringContaining(JSON.stringify(token)),
      source: { header: 'consistency-token' },
    })
  }
})
