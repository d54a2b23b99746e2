import Router from '@koa/router'
import type { RecordRequestsOptions } from 'daybook/koa'
import type { Middleware } from 'koa'
import mount from 'koa-mount'
import { afterEach, describe, expect, it } from 'vitest'
import { done, parser, type RecordedApp, routed, startRecorded } from './recorded.js'

let app: RecordedApp | undefined
afterEach(async () => {
  await app?.close()
  app = undefined
})

describe('secrets', () => {
  const routes = (): Router => {
    const router = new Router()
    router.use('/closed', (ctx) => ctx.throw(403, 'closed'))
    router.post('/reset/:token', done)
    router.post('/closed/:token/x', done)
    router.post('/files/:name.:secret', done)
    router.post('/tokens/*tokens', done)
    router.post('/cards/:card', done)
    router.post('/twice/:id/:pin', (_ctx, next) => next())
    router.post('/twice/:pin/:id', done)
    return router
  }
  const paths = async (): Promise<unknown[]> =>
    (await app!.events()).map(({ attributes }) => attributes['request_path'])
  const shownOf = async (
    middleware: Middleware,
    sent: readonly string[],
    record: RecordRequestsOptions = {},
    method = 'POST',
  ) => {
    app = await startRecorded([middleware], { record })
    for (const path of sent) await app.send(path, { method })
    return paths()
  }

  it('are redacted in the path', async () => {
    expect(
      await shownOf(routed(routes())[0]!, [
        '/reset/abc',
        '/reset/a%20b/',
        '/files/a.b',
        '/tokens/a/b/c',
        '/twice/1/2',
        '/cards/4711',
        '/closed/abc/x',
      ]),
    ).toEqual([
      '/reset/[redacted]',
      '/reset/[redacted]/',
      '/files/a.[redacted]',
      '/tokens/[redacted]',
      '/twice/[redacted]/[redacted]',
      '/cards/4711',
      '/closed/[redacted]/x',
    ])
    const [first] = await app!.events()
    expect(first!.attributes['url_params']).toEqual({ token: '[redacted]' })
  })

  it('are redacted in the path of a route with another method', async () => {
    expect(await shownOf(routed(routes())[0]!, ['/reset/abc'], {}, 'DELETE')).toEqual([
      '/reset/[redacted]',
    ])
  })

  it('are redacted in the path under a mount', async () => {
    const mounted = mount('/a', mount('/b/c', routed(routes())[0]!))
    expect(await shownOf(mounted, ['/a/b/c/reset/abc', '/a/b/c/cards/abc'])).toEqual([
      '/a/b/c/reset/[redacted]',
      '/a/b/c/cards/abc',
    ])
  })

  it('redact the whole path if it was rewritten', async () => {
    const rewrite: Middleware = (ctx, next) => {
      ctx.path = '/reset/abc'
      return next()
    }
    const router = routed(routes())[0]!
    const both: Middleware = (ctx, next) =>
      rewrite(ctx, () => router(ctx, next) as Promise<unknown>)
    expect(await shownOf(both, ['/elsewhere/abc'])).toEqual(['[redacted]'])
  })

  it('include those that the host names', async () => {
    expect(
      await shownOf(routed(routes())[0]!, ['/cards/4711', '/reset/abc'], {
        redact: { paths: ['url_params.card'], except: ['token'] },
      }),
    ).toEqual(['/cards/[redacted]', '/reset/abc'])
  })

  it('are redacted in the data of describe and in thrown values', async () => {
    const throwing: Middleware = (ctx, next) => {
      // oxlint-disable-next-line no-throw-literal, only-throw-error
      if (ctx.path === '/thrown') throw { code: 7, password: 'hush' }
      return next()
    }
    const record: RecordRequestsOptions = {
      redact: { keys: ['iban'] },
      describe: () => ({ name: 'n', card: { iban: 'DE1', cvv: '1' }, when: new Date(0) }),
    }
    app = await startRecorded([parser as Middleware, throwing, done], { record })
    await app.postJson('/a', { iban: 'DE1', deep: [{ Iban: 'DE1' }] })
    await app.postJson('/thrown', {})
    const [plain, thrown] = await app.events()
    expect(plain!.attributes).toMatchObject({
      name: 'n',
      card: { iban: '[redacted]', cvv: '[redacted]' },
      when: '1970-01-01T00:00:00.000Z',
      request_body: { iban: '[redacted]', deep: [{ Iban: '[redacted]' }] },
    })
    expect(thrown!.attributes['error']).toBe("{ code: 7, password: '[redacted]' }")
  })
})
