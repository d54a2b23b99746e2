import Router from '@koa/router'
import type { AuditEvent } from 'daybook'
import type { RecordRequestsOptions } from 'daybook/koa'
import type { Middleware } from 'koa'
import mount from 'koa-mount'
import { describe, expect, it } from 'vitest'
import { done, parser, routed, useRecorded } from './recorded.js'

const { start } = useRecorded()

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
  /** Sends requests to these paths, and expects the paths of their events. */
  async function expectShown(
    middleware: Middleware,
    shown: Readonly<Record<string, string>>,
    { method = 'POST', ...record }: RecordRequestsOptions & { readonly method?: string } = {},
  ): Promise<AuditEvent> {
    const app = await start([middleware], { record })
    for (const path of Object.keys(shown)) await app.send(path, { method })
    const events = await app.events()
    const paths = events.map(({ attributes }) => attributes['request_path'])
    expect(paths).toEqual(Object.values(shown))
    return events[0]!
  }

  it('are redacted in the path', async () => {
    const first = await expectShown(routed(routes())[0]!, {
      '/reset/abc': '/reset/[redacted]',
      '/reset/a%20b/': '/reset/[redacted]/',
      '/files/a.b': '/files/a.[redacted]',
      '/tokens/a/b/c': '/tokens/[redacted]',
      '/twice/1/2': '/twice/[redacted]/[redacted]',
      '/cards/4711': '/cards/4711',
      '/closed/abc/x': '/closed/[redacted]/x',
    })
    expect(first.attributes['url_params']).toEqual({ token: '[redacted]' })
  })

  it('are redacted in the path of a route with another method', async () => {
    const shown = { '/reset/abc': '/reset/[redacted]' }
    await expectShown(routed(routes())[0]!, shown, { method: 'DELETE' })
  })

  it('are redacted in the path under a mount', async () => {
    await expectShown(mount('/a', mount('/b/c', routed(routes())[0]!)), {
      '/a/b/c/reset/abc': '/a/b/c/reset/[redacted]',
      '/a/b/c/cards/abc': '/a/b/c/cards/abc',
    })
  })

  it('redact the whole path if it was rewritten', async () => {
    const router = routed(routes())[0]!
    const rewrite: Middleware = (ctx, next) => {
      ctx.path = '/reset/abc'
      return router(ctx, next) as Promise<unknown>
    }
    await expectShown(rewrite, { '/elsewhere/abc': '[redacted]' })
  })

  it('include the keys that the host names', async () => {
    const shown = { '/cards/4711': '/cards/[redacted]', '/reset/abc': '/reset/abc' }
    const redact = { paths: ['url_params.card'], except: ['token'] }
    await expectShown(routed(routes())[0]!, shown, { redact })
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
    const app = await start([parser as Middleware, throwing, done], { record })
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
