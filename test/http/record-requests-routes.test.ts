import Router from '@koa/router'
import { defineEventTypes } from 'daybook'
import { type KoaMiddleware, recordRequests } from 'daybook/koa'
import type { Middleware } from 'koa'
import mount from 'koa-mount'
import { describe, expect, it } from 'vitest'
import { done, routed, useRecorded } from './recorded.js'

const { events, recordedBy, start } = useRecorded()

describe('the route of a request', () => {
  it('is found under a prefix', async () => {
    const router = new Router({ prefix: '/api/:tenant' })
    router.post('/changes', done)
    router.post('/changes/:id/start', done)
    expect(
      await recordedBy(routed(router), [
        'POST /api/acme/changes',
        'POST /api/acme/changes/1/start',
      ]),
    ).toEqual([
      'api:changes:create /api/acme/changes',
      'api:changes:start /api/acme/changes/1/start',
    ])
  })

  it('is found in nested routers', async () => {
    const inner = new Router()
    inner.post('/steps/:step_id/approve', done)
    inner.delete('/', done)
    const middle = new Router({ prefix: '/runs/:run_id' }).use('/nodes/:node', inner.routes())
    const outer = new Router({ prefix: '/api' }).use(middle.routes())
    expect(
      await recordedBy(routed(outer), [
        'POST /api/runs/1/nodes/2/steps/3/approve',
        'DELETE /api/runs/1/nodes/2',
      ]),
    ).toEqual([
      'api:steps:approve /api/runs/1/nodes/2/steps/3/approve',
      'api:nodes:destroy /api/runs/1/nodes/2',
    ])
    const [event] = await events()
    expect(event!.attributes['url_params']).toEqual({ run_id: '1', node: '2', step_id: '3' })
  })

  it('is found under koa-mount, with the full path', async () => {
    const router = new Router()
    router.post('/changes', done)
    const inside = mount('/v1', routed(router)[0]!)
    expect(await recordedBy([mount('/api', inside)], ['POST /api/v1/changes?x=1'])).toEqual([
      'api:changes:create /api/v1/changes',
    ])
  })

  it('is found when recordRequests itself is mounted, with the full path', async () => {
    const router = new Router()
    router.post('/changes', done)
    let record: KoaMiddleware | undefined
    const mounted: Middleware = (ctx, next) => record!(ctx, next)
    const app = await start([mount('/api', mounted), mount('/api', routed(router)[0]!)], {
      record: false,
    })
    record = recordRequests(app.audit)
    await app.send('/api/changes', { method: 'POST' })
    expect((await app.events()).map((event) => event.attributes['request_path'])).toEqual([
      '/api/changes',
    ])
  })

  it('keeps the path as sent when middleware rewrites it', async () => {
    const router = new Router()
    router.post('/changes', done)
    const rewrite: Middleware = (ctx, next) => {
      ctx.url = '/changes'
      return next()
    }
    expect(await recordedBy([rewrite, ...routed(router)], ['POST /old/changes?x=1'])).toEqual([
      'api:changes:create /old/changes',
    ])
  })

  it('is found in any of several routers', async () => {
    const first = new Router()
    first.get('/changes', done)
    first.post('/changes/:id/start', done)
    const second = new Router()
    second.use('/', (_ctx, next) => next())
    second.post('/changes', done)
    expect(
      await recordedBy(routed(first, second), ['POST /changes', 'POST /changes/1/start']),
    ).toEqual(['api:changes:create /changes', 'api:changes:start /changes/1/start'])
  })

  it('is the one that ran, not a later match', async () => {
    const router = new Router()
    router.post('/changes/search', done)
    router.post('/changes/:id', done)
    router.post('first:try', '/same', done)
    router.post('second:try', '/same', done)
    router.post('checks:pass', '/passed', (_ctx, next) => next())
    router.post('things:make', '/passed', done)
    expect(
      await recordedBy(routed(router), [
        'POST /changes/search',
        'POST /changes/7',
        'POST /same',
        'POST /passed',
      ]),
    ).toEqual([
      'api:search:create /changes/search',
      'api:changes:create /changes/7',
      'api:first:try /same',
      'api:things:make /passed',
    ])
  })

  it('is the one that an exclusive router chose', async () => {
    const router = new Router({ exclusive: true })
    router.post('/changes/:id', done)
    router.post('/changes/search', done)
    expect(await recordedBy(routed(router), ['POST /changes/search'])).toEqual([
      'api:search:create /changes/search',
    ])
  })

  it('is the one after a router.use that refused', async () => {
    const open = new Router()
    open.all('/{*path}', (_ctx, next) => next())
    const closed = new Router()
    closed.use('/changes', (ctx) => ctx.throw(403, 'closed'))
    closed.post('/changes/search', done)
    closed.post('/changes/:id', done)
    expect(await recordedBy(routed(open, closed), ['POST /changes/search'])).toEqual([
      'error:search:create /changes/search',
    ])
  })

  it('may handle all methods, or some', async () => {
    const router = new Router()
    router.all('/all', done)
    router.register('/some', ['PUT', 'DELETE'], [done])
    expect(
      await recordedBy(routed(router), [
        'HEAD /all',
        'OPTIONS /all',
        'GET /all',
        'POST /all',
        'PUT /all',
        'PATCH /all',
        'DELETE /all',
        'DELETE /some',
        'PUT /some',
      ]),
    ).toEqual([
      'api:all:create /all',
      'api:all:update /all',
      'api:all:update /all',
      'api:all:destroy /all',
      'api:some:destroy /some',
      'api:some:update /some',
    ])
  })

  it('may have a regular expression as path, and is named by its name', async () => {
    const router = new Router()
    router.post('files:write', /^\/files\/(.+)$/, done)
    router.post(/^\/nameless$/, done)
    expect(await recordedBy(routed(router), ['POST /files/a/b', 'POST /nameless'])).toEqual([
      'api:files:write /files/a/b',
      'api:unmatched:create /nameless',
    ])
  })

  it('may have optional parts', async () => {
    const router = new Router()
    router.delete('/changes{/:id}', done)
    router.post('/files/*path', done)
    router.post('/changes/:id.json', done)
    expect(
      await recordedBy(routed(router), [
        'DELETE /changes',
        'POST /files/a/b',
        'POST /changes/1.json',
      ]),
    ).toEqual([
      'api:changes:destroy /changes',
      'api:files:create /files/a/b',
      'api:changes:create /changes/1.json',
    ])
  })

  it('is unmatched if no route handles the method', async () => {
    const router = new Router()
    router.get('/changes', done)
    const middleware = [...routed(router), router.allowedMethods() as Middleware]
    expect(await recordedBy(middleware, ['PUT /changes', 'PUT /nowhere'])).toEqual([
      'error:unmatched:update /changes',
      'error:unmatched:update /nowhere',
    ])
    expect((await events())[0]!.attributes).toMatchObject({
      error: 'Method Not Allowed',
      response_status: 405,
    })
  })

  it('is named after the action if the registry has it', async () => {
    const router = new Router()
    router.post('/changes/:id/settings', done)
    router.post('/changes/:id/notes', done)
    const types = defineEventTypes({ 'api:changes:settings': {} })
    expect(
      await recordedBy(routed(router), ['POST /changes/1/settings', 'POST /changes/1/notes'], {
        types,
      }),
    ).toEqual(['api:changes:settings /changes/1/settings', 'api:notes:create /changes/1/notes'])
  })
})
