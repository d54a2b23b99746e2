import Router from '@koa/router'
import { type KoaMiddleware, recordRequests } from 'daybook/koa'
import type { Middleware } from 'koa'
import mount from 'koa-mount'
import { describe, expect, it } from 'vitest'
import { done, routed, useRecorded } from './recorded.js'

const { events, expectTypes, start } = useRecorded()

describe('the route of a request', () => {
  it('is found under a prefix', async () => {
    const router = new Router({ prefix: '/api/:tenant' })
    router.post('/changes', done)
    router.post('/changes/:id/start', done)
    await expectTypes(routed(router), {
      'POST /api/acme/changes': 'api:changes:create',
      'POST /api/acme/changes/1/start': 'api:changes:start',
    })
  })

  it('is found in nested routers', async () => {
    const inner = new Router()
    inner.post('/steps/:step_id/approve', done)
    inner.delete('/', done)
    const middle = new Router({ prefix: '/runs/:run_id' }).use('/nodes/:node', inner.routes())
    const outer = new Router({ prefix: '/api' }).use(middle.routes())
    await expectTypes(routed(outer), {
      'POST /api/runs/1/nodes/2/steps/3/approve': 'api:steps:approve',
      'DELETE /api/runs/1/nodes/2': 'api:nodes:destroy',
    })
    const [event] = await events()
    expect(event!.attributes['url_params']).toEqual({ run_id: '1', node: '2', step_id: '3' })
  })

  it('is found under koa-mount, with the full path', async () => {
    const inside = mount('/v1', routed(new Router().post('/changes', done))[0]!)
    await expectTypes([mount('/api', inside)], { 'POST /api/v1/changes?x=1': 'api:changes:create' })
  })

  it('is found when recordRequests itself is mounted, with the full path', async () => {
    const router = new Router().post('/changes', done)
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
    const rewrite: Middleware = (ctx, next) => {
      ctx.url = '/changes'
      return next()
    }
    await expectTypes([rewrite, ...routed(new Router().post('/changes', done))], {
      'POST /old/changes?x=1': 'api:changes:create',
    })
  })

  it('is found in any of several routers', async () => {
    const first = new Router().get('/changes', done).post('/changes/:id/start', done)
    const second = new Router()
    second.use('/', (_ctx, next) => next())
    second.post('/changes', done)
    await expectTypes(routed(first, second), {
      'POST /changes': 'api:changes:create',
      'POST /changes/1/start': 'api:changes:start',
    })
  })

  it('is the route that ran, not a later match', async () => {
    const router = new Router()
    router.post('/changes/search', done)
    router.post('/changes/:id', done)
    router.post('first:try', '/same', done)
    router.post('second:try', '/same', done)
    router.post('checks:pass', '/passed', (_ctx, next) => next())
    router.post('things:make', '/passed', done)
    await expectTypes(routed(router), {
      'POST /changes/search': 'api:search:create',
      'POST /changes/7': 'api:changes:create',
      'POST /same': 'api:first:try',
      'POST /passed': 'api:things:make',
    })
  })

  it('is the route that an exclusive router chose', async () => {
    const router = new Router({ exclusive: true })
    router.post('/changes/:id', done)
    router.post('/changes/search', done)
    await expectTypes(routed(router), { 'POST /changes/search': 'api:search:create' })
  })

  it('is the route after a router.use that refused', async () => {
    const open = new Router()
    open.all('/{*path}', (_ctx, next) => next())
    const closed = new Router()
    closed.use('/changes', (ctx) => ctx.throw(403, 'closed'))
    closed.post('/changes/search', done)
    closed.post('/changes/:id', done)
    await expectTypes(routed(open, closed), { 'POST /changes/search': 'error:search:create' })
    const [event] = await events()
    expect(event!.attributes).toMatchObject({ error: 'closed', response_status: 403 })
    expect(event!.attributes).not.toHaveProperty('backtrace')
  })

  it('may handle all methods, or some', async () => {
    const router = new Router()
    router.all('/all', done)
    router.register('/some', ['PUT', 'DELETE'], [done])
    await expectTypes(routed(router), {
      'HEAD /all': null,
      'OPTIONS /all': null,
      'GET /all': null,
      'POST /all': 'api:all:create',
      'PUT /all': 'api:all:update',
      'PATCH /all': 'api:all:update',
      'DELETE /all': 'api:all:destroy',
      'DELETE /some': 'api:some:destroy',
      'PUT /some': 'api:some:update',
    })
  })

  it('may have a regular expression as path, and is named by its name', async () => {
    const router = new Router()
    router.post('files:write', /^\/files\/(.+)$/, done)
    router.post(/^\/nameless$/, done)
    await expectTypes(routed(router), {
      'POST /files/a/b': 'api:files:write',
      'POST /nameless': 'api:unmatched:create',
    })
  })

  it('may have optional parts', async () => {
    const router = new Router()
    router.delete('/changes{/:id}', done)
    router.post('/files/*path', done)
    router.post('/changes/:id.json', done)
    await expectTypes(routed(router), {
      'DELETE /changes': 'api:changes:destroy',
      'POST /files/a/b': 'api:files:create',
      'POST /changes/1.json': 'api:changes:create',
    })
  })

  it('is unmatched if no route handles the method', async () => {
    const router = new Router().get('/changes', done)
    await expectTypes([...routed(router), router.allowedMethods() as Middleware], {
      'PUT /changes': 'error:unmatched:update',
      'PUT /nowhere': 'error:unmatched:update',
    })
    expect((await events())[0]!.attributes).toMatchObject({
      error: 'Method Not Allowed',
      response_status: 405,
    })
  })

  it('is named after the action if the registry has it', async () => {
    const router = new Router().post('/changes/:id/settings', done)
    const types = { 'api:changes:settings': {} }
    const expected = { 'POST /changes/1/settings': 'api:changes:settings' }
    await expectTypes(routed(router), expected, { types })
  })
})

describe('the table of routes', () => {
  const refusing: Middleware = (ctx) => ctx.throw(ctx.query['status'] === '500' ? 500 : 409, 'no')

  it('takes precedence over route names', async () => {
    const inner = new Router()
    inner.post('named:so', '/:id/halt', done)
    inner.post('/:id/resume', done)
    const outer = new Router({ prefix: '/api' }).use('/changes', inner.routes())
    outer.put(/^\/x+$/, done)
    const routes = {
      'POST /api/changes/:id/halt': 'changes:pause',
      'PUT /^\\/x+$/': 'letters:x-out',
      'DELETE /api/changes/:id/resume': false,
    } as const
    const expected = {
      'POST /api/changes/1/halt': 'api:changes:pause',
      'POST /api/changes/1/resume': 'api:changes:resume',
      'PUT /xx': 'api:letters:x-out',
    }
    await expectTypes(routed(outer), expected, { record: { routes } })
  })

  it('omits requests that succeed or are refused, but not failed requests', async () => {
    const router = new Router().post('/ping', done).post('/refused', refusing)
    const expected = {
      'POST /ping': null,
      'POST /refused': null,
      'POST /refused?status=500': 'error:api:controller:unhandled',
      'POST /other': 'error:unmatched:create',
    }
    const routes = { 'POST /ping': false, 'POST /refused': false } as const
    await expectTypes(routed(router), expected, { record: { routes } })
  })

  it.each([
    [
      { 'post /x': 'a:b' },
      'routes: "post /x" must be a method in upper case other than GET, HEAD, OPTIONS, TRACE',
    ],
    [{ 'GET /x': 'a:b' }, 'routes: "GET /x"'],
    [{ 'TRACE /x': 'a:b' }, 'routes: "TRACE /x"'],
    [{ 'LI NK /x': 'a:b' }, 'routes: "LI NK /x"'],
    [{ '/x': 'a:b' }, 'routes: "/x"'],
    [{ 'POST x': 'a:b' }, 'routes: "POST x"'],
    [{ 'POST /x': 'a' }, 'routes["POST /x"] must be <controller>:<method> or false; it is "a"'],
    [{ 'POST /x': 'api:a:b' }, 'it is "api:a:b"'],
    [{ 'POST /x': true }, 'it is true'],
  ])('refuses %j at once', async (routes, message) => {
    const started = start([], { record: { routes: routes as Record<string, string> } })
    await expect(started).rejects.toMatchObject({
      code: 'INVALID_OPTION',
      message: expect.stringContaining(message) as string,
    })
  })
})
