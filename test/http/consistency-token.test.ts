import { AuditLogError } from 'daybook'
import { memoryStore } from 'daybook/memory'
import { faultyStore } from 'daybook/testing'
import { afterEach, beforeEach, expect, it, onTestFinished } from 'vitest'
import { expectError } from '../support/expect-error.js'
import { newEvent, type RawResponse, send, serve, type TestServer } from '../support/http.js'
import { openStream } from '../support/server-sent.js'
import { serve as serveLogs } from './served-logs.js'

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
    expectError(response, 412, 'NOT_REACHED', { header: 'consistency-token' })
  }
})

it.each(['x', '1', 'yesterday', '2026-11-28T03:31:00Z_1'])('%j is refused', async (token) => {
  for (const path of ['', '/counts', '/stream']) {
    const response = await read(`/api/events${path}`, token)
    const source = { header: 'consistency-token' }
    const { detail } = expectError(response, 400, 'INVALID_HEADER', source)
    expect(detail).toContain(JSON.stringify(token))
  }
})

/** Buckets of seconds that have passed since the events. */
const EMPTY_BUCKET = /,\{"from":"[^"]+","to":"[^"]+","total":0,"levels":\{\}\}/g

/**
 * The parts of a response that equal answers share, without parts that depend on the time of the request. The ETag is
 * the hash of the text.
 */
const shown = ({ status, headers, body }: RawResponse): object => {
  const {
    date: _,
    'content-length': _length,
    'content-disposition': _name,
    etag: _hash,
    ...others
  } = headers
  const text = body.replace(/"took_ms":[\d.]+/, '').replaceAll(EMPTY_BUCKET, '')
  return { status, headers: others, text }
}

/** Tokens from before bob's newest visible event, between this and the newest event, and after the newest event. */
const probes = (visible: string, hidden: string): readonly string[] => [
  '1971-01-01T00:00:00.000000Z',
  visible,
  hidden.replace(/\d{3}Z$/, '000Z'),
  hidden,
  '2999-01-01T00:00:00.000000Z',
  '2999-01-01T00:00:00.000000Z_7_FFFFFFFF/FFFFFFFF',
]

it('a restricted reader gets the same answer for every token, in one log and in each of many', async () => {
  const visible = { username_eq: 'bob' }
  const one = await serve({ feed: { visible: () => visible } })
  onTestFinished(one.close)
  const many = await serveLogs({ visible: () => visible })
  const logs = [
    { audit: one.audit, url: one.url, events: '/api/events' },
    { audit: many.logs.log('acme'), url: many.url, events: '/api/logs/acme/events' },
  ]
  for (const { audit, url, events } of logs) {
    const own = (await audit.recordCustom('own', { n: 1 }, { username: 'bob' }))!
    const hidden = (await audit.recordCustom('hidden', {}, { username: 'eve' }))!
    for (const path of [...PATHS, `/${own.id}`, `/${hidden.id}`]) {
      const answers = []
      for (const token of probes(own.created_at, hidden.created_at)) {
        const headers = { 'consistency-token': token }
        answers.push(shown(await send(url, events + path, { user: 'bob', headers })))
      }
      expect(answers[0], path).toMatchObject({ status: path.includes(hidden.id) ? 404 : 200 })
      for (const answer of answers) expect(answer, path).toEqual(answers[0])
    }
    const wrong = { user: 'bob', headers: { 'consistency-token': 'newest' } }
    expect((await send(url, events, wrong)).status).toBe(400)
  }
})

it('a stream of a restricted reader begins at the present, also with a token from the future', async () => {
  const visible = { username_eq: 'ann' }
  const restricted = await serve({ feed: { visible: () => visible } })
  const { audit, url } = restricted
  onTestFinished(restricted.close)
  for (const query of ['', '?changes=1']) {
    const headers = { 'consistency-token': '2999-01-01T00:00:00.000000Z' }
    const stream = await openStream(`${url}/api/events/stream${query}`, headers)
    await audit.recordCustom('hidden', {}, { username: 'eve' })
    const own = await audit.recordCustom('own', {}, { username: 'ann' })
    const [sent] = await stream.take(1)
    expect(sent!.lastEventId).toBe(own!.created_at)
    stream.leave()
  }
})

it('a damaged event does not exist for a restricted reader', async () => {
  const store = faultyStore(memoryStore())
  const restricted = (visible: 'all' | { username_eq: string }) =>
    serve({ store, record: false, feed: { visible: () => visible } })
  const servers = [await restricted({ username_eq: 'ann' }), await restricted('all')]
  for (const { close } of servers) onTestFinished(close)
  store.fail('get', undefined, new AuditLogError('DAMAGED', 'damaged'))
  const answers = []
  for (const { url } of servers)
    answers.push((await send(url, '/api/events/019f0000-0000-7000-8000-000000000000')).status)
  expect(answers).toEqual([404, 500])
})
