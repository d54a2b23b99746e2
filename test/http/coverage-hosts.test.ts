import Router from '@koa/router'
import { AuditLog, type AuditLogError, defineEventTypes } from 'daybook'
import * as onExpress from 'daybook/express'
import * as onFastify from 'daybook/fastify'
import * as onFetch from 'daybook/fetch'
import * as onHono from 'daybook/hono'
import * as onKoa from 'daybook/koa'
import { memoryStore } from 'daybook/memory'
import * as onNode from 'daybook/node'
import express from 'express'
import Fastify from 'fastify'
import { H3 } from 'h3'
import { Hono } from 'hono'
import { describe, expect, it, onTestFinished } from 'vitest'
import * as onH3 from '../support/h3/index.js'

const types = defineEventTypes({
  'api:changes:create': {},
  'api:changes:start': {},
  'error:changes:create': {},
  'info:changes:done': {},
})

type Options = onNode.AssertCoverageOptions

type Check = (options?: Options) => void

/** The mismatches that a check finds. */
function faultsOf(check: () => void): readonly string[] {
  try {
    check()
  } catch (error) {
    const { code, cause } = error as AuditLogError
    expect(code).toBe('NOT_COVERED')
    return (cause as Error).message.split('\n')
  }
  return []
}

/** Checks a service that has these routes, as `<METHOD> <path>`. */
const hosts: Readonly<Record<string, (routes: readonly string[]) => Check | Promise<Check>>> = {
  'node:http and Connect': (routes) => (options) => onNode.assertCoverage(routes, types, options),
  Fetch: (routes) => (options) => onFetch.assertCoverage(routes, types, options),
  Koa(routes) {
    const router = new Router()
    for (const [method, path] of routes.map(parts)) router.register(path, [method], [() => {}])
    return (options) => onKoa.assertCoverage(router, types, options)
  },
  Express(routes) {
    const app = express()
    for (const [method, path] of routes.map(parts))
      app.route(path)[method.toLowerCase() as 'post']((_request, response) => response.end())
    return (options) => onExpress.assertCoverage(app, types, options)
  },
  async Fastify(routes) {
    const app = await recordedFastify()
    for (const [method, url] of routes.map(parts)) app.route({ method, url, handler: () => 'done' })
    return (options) => onFastify.assertCoverage(app, types, options)
  },
  Hono(routes) {
    const app = new Hono()
    for (const [method, path] of routes.map(parts))
      app.on(method, path, (context) => context.text('done'))
    return (options) => onHono.assertCoverage(app, types, options)
  },
  h3(routes) {
    const app = new H3()
    for (const [method, path] of routes.map(parts)) app.on(method as 'POST', path, () => 'done')
    return (options) => onH3.assertCoverage(app, types, options)
  },
}

async function recordedFastify() {
  const audit = new AuditLog({ store: memoryStore(), types })
  const app = Fastify()
  onTestFinished(async () => {
    await app.close()
    await audit.close()
  })
  await app.register(onFastify.recordRequests(audit))
  return app
}

function parts(route: string): readonly [method: string, path: string] {
  const [method = '', path = ''] = route.split(' ')
  return [method, path]
}

const ROUTES = ['GET /changes', 'POST /changes', 'POST /changes/:id/start']

/** Routes, options, and the mismatches. */
const TABLE: readonly [
  name: string,
  routes: readonly string[],
  faults: readonly string[],
  options?: Options,
][] = [
  ['passes if routes and types match', ROUTES, []],
  [
    'lists routes without a type and types without a route',
    ['GET /changes', 'POST /changes', 'DELETE /changes/:id'],
    [
      'DELETE /changes/:id records api:changes:destroy, which is not registered',
      'api:changes:start is registered, but no route records it',
    ],
  ],
  [
    'lists an entry of routes that is not a route',
    ROUTES,
    ['routes has PUT /changes, which is not a route'],
    { routes: { 'PUT /changes': 'changes:create' } },
  ],
  [
    'passes for named routes, routes that are not recorded, and excepted types',
    ['PUT /changes', 'POST /login'],
    [],
    {
      routes: { 'PUT /changes': 'changes:create', 'POST /login': false },
      except: ['api:changes:start'],
    },
  ],
  [
    'passes if every GET route is read or excepted',
    [...ROUTES, 'GET /changes/:id', 'GET /health'],
    [],
    {
      reads: ['/changes', 'GET /changes/:id'],
      routes: { 'GET /changes': 'changes:create', 'GET /changes/:id': 'changes:start' },
      except: ['GET /health'],
    },
  ],
  [
    'lists reads that are not routes or have no type, routes that nothing reads, and exceptions without effect',
    [...ROUTES, 'GET /changes/:id', 'GET /health'],
    [
      'GET /changes records api:changes:index, which is not registered',
      'GET /changes/:id is neither in reads nor in except',
      'GET /health is neither in reads nor in except',
      'reads has GET /change, which is not a route',
      'except has GET /helth, which is not a GET route outside of reads',
      'except has GET /changes, which is not a GET route outside of reads',
    ],
    { reads: ['/changes', '/change'], except: ['GET /helth', 'GET /changes'] },
  ],
  [
    'lists an exception of a read without reads',
    ROUTES,
    ['except has GET /changes, which is not a GET route outside of reads'],
    { except: ['GET /changes'] },
  ],
]

describe.each(Object.entries(hosts))('assertCoverage on %s', (_host, create) => {
  it.each(TABLE)('%s', async (_name, routes, faults, options) => {
    const check = await create(routes)
    expect(faultsOf(() => check(options))).toEqual(faults)
  })

  it('refuses a malformed entry of routes', async () => {
    const check = await create(ROUTES)
    expect(() => check({ routes: { changes: 'changes:create' } })).toThrow(
      expect.objectContaining({ code: 'INVALID_OPTION' }),
    )
  })
})

describe('assertCoverage reads the routes', () => {
  const missing = 'api:changes:start is registered, but no route records it'
  const noted = (methods: readonly string[]): readonly string[] =>
    methods.map((one) => {
      const [method, verb] = one.split(' ')
      return `${method} /changes records api:changes:${verb}, which is not registered`
    })

  it('of nested routers, and of several, on Koa', () => {
    const done = (): void => {}
    const changes = new Router({ prefix: '/changes' }).post('/', done).post('/:id/start', done)
    const check = (routers: Router | readonly Router[]) =>
      faultsOf(() => onKoa.assertCoverage(routers, types))
    expect(check(new Router().use('/:tenant', changes.routes()))).toEqual([])
    expect(check([new Router().post('/changes', done), changes])).toEqual([])
    expect(check(new Router().put('named:so', '/changes/:id', done).use(changes.routes()))).toEqual(
      ['PUT /changes/:id records api:named:so, which is not registered'],
    )
    expect(check(new Router().all('/changes', done))).toEqual([
      ...noted(['DELETE destroy', 'PATCH update', 'PUT update']),
      missing,
    ])
    const read = { routes: { 'GET /changes': 'changes:start' }, reads: ['/changes'] }
    const all = new Router().all('/changes', done)
    expect(faultsOf(() => onKoa.assertCoverage(all, types, read))).toEqual(
      noted(['DELETE destroy', 'PATCH update', 'PUT update']),
    )
  })

  it('of apps and nested routers on Express', () => {
    const done = (): void => {}
    const changes = express.Router().get('/', done).post('/', done).post('/:id/start', done)
    const check = (app: onExpress.CoveredRouter | readonly onExpress.CoveredRouter[]) =>
      faultsOf(() => onExpress.assertCoverage(app, types))
    expect(check(express().use(['/changes', '/shop/changes'], changes))).toEqual([])
    const admin = express().delete('/:id', done)
    const app = express().use('/changes', changes).use('/users', admin)
    expect(check(app)).toEqual([])
    expect(check([app, admin])).toEqual([
      'DELETE /users/:id records api:users:destroy, which is not registered',
    ])
    expect(check(express().use(express.Router().all('/changes', done)))).toEqual([
      ...noted(['PUT update', 'PATCH update', 'DELETE destroy']),
      missing,
    ])
  })

  it('of nested apps on Hono, but not middleware', () => {
    const changes = new Hono().onError((error) => new Response(error.message))
    const app = new Hono().post('/admin/*', async (_context, next) => next())
    changes.post('/', (context) => context.text('done'))
    const check = () => faultsOf(() => onHono.assertCoverage(app, types))
    app.route('/changes', changes)
    expect(check()).toEqual([missing])
    app.post('/changes/:id/start', (context) => context.text('done'))
    expect(check()).toEqual([])
  })

  it('only after recordRequests on Fastify, which cannot list earlier routes', async () => {
    const check = (app: Parameters<typeof onFastify.assertCoverage>[0]) => () =>
      onFastify.assertCoverage(app, types)
    const bare = Fastify()
    expect(check(bare)).toThrow()
    await bare.close()
    const app = await recordedFastify()
    app.post('/changes', () => 'done')
    expect(faultsOf(check(app))).toEqual([missing])
  })
})

it('all mismatches are in the cause when the message is cut', () => {
  const moves = Array.from({ length: 50 }, (_, i) => `POST /changes/:id/move${i}`)
  const check = () => onNode.assertCoverage([...ROUTES, ...moves], types)
  const list = faultsOf(check)
  expect(list).toHaveLength(50)
  expect(list[30]).toBe(
    'POST /changes/:id/move30 records api:changes:move30, which is not registered',
  )
  expect(check).toThrow(/move0 records[^]* … [^]*move49 records/)
})
