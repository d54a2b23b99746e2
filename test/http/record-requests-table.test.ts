import Router from '@koa/router'
import type { Middleware } from 'koa'
import { describe, expect, it } from 'vitest'
import { done, routed, useRecorded } from './recorded.js'

const { recordedBy, start } = useRecorded()

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
    expect(
      await recordedBy(
        routed(outer),
        ['POST /api/changes/1/halt', 'POST /api/changes/1/resume', 'PUT /xx'],
        { record: { routes } },
      ),
    ).toEqual([
      'api:changes:pause /api/changes/1/halt',
      'api:changes:resume /api/changes/1/resume',
      'api:letters:x-out /xx',
    ])
  })

  it('omits requests that succeed or are refused, not those that fail', async () => {
    const router = new Router()
    router.post('/ping', done)
    router.post('/refused', refusing)
    expect(
      await recordedBy(
        routed(router),
        ['POST /ping', 'POST /refused', 'POST /refused?status=500', 'POST /other'],
        { record: { routes: { 'POST /ping': false, 'POST /refused': false } } },
      ),
    ).toEqual(['error:api:controller:unhandled /refused', 'error:unmatched:create /other'])
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
