import http from 'node:http'
import { auditRoutes, basicAuth, type EventsAction, listRoute, recordRequests } from 'daybook/koa'
import Koa, { type Context } from 'koa'
import mount from 'koa-mount'
import { describe, expect, it } from 'vitest'
import { errorOf, JSON_API, listOf, newEvent, send } from '../support/http.js'
import { PATH, requests, startFeed } from './access.js'
import { openLog, serveOn } from './until-finished.js'

describe('authorize', () => {
  it('receives the action and decides about it', async () => {
    const calls: [username: unknown, action: EventsAction][] = []
    let allowed = true
    const server = await startFeed({
      authorize: async (ctx: Context, action) => {
        calls.push([ctx.state['username'], action])
        return allowed
      },
    })
    const { id } = await server.record('ann')
    for (const [action, path, request] of requests(id)) {
      allowed = true
      expect((await server.send(path, request)).status, action).toBeLessThan(300)
      allowed = false
      const refused = await server.send(path, { ...request, user: 'bob' })
      expect([refused.status, refused.headers['content-type']]).toEqual([403, JSON_API])
      expect(calls.splice(0)).toEqual([
        ['ann', action],
        ['bob', action],
      ])
      if (request.method === 'HEAD') continue
      const { code, detail } = errorOf(refused)
      expect([code, detail]).toEqual(['FORBIDDEN', `bob is not allowed the action ${action}`])
    }
    expect((await server.audit.list()).events).toHaveLength(2)
  })

  it('runs before the body is read', async () => {
    const server = await startFeed({ authorize: () => false })
    const headers = { 'content-type': JSON_API, 'content-length': 1000 }
    const response = await new Promise<http.IncomingMessage>((resolve, reject) => {
      const options = { method: 'POST', auth: 'ann:ann', headers, agent: false }
      const request = http.request(server.url + PATH, options, resolve)
      request.on('error', reject)
      // The body is never sent.
      request.flushHeaders()
    })
    expect(response.statusCode).toBe(403)
    response.destroy()
  })
})

describe('the user', () => {
  it('comes from the username option; an empty name is unauthenticated', async () => {
    const server = await startFeed({ username: (ctx: Context) => ctx.get('x-user') })
    const headers = { 'x-user': 'zoe' }
    expect((await server.send(PATH, newEvent({ type: 'x' }))).status).toBe(401)
    const request = newEvent({ type: 'x' })
    const named = { ...request, headers: { ...request.headers, ...headers } }
    expect((await server.send(PATH, named)).status).toBe(201)
    expect((await server.audit.list()).events.map(({ username }) => username)).toEqual(['zoe'])
  })

  it('is looked up by the host, and its errors reach Koa', async () => {
    const failure = new Error('no session')
    const server = await startFeed({
      username() {
        throw failure
      },
    })
    expect((await server.send(PATH)).status).toBe(500)
    expect(server.errors).toEqual([failure])
  })
})

describe('under a mount path', () => {
  it('requests to the feed are not recorded, and links.self has the full path', async () => {
    const audit = openLog()
    const inner = new Koa()
    inner.use(recordRequests(audit))
    inner.use(basicAuth({ users: { ann: 'ann' } }))
    inner.use(auditRoutes(audit, { path: `/outer${PATH}` }))
    inner.use(listRoute({ resource: 'thing', attributes: {}, source: [] }))
    const url = await serveOn(new Koa().use(mount('/outer', inner)).callback())
    const request = newEvent({ type: 'x' })
    expect((await send(url, `/outer${PATH}`, {})).status).toBe(200)
    expect((await send(url, `/outer${PATH}`, request)).status).toBe(201)
    expect((await audit.list()).events.map(({ type }) => type)).toEqual(['x'])
    // Authentication refuses these requests before they reach the feed.
    expect((await send(url, `/outer${PATH}`, { ...request, user: 'eve' })).status).toBe(401)
    const types = (await audit.list()).events.map(({ type }) => type)
    expect(types).toEqual(['x', 'error:unmatched:create'])
    const things = await send(url, '/outer/things?filter[id_eq]=1')
    expect(listOf(things).links.self).toBe('/outer/things?filter[id_eq]=1')
  })
})
