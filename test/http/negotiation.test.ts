import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { checkAccept, checkMediaType } from '../../src/http/media.js'
import { expectError } from '../support/expect-error.js'
import { JSON_API, newEvent, type RawResponse, serve, type TestServer } from '../support/http.js'

let server: TestServer

beforeAll(async () => {
  server = await serve()
})
afterAll(() => server.close())

describe('Accept', () => {
  const get = (accept: string | undefined) =>
    server.send('/api/events', { headers: accept === undefined ? {} : { accept } })

  it.each([
    undefined,
    JSON_API,
    'APPLICATION/VND.API+JSON',
    'application/json',
    'application/json; charset=utf-8',
    'application/json, text/plain, */*',
    '*/*',
    '*/*;q=0.1',
    'application/*',
    'text/html, application/*; q=0.5',
    `text/html, ${JSON_API};q=.5`,
    `${JSON_API}; profile="https://example.org/one https://example.org/two"`,
    `${JSON_API}; profile="https://example.org/a,b;q=0"`,
    // A single instance without parameters is enough.
    `${JSON_API}; ext="https://example.org/atomic", ${JSON_API}`,
    `${JSON_API}; version=2, ${JSON_API}; profile=x`,
    'text/html, nonsense, */*',
  ])('%s is served JSON:API', async (accept) => {
    const response = await get(accept)
    expect([response.status, response.headers['content-type']]).toEqual([200, JSON_API])
    expect(response.headers.vary).toMatch(/^Accept, Accept-Encoding/)
  })

  it.each([
    [
      'accept',
      '*/*',
      ['', '/none', '/counts', '/me', '/types', '/export', '/report', '/openapi.json', '/stream'],
    ],
    ['accept-encoding', 'identity', ['', '/counts', '/me', '/types', '/report', '/openapi.json']],
  ])('%s is read up to 1024 characters', async (header, value, paths) => {
    const ask = (path: string, length: number): Promise<RawResponse> => {
      const headers = { [header]: value.padEnd(length, ',') }
      return server.send(`/api/events${path}`, { headers })
    }
    expect((await ask('', 1024)).status).toBe(200)
    for (const path of paths) {
      const response = await ask(path, 1025)
      expectError(response, 400, 'INVALID_HEADER', { header })
    }
  })

  it.each([' ', '\t ', ' ,', 'a/b,', 'a/b; ', 'a="', '"\\'])(
    'of any 15,000 characters takes no time: %j',
    async (unit) => {
      const long = `a/b${unit.repeat(15_000 / unit.length)}/`
      for (const check of [checkAccept, checkMediaType]) {
        const started = process.cpuUsage()
        for (let i = 0; i < 10; i++) expect(() => check(long)).toThrow(/at most 1024/)
        const { user, system } = process.cpuUsage(started)
        expect((user + system) / 10).toBeLessThan(20_000)
      }
    },
  )

  it.each([
    'text/html',
    'application/xml, text/*',
    `${JSON_API};q=0`,
    'application/json;q=0',
    '*/*;q=0',
    'application/*;q=0, */*',
    `${JSON_API};q=0, */*`,
    `${JSON_API};q=nothing`,
    `${JSON_API}; ext="https://example.org/atomic"`,
    `${JSON_API}; ext="https://example.org/atomic", ${JSON_API}; version=2`,
    `${JSON_API}; charset=utf-8`,
    // JSON:API requires this status, even if other media types are accepted.
    `${JSON_API}; version=2, */*`,
    'nonsense',
    'text/html; quoted=", application/json, "',
  ])('responds 406 to %s', async (accept) => {
    const response = await get(accept)
    expect(response.status).toBe(406)
    expect(response.headers['content-type']).toBe(JSON_API)
    const { detail } = expectError(response, 406, 'NOT_ACCEPTABLE', { header: 'accept' })
    expect(detail).toContain(JSON_API)
    expect(detail).toContain(JSON.stringify(accept))
  })

  it('is handled the same for one event', async () => {
    const event = await server.audit.recordCustom('own', {})
    const path = `/api/events/${event!.id}`
    expect((await server.send(path, { headers: { accept: 'text/html' } })).status).toBe(406)
    expect((await server.send(path, { headers: { accept: 'application/json' } })).status).toBe(200)
  })

  it.each(['', 'text/event-stream', 'text/*', '*/*', 'text/event-stream; charset=utf-8'])(
    '%s allows text/event-stream',
    (accept) => {
      expect(() => checkAccept(accept, 'text/event-stream')).not.toThrow()
    },
  )

  it.each([JSON_API, 'application/json', 'text/event-stream;q=0, */*'])(
    '%s does not allow text/event-stream',
    (accept) => {
      expect(() => checkAccept(accept, 'text/event-stream')).toThrow(
        /^accept must allow text\/event-stream; it is /,
      )
    },
  )
})

describe('Content-Type', () => {
  const post = (contentType: string) => {
    const request = newEvent({ type: 'own' })
    return server.send('/api/events', { ...request, headers: { 'content-type': contentType } })
  }

  it.each([
    JSON_API,
    'Application/Vnd.API+json',
    `${JSON_API}; charset=utf-8`,
    `${JSON_API};charset="UTF-8"`,
    `${JSON_API}; profile="https://example.org/profile"`,
  ])('%s is accepted', async (contentType) => {
    expect((await post(contentType)).status).toBe(201)
  })

  it.each([
    '',
    'application/json',
    'application/x-www-form-urlencoded',
    'nonsense',
    `${JSON_API}; ext="https://example.org/atomic"`,
    `${JSON_API}; profile=x; ext=y`,
    `${JSON_API}; charset=latin1`,
    `${JSON_API}; version=2`,
  ])('responds 415 to %s', async (contentType) => {
    const response = await post(contentType)
    const source = { header: 'content-type' }
    const { detail } = expectError(response, 415, 'UNSUPPORTED_MEDIA_TYPE', source)
    expect(detail).toContain(`content-type must be ${JSON_API}`)
  })
})
