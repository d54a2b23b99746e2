import net from 'node:net'
import connect from 'connect'
import type { AuditLog } from 'daybook'
import { auditRoutes, basicAuth, listRoute, type NodeListener } from 'daybook/node'
import express, { type ErrorRequestHandler } from 'express'
import { describe, expect, it, vi } from 'vitest'
import {
  errorOf,
  JSON_API,
  listOf,
  newEvent,
  type RawRequest,
  type RawResponse,
  send,
} from '../support/http.js'
import { openStream } from '../support/server-sent.js'
import { takeWarnings } from '../support/warnings.js'
import { openLog, serveOn } from './until-finished.js'

const PATH = '/api/events'

const users = { ann: 'ann' }

/** A server with a log. */
async function start(listener: (audit: AuditLog) => Parameters<typeof serveOn>[0]): Promise<{
  audit: AuditLog
  url: string
  send: (path: string, request?: RawRequest) => Promise<RawResponse>
}> {
  const audit = openLog()
  const url = await serveOn(listener(audit))
  return { audit, url, send: (path, request) => send(url, path, request) }
}

describe('auditRoutes with node:http alone', () => {
  const named = (audit: AuditLog): NodeListener =>
    auditRoutes(audit, { username: ({ headers }) => String(headers['x-user'] ?? '') })

  it('responds 404 to other paths', async () => {
    const { send } = await start(named)
    for (const path of ['/', '/api/eventsandmore', '/api/event', '//api/events']) {
      const response = await send(path)
      expect([response.status, response.headers['content-type']]).toEqual([404, JSON_API])
      expect(errorOf(response)).toMatchObject({
        code: 'NOT_FOUND',
        detail: `there is nothing at ${path}`,
      })
    }
  })

  it('uses the username option; an empty name is unauthenticated', async () => {
    const { send, audit } = await start(named)
    const request = newEvent({ type: 'x' })
    expect((await send(PATH, request)).status).toBe(401)
    const headers = { ...request.headers, 'x-user': 'zoe' }
    expect((await send(PATH, { ...request, headers })).status).toBe(201)
    expect((await audit.list()).events[0]!.username).toBe('zoe')
  })

  it('accepts a request target in absolute form', async () => {
    const { send, url } = await start(named)
    const response = await send(`${url}${PATH}?limit=1`, { headers: { 'x-user': 'ann' } })
    expect(response.status).toBe(200)
    expect(listOf(response).links.self).toBe(`${PATH}?limit=1`)
  })

  it('responds 500 to an error of the host and emits a warning', async () => {
    const warnings = takeWarnings()
    const failures = [new Error('secret'), 'a text']
    const { send } = await start((audit) =>
      auditRoutes(audit, {
        username: () => 'ann',
        authorize() {
          throw failures.shift()
        },
      }),
    )
    for (const message of ['secret', "a value that is not an error was thrown: 'a text'"]) {
      const response = await send(PATH)
      expect([response.status, errorOf(response).code]).toEqual([500, 'INTERNAL_ERROR'])
      expect(response.body).not.toContain('secret')
      expect(warnings.pop()).toMatchObject({ message })
    }
  })

  it('emits no warning when a client disconnects', async () => {
    const warnings = takeWarnings()
    let requests = 0
    const closed: Promise<unknown>[] = []
    const { url, audit } = await start((audit) => {
      const routes = auditRoutes(audit, { username: () => 'ann' })
      return (request, response) => {
        requests++
        closed.push(new Promise((resolve) => response.once('close', resolve)))
        routes(request, response)
      }
    })
    const stream = await openStream(`${url}${PATH}/stream`)
    await audit.recordCustom('note', {})
    await stream.take(1)
    stream.leave()
    await Promise.all(closed)
    await audit.recordCustom('note', {})
    // A client that disconnects in the middle of its body.
    const { port } = new URL(url)
    const socket = net.connect(Number(port), '127.0.0.1')
    socket.write(`POST ${PATH} HTTP/1.1\r\nHost: x\r\nContent-Type: ${JSON_API}\r\n`)
    socket.write('Content-Length: 100\r\n\r\n{"data"')
    await vi.waitFor(() => expect(requests).toBe(2), { timeout: 60_000 })
    socket.destroy()
    await Promise.all(closed)
    expect((await send(url, PATH)).status).toBe(200)
    expect(warnings).toEqual([])
  })
})

describe('basicAuth with node:http alone', () => {
  it('does not call a next without parameters when the hook throws', async () => {
    const warnings = takeWarnings()
    const failure = new Error('the directory is away')
    const authenticate = basicAuth({ users: () => Promise.reject(failure) })
    let isIn = false
    const { send } = await start(() => (request, response) => {
      authenticate(request, response, () => {
        isIn = true
        response.end('in')
      })
    })
    const response = await send('/')
    expect([response.status, response.headers['content-type']]).toEqual([500, JSON_API])
    expect(isIn).toBe(false)
    expect(warnings).toEqual([failure])
  })
})

describe('listRoute with node:http alone', () => {
  const items = [
    { id: 'a', size: 1, owner: 'ann' },
    { id: 'b', size: 3, owner: 'bob' },
    { id: 'c', size: 2, owner: 'ann' },
  ]
  const attributes = { size: 'number', owner: 'string' } as const
  const things = { resource: 'thing', attributes, source: items }
  const idsOf = (response: RawResponse): unknown => listOf(response).data.map(({ id }) => id)

  it('responds to GET and HEAD only', async () => {
    const { send } = await start(() => listRoute(things))
    expect(idsOf(await send('/things?filter[size_gt]=1&filter[sorts]=size'))).toEqual(['c', 'b'])
    const head = await send('/things', { method: 'HEAD' })
    expect([head.status, head.body]).toEqual([200, ''])
    expect((await send('/things?filter[nope_eq]=1')).status).toBe(400)
    expect((await send('/things', { method: 'POST' })).status).toBe(404)
  })

  it('shows nothing by a blank filter of the host', async () => {
    const warnings = takeWarnings()
    const { send } = await start(() => listRoute({ ...things, visible: () => ({ owner_eq: '' }) }))
    expect((await send('/things')).status).toBe(500)
    expect(warnings).toMatchObject([{ code: 'INVALID_VALUE', parameter: 'filter[owner_eq]' }])
  })
})

describe('auditRoutes with Express', () => {
  it('a body may be kept as text by a verify function', async () => {
    const verify = (request: object, _response: unknown, buffer: Buffer): void => {
      Object.assign(request, { rawBody: buffer.toString() })
    }
    const { url, audit } = await start((audit) =>
      express().use(
        express.json({ type: JSON_API, verify }),
        basicAuth({ users }),
        auditRoutes(audit),
      ),
    )
    expect((await send(url, PATH, newEvent({ type: 'x', n: 1 }))).status).toBe(201)
    expect((await audit.list()).events[0]!.attributes).toEqual({ n: 1 })
  })

  it('a parsed body has the same limits', async () => {
    const { url } = await start((audit) =>
      express().use(
        express.json({ type: JSON_API, limit: '10mb' }),
        basicAuth({ users }),
        auditRoutes(audit),
      ),
    )
    const large = newEvent({ type: 'x', text: 'x'.repeat(2 ** 20) })
    const long = await send(url, PATH, {
      ...large,
      headers: { ...large.headers, 'transfer-encoding': 'chunked' },
    })
    expect([long.status, errorOf(long).code]).toEqual([413, 'BODY_TOO_LARGE'])
    for (const levels of [100, 200_000]) {
      const nested = `${'['.repeat(levels)}${']'.repeat(levels)}`
      const body = `{"data":{"type":"Event","attributes":{"type":"x","a":${nested}}}}`
      const deep = await send(url, PATH, { ...large, body })
      expect([deep.status, deep.headers['content-type']]).toEqual([
        levels === 100 ? 422 : 400,
        JSON_API,
      ])
    }
  })

  it('a body that was read and discarded is an error of the host', async () => {
    const errors: unknown[] = []
    const { url } = await start((audit) =>
      express()
        .use((request, _response, next) => {
          request.resume().once('end', () => next())
        })
        .use(basicAuth({ users }), auditRoutes(audit))
        .use(((error, _request, response, _next) => {
          errors.push(error)
          response.status(500).end()
        }) satisfies ErrorRequestHandler),
    )
    expect((await send(url, PATH, newEvent({ type: 'x' }))).status).toBe(500)
    expect(errors).toEqual([
      new Error('the request body was already read, and neither body nor rawBody contains it'),
    ])
  })
})

describe('auditRoutes with Connect', () => {
  it('requests to other paths under the mount path are passed on', async () => {
    const { url } = await start((audit) => {
      const app = connect()
      app.use('/api', basicAuth({ users }))
      app.use('/api', auditRoutes(audit))
      app.use('/api', (request, response) => response.end(request.url))
      return app
    })
    expect((await send(url, '/api/things')).body).toBe('/things')
    expect((await send(url, PATH)).status).toBe(200)
  })
})
