import { setImmediate } from 'node:timers/promises'
import { type AuditHealth, AuditLog, defineEventTypes } from 'daybook'
import * as forExpress from 'daybook/express'
import * as forFastify from 'daybook/fastify'
import * as forFetch from 'daybook/fetch'
import * as forHono from 'daybook/hono'
import * as forKoa from 'daybook/koa'
import { memoryStore } from 'daybook/memory'
import * as forNode from 'daybook/node'
import { type FaultyStore, faultyStore } from 'daybook/testing'
import Fastify from 'fastify'
import { describe, expect, it, onTestFinished } from 'vitest'
import type { HttpRequest } from '../../src/http/exchange.js'
import { healthEndpoint } from '../../src/http/health.js'
import { type Framework, frameworks, headerOf, type Listener } from '../support/frameworks.js'
import { type RawResponse, send } from '../support/http.js'
import { takeWarnings } from '../support/warnings.js'
import { serveOn } from './until-finished.js'

const TOKEN = 'x-token'

/** Shows the details to clients that know the token. */
async function details(context: object): Promise<boolean> {
  const token = headerOf(context, TOKEN)
  if (token === 'throw') throw Object.assign(new Error('no'), { expose: false })
  return token === 'secret'
}

/** A service that records its requests, with the probes before its authentication. */
const serviceOf = (framework: Framework, audit: AuditLog): Listener =>
  framework({
    record: [audit],
    mounts: [
      ['auditHealth', audit, { details }],
      ['basicAuth', { users: { ann: 'ann' } }],
    ],
  })

function create(): { readonly store: FaultyStore; readonly audit: AuditLog } {
  const store = faultyStore(memoryStore())
  const audit: AuditLog = new AuditLog({ store, types: {} })
  onTestFinished(() => audit.close())
  return { store, audit }
}

const probe = { user: null }

function check(response: RawResponse, status: number, body: unknown): void {
  expect(response.status).toBe(status)
  expect(response.headers).toMatchObject({
    'content-type': 'application/health+json',
    'cache-control': 'no-store',
  })
  expect(JSON.parse(response.body)).toEqual(body)
}

describe.each(Object.entries(frameworks))('auditHealth on %s', (name, framework) => {
  it('answers probes without authentication, with the status alone', async () => {
    const { store, audit } = create()
    const url = await serveOn(serviceOf(framework, audit))
    check(await send(url, '/health/live', probe), 200, { status: 'pass' })
    check(await send(url, '/health/ready', probe), 200, { status: 'pass' })
    store.fail('health')
    check(await send(url, '/health/live', probe), 200, { status: 'pass' })
    check(await send(url, '/health/ready', probe), 503, { status: 'fail' })
    const head = await send(url, '/health/ready', { ...probe, method: 'HEAD' })
    expect([head.status, head.body]).toEqual([503, ''])
    store.heal()
    const known = await send(url, '/health/ready?a=1', { ...probe, headers: { [TOKEN]: 'secret' } })
    expect(known.status).toBe(200)
    expect(JSON.parse(known.body)).toMatchObject({ status: 'pass', store: { name: 'memory' } })
    expect((await audit.list()).events).toEqual([])
  })

  it('passes an error of details to the error handling of the host', async () => {
    const warnings = takeWarnings()
    const url = await serveOn(serviceOf(framework, create().audit))
    const failing = await send(url, '/health/ready', { ...probe, headers: { [TOKEN]: 'throw' } })
    expect(failing.status).toBe(500)
    // Without a framework, there is no warning.
    expect(warnings.map(String)).toEqual(name === 'node:http' ? ['Error: no'] : [])
  })

  it('passes other paths and methods on', async () => {
    const url = await serveOn(serviceOf(framework, create().audit))
    for (const path of ['/health', '/health/', '/health/ready/', '/health/readyz'])
      expect([401, 404]).toContain((await send(url, path, probe)).status)
    const posted = await send(url, '/health/ready', { ...probe, method: 'POST', body: 'x' })
    expect([posted.status, posted.headers.allow]).toEqual([405, 'GET, HEAD'])
  })
})

it('a warning is still ready', async () => {
  const { store, audit } = create()
  audit.on('rejected', () => {})
  store.fail('append', 1)
  await audit.recordCustom('one').catch(() => {})
  const url = await serveOn(serviceOf(frameworks['node:http']!, audit))
  check(await send(url, '/health/ready', probe), 200, { status: 'warn' })
})

it('probes that arrive while the log is checked share the result', async () => {
  const passing: AuditHealth = await create().audit.health()
  let checks = 0
  let answer = (): void => {}
  const endpoint = healthEndpoint({
    health() {
      checks += 1
      return new Promise((resolve) => (answer = () => resolve(passing)))
    },
  })
  const request = { method: 'GET', path: '/health/ready' } as HttpRequest
  const responses = [endpoint(request), endpoint(request)]
  await setImmediate()
  answer()
  for (const response of responses) expect(await response).toMatchObject({ status: 200 })
  expect(checks).toBe(1)
  const next = endpoint(request)
  await setImmediate()
  answer()
  expect(await next).toMatchObject({ status: 200 })
  expect(checks).toBe(2)
})

it('another path, also as a plugin of Fastify with a prefix', async () => {
  const { audit } = create()
  const app = Fastify()
  void app.register(forFastify.auditHealth(audit, { path: '/inner/probes' }), { prefix: '/inner' })
  await app.ready()
  onTestFinished(() => app.close())
  const url = await serveOn((request, response) => app.routing(request, response))
  check(await send(url, '/inner/probes/ready', probe), 200, { status: 'pass' })
})

it.each([
  [{ path: 'health' }, /^path must be an absolute path/],
  [{ path: '/' }, /it is "\/"$/],
  [{ path: '/health/' }, /it is "\/health\/"$/],
  [{ timeoutMs: 0 }, /^timeoutMs must be/],
  [{ details: true as never }, /^details must be a function/],
])('%o is refused when it is mounted', (options, message) => {
  const { audit } = create()
  for (const mount of [forKoa, forNode, forExpress, forFastify, forFetch, forHono])
    expect(() => mount.auditHealth(audit, options)).toThrow(
      expect.objectContaining({
        code: 'INVALID_OPTION',
        message: expect.stringMatching(message) as string,
      }),
    )
})

it('assertCoverage of Fastify asks for no types of the feed and the page', async () => {
  const { audit } = create()
  const app = Fastify()
  onTestFinished(() => app.close())
  await app.register(forFastify.recordRequests(audit))
  void app.register(forFastify.auditRoutes(audit))
  void app.register(forFastify.auditPage(audit))
  app.post('/orders', () => 'done')
  await app.ready()
  forFastify.assertCoverage(app, defineEventTypes({ 'api:orders:create': {} }))
})
