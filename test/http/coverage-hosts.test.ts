import Router from '@koa/router'
import { AuditLog, type AuditLogError, defineEventTypes, type EventTypes } from 'daybook'
import * as onExpress from 'daybook/express'
import * as onFastify from 'daybook/fastify'
import * as onFetch from 'daybook/fetch'
import * as onHono from 'daybook/hono'
import * as onKoa from 'daybook/koa'
import { memoryStore } from 'daybook/memory'
import * as onNode from 'daybook/node'
import express from 'express'
import Fastify from 'fastify'
import { Hono } from 'hono'
import { describe, expect, it, onTestFinished } from 'vitest'

const types = defineEventTypes({
  'api:changes:create': {},
  'api:changes:start': {},
  'error:changes:create': {},
  'info:changes:done': {},
})

type Check = (types: EventTypes, options?: onNode.AssertCoverageOptions) => void

/** Checks a service that has these routes, as `<METHOD> <path>`. */
const hosts: Readonly<Record<string, (routes: readonly string[]) => Check | Promise<Check>>> = {
  'node:http and Connect':
    (routes) =>
    (...rest) =>
      onNode.assertCoverage(routes, ...rest),
  Fetch:
    (routes) =>
    (...rest) =>
      onFetch.assertCoverage(routes, ...rest),
  Koa(routes) {
    const router = new Router()
    for (const [method, path] of routes.map(parts)) router.register(path, [method], [() => {}])
    return (...rest) => onKoa.assertCoverage(router, ...rest)
  },
  Express(routes) {
    const app = express()
    for (const [method, path] of routes.map(parts))
      app.route(path)[method.toLowerCase() as 'post']((_request, response) => response.end())
    return (...rest) => onExpress.assertCoverage(app, ...rest)
  },
  async Fastify(routes) {
    const audit = new AuditLog({ store: memoryStore(), types })
    const app = Fastify()
    onTestFinished(async () => {
      await app.close()
      await audit.close()
    })
    await app.register(onFastify.recordRequests(audit))
    for (const [method, url] of routes.map(parts)) app.route({ method, url, handler: () => 'done' })
    return (...rest) => onFastify.assertCoverage(app, ...rest)
  },
  Hono(routes) {
    const app = new Hono()
    for (const [method, path] of routes.map(parts))
      app.on(method, path, (context) => context.text('done'))
    return (...rest) => onHono.assertCoverage(app, ...rest)
  },
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
  options?: onNode.AssertCoverageOptions,
][] = [
  ['passes if routes and types match', ROUTES, []],
  [
    'lists a route whose type is not registered',
    [...ROUTES, 'DELETE /changes/:id'],
    ['DELETE /changes/:id records api:changes:destroy, which is not registered'],
  ],
  [
    'lists a type that no route records',
    ['GET /changes', 'POST /changes'],
    ['api:changes:start is registered, but no route records it'],
  ],
  [
    'lists an entry of routes that is no route',
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
]

describe.each(Object.entries(hosts))('assertCoverage on %s', (_host, create) => {
  it.each(TABLE)('%s', async (_name, routes, faults, options) => {
    const check = await create(routes)
    const found = (): readonly string[] => {
      try {
        check(types, options)
      } catch (error) {
        const { code, cause } = error as AuditLogError
        expect(code).toBe('NOT_COVERED')
        return (cause as Error).message.split('\n')
      }
      return []
    }
    expect(found()).toEqual(faults)
  })

  it('refuses a malformed entry of routes', async () => {
    const check = await create(ROUTES)
    expect(() => check(types, { routes: { changes: 'changes:create' } })).toThrow(
      expect.objectContaining({ code: 'INVALID_OPTION' }),
    )
  })
})
