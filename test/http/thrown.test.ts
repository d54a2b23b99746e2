import { types as valueTypes } from 'node:util'
import vm from 'node:vm'
import { getRequestListener } from '@hono/node-server'
import Router from '@koa/router'
import {
  All,
  type ArgumentsHost,
  Catch,
  Controller,
  HttpCode,
  HttpException,
  type INestApplication,
  Module,
} from '@nestjs/common'
import { BaseExceptionFilter, HttpAdapterHost, NestFactory } from '@nestjs/core'
import { FastifyAdapter, type NestFastifyApplication } from '@nestjs/platform-fastify'
import connect from 'connect'
import { AuditLog, AuditLogError, AuditLogs } from 'daybook'
import * as onExpress from 'daybook/express'
import * as onFastify from 'daybook/fastify'
import * as onFetch from 'daybook/fetch'
import * as onHono from 'daybook/hono'
import * as onKoa from 'daybook/koa'
import { memoryLogs, memoryStore } from 'daybook/memory'
import * as onNode from 'daybook/node'
import express, { type ErrorRequestHandler } from 'express'
import Fastify, { type FastifyInstance } from 'fastify'
import { Hono } from 'hono'
import { HTTPException } from 'hono/http-exception'
import Koa from 'koa'
import { afterAll, beforeAll, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest'
import { basicAuthentication } from '../../src/http/basic-auth.js'
import { thrownError } from '../../src/http/thrown-error.js'
import { JSON_API } from '../support/http.js'
import { listen } from '../support/node-server.js'
import { openStream } from '../support/server-sent.js'

/*
 * Whatever a function of the host throws, on every host: the request is refused, the server answers, and the error handling of
 * the host gets an error.
 */

const throws = (): never => {
  throw new Error('it cannot be read')
}
const hostile: ProxyHandler<object> = {
  get: throws,
  has: throws,
  getPrototypeOf: throws,
  ownKeys: throws,
  getOwnPropertyDescriptor: throws,
}
const revoked = (): object => {
  const { proxy, revoke } = Proxy.revocable({}, {})
  revoke()
  return proxy
}
const errorWith = (members: object): Error => Object.assign(new Error('it failed'), members)
const errorThat = (descriptors: PropertyDescriptorMap): Error =>
  Object.defineProperties(new Error('it failed'), descriptors)

/** Values that some server takes for no error, answers as a success, or cannot answer. */
const NO_ERRORS: Readonly<Record<string, unknown>> = {
  undefined: undefined,
  null: null,
  false: false,
  true: true,
  zero: 0,
  NaN: Number.NaN,
  'a number': 200,
  'a bigint': 10n,
  'an empty text': '',
  route: 'route',
  router: 'router',
  'a text': 'the directory is away',
  'a symbol': Symbol('away'),
  'a function': () => true,
  'an object': {},
  'an object without a prototype': Object.create(null),
  'a list': [],
  'a success': { status: 200, message: 'OK', expose: true },
  'a success without content': { statusCode: 204, message: 'OK', expose: true },
  'a response': new Response('in'),
  'an object whose message throws': {
    get message() {
      return throws()
    },
  },
  'an object whose texts throw': {
    toString: throws,
    toJSON: throws,
    [Symbol.toPrimitive]: throws,
    [Symbol.for('nodejs.util.inspect.custom')]: throws,
  },
  'an object whose tag throws': {
    get [Symbol.toStringTag]() {
      return throws()
    },
  },
  'a proxy that throws': new Proxy({}, hostile),
  'a proxy of an error': new Proxy(new Error('it failed'), hostile),
  'a revoked proxy': revoked(),
  'an error that is a success': errorWith({ status: 200 }),
  'an error that is a success without content': errorWith({ statusCode: 204, expose: true }),
  'an error that is a redirect': errorWith({ status: 302, headers: { location: '/inside' } }),
  'an error with a status as text': errorWith({ status: '200' }),
  'an error with an unknown status': errorWith({ statusCode: 1000 }),
  'an error with a header that cannot be sent': errorWith({
    status: 503,
    headers: { 'a b': '\n' },
  }),
  'an error with a response': errorWith({ getResponse: () => new Response('in') }),
  'an error whose message throws': errorThat({ message: { get: throws } }),
  'an error whose stack throws': errorThat({ stack: { get: throws } }),
  'an error whose status throws': errorThat({ status: { get: throws, enumerable: true } }),
  'an error whose message is no text': errorThat({ message: { value: {} } }),
  'an error that is frozen': Object.freeze(new Error('it failed')),
  'an error whose prototype throws': Object.setPrototypeOf(
    new Error('it failed'),
    new Proxy({}, hostile),
  ) as unknown,
  'a success of Hono': new HTTPException(200),
  'a success of NestJS': new HttpException('OK', 200),
  'a success of another realm': vm.runInNewContext(
    'Object.assign(new Error("x"), { status: 200 })',
  ) as unknown,
}

/** Errors that reach the error handling of the host as they are. */
const ERRORS: Readonly<Record<string, unknown>> = {
  'an error': new Error('the directory is away'),
  'an error of the class': new TypeError('the directory is away'),
  'an error of ours': new AuditLogError('INVALID_VALUE', 'a query of the host is wrong'),
  'an error with a status': errorWith({ status: 503, headers: { 'retry-after': '5' } }),
  'an error without a stack': errorWith({ stack: undefined }),
  'an aborted signal': new DOMException('it was aborted', 'AbortError'),
  'an error by inheritance': Object.create(Error.prototype, {
    message: { value: 'it failed' },
  }) as unknown,
  'an error of another realm': vm.runInNewContext(
    'new TypeError("the directory is away")',
  ) as unknown,
}

const VALUES = { ...NO_ERRORS, ...ERRORS }

/** For functions that are called in the same way as others. */
const SOME = [
  'undefined',
  'an empty text',
  'route',
  'a success',
  'a proxy that throws',
  'an error that is a success',
  'an error of ours',
  'an error of another realm',
]

// oxlint-disable-next-line unicorn/no-thenable -- a function of a host may return one
const thenable = (then: PropertyDescriptor): object => Object.defineProperty({}, 'then', then)

/** How a function fails. */
const WAYS: Readonly<Record<string, (value: unknown) => unknown>> = {
  throws(value) {
    throw value
  },
  rejects: (value) => Promise.reject(value),
  'returns what rejects': (value) =>
    thenable({ value: (_: unknown, reject: (reason: unknown) => void) => reject(value) }),
  'returns what throws': (value) =>
    thenable({
      get() {
        throw value
      },
    }),
}

/** Which function fails now, and how. */
let failing: { readonly name: string; readonly fail: () => unknown } | undefined

/** A function of the host that returns the value, unless it is the one that fails. */
const host =
  <Value>(name: string, value: Value) =>
  (): Value =>
    failing?.name === name ? (failing.fail() as Value) : value

/** What the error handling of the host got. */
const arrived: unknown[] = []
/** Whether a handler of the host ran. */
let isInside = false
const inside = (): string => {
  isInside = true
  return 'in'
}
const arrive = (error: unknown): void => void arrived.push(error)

const MARK = 'only-in-the-log'
const ALL = 'all' as const
const counter = () => ({
  get: async () => host('store.get', null)(),
  penalty: async () => host('store.penalty', { consumedPoints: 1, msBeforeNext: 1000 })(),
  delete: async () => host('store.delete', true)(),
})
const auth = {
  users: () => (failing?.name === 'store.penalty' ? false : host('users', true)()),
  failures: { store: counter },
}
const authWithAddress = { ...auth, address: host('address', '127.0.0.1') }
const reading = (kind: string) => ({
  authorize: host(`${kind} authorize`, true),
  visible: host(`${kind} visible`, ALL),
  onRead: host<void>(`${kind} onRead`, undefined),
  username: host(`${kind} username`, 'ann'),
})
const managing = (kind: string) => ({
  authorize: host(`${kind} authorize`, ALL),
  username: host(`${kind} username`, 'ann'),
})
interface Item {
  readonly id: string
  readonly name: string
}
async function* items(): AsyncGenerator<Item> {
  yield { id: '1', name: MARK }
  host('list item', undefined)()
}
const things = {
  attributes: { name: 'string' } as const,
  source: () => host('list source', items())(),
  visible: host('list visible', ALL),
  resource: (item: Item): object => host('list resource', item)(),
}
const recording = {
  required: true,
  describe: host('record describe', { name: 'x' }),
  requestId: host('record requestId', 'r1'),
  username: host('record username', 'ann'),
}
const address = host('record address', '127.0.0.1')
const route = host('record route', '/inside')

let audit: AuditLog
let logs: AuditLogs

/** The entry points have the same functions. */
interface Entry<Mounted> {
  auditHealth(audit: AuditLog, options: object): Mounted
  auditRoutes(audit: AuditLog, options: object): Mounted
  logRoutes(logs: AuditLogs, options: object): Mounted
  subscriptionRoutes(audit: AuditLog, options: object): Mounted
  viewRoutes(audit: AuditLog, options: object): Mounted
  auditPage(audit: AuditLog, options: object): Mounted
}

const health = <Mounted>(entry: Entry<Mounted>): Mounted =>
  entry.auditHealth(audit, { details: host('health details', true) })

const endpoints = <Mounted>(entry: Entry<Mounted>): Mounted[] => [
  entry.auditRoutes(audit, reading('feed')),
  entry.logRoutes(logs, reading('logs')),
  entry.subscriptionRoutes(audit, managing('subscriptions')),
  entry.viewRoutes(audit, managing('views')),
  entry.auditPage(audit, { username: host('page username', 'ann') }),
]

interface Running {
  readonly url: string
  close(): Promise<void>
}

function onNodeHttp(): Promise<Running> {
  const record = onNode.recordRequests(audit, { ...recording, address, route })
  const authenticate = onNode.basicAuth(authWithAddress)
  const mounts = endpoints(onNode)
  const listThings = onNode.listRoute<Item>(things)
  const isHealthy = health(onNode)
  return listen((request, response) => {
    const run = (): void => {
      const last: onNode.NodeListener = request.url?.startsWith('/things')
        ? listThings
        : () => response.end(inside())
      const chain = [...mounts, last].reduceRight<() => void>(
        (next, mount) => () => mount(request, response, next),
        () => undefined,
      )
      authenticate(request, response, () => chain())
    }
    record(request, response, () => isHealthy(request, response, () => run()))
  })
}

function onConnectApp(): Promise<Running> {
  const app = connect()
  app.use(onNode.recordRequests(audit, { ...recording, address, route }))
  for (const mount of [health(onNode), onNode.basicAuth(authWithAddress), ...endpoints(onNode)])
    app.use(mount)
  app.use('/things', onNode.listRoute<Item>(things))
  app.use((_request, response) => void response.end(inside()))
  const handle: connect.ErrorHandleFunction = (error, _request, _response, next) => {
    arrive(error)
    next(error)
  }
  return listen(app.use(handle))
}

function onExpressApp(): Promise<Running> {
  const app = express()
  app.use(onExpress.recordRequests(audit, recording))
  app.use(health(onExpress), onExpress.basicAuth(authWithAddress), ...endpoints(onExpress))
  app.get('/things', onExpress.listRoute<Item>(things))
  app.use((_request, response) => void response.send(inside()))
  const handle: ErrorRequestHandler = (error, _request, _response, next) => {
    arrive(error)
    next(error)
  }
  return listen(app.use(handle))
}

function onKoaApp(): Promise<Running> {
  const app = new Koa()
  app.on('error', arrive)
  app.use(onKoa.recordRequests(audit, recording))
  app.use(health(onKoa))
  app.use(onKoa.basicAuth(auth))
  for (const mount of endpoints(onKoa)) app.use(mount)
  app.use(new Router().get('/things', onKoa.listRoute<Item>(things)).routes())
  app.use((ctx) => {
    ctx.body = inside()
  })
  return listen(app.callback())
}

async function onFastifyApp(): Promise<Running> {
  const app: FastifyInstance = Fastify({ forceCloseConnections: true })
  app.addHook('onError', async (_request, _reply, error) => arrive(error))
  await registerOn(app)
  app.get('/things', onFastify.listRoute<Item>(things))
  app.all('/inside', () => inside())
  const url = await app.listen({ port: 0, host: '127.0.0.1' })
  return { url, close: () => app.close() }
}

async function registerOn(app: Pick<FastifyInstance, 'register'>): Promise<void> {
  const plugins = [
    onFastify.recordRequests(audit, recording),
    health(onFastify),
    onFastify.basicAuth(auth),
    ...endpoints(onFastify),
  ]
  for (const plugin of plugins) await app.register(plugin)
}

const served = (handler: (request: Request, env: unknown) => unknown): Promise<Running> =>
  listen(getRequestListener(handler, { overrideGlobalObjects: false }))

/** As many hosts answer errors. */
function answerTo(error: unknown): Response {
  arrive(error)
  const { status, statusCode } = error as { readonly status?: number; readonly statusCode?: number }
  return new Response('it failed', { status: status ?? statusCode ?? 500 })
}

function onFetchHandlers(): Promise<Running> {
  const isHealthy = health(onFetch)
  const mounts = endpoints(onFetch)
  const listThings = onFetch.listRoute<Item>(things)
  const authenticated = onFetch.basicAuth(authWithAddress)(async (
    request: Request,
    env: unknown,
  ) => {
    for (const mount of mounts) {
      const response = await mount(request, env)
      if (response) return response
    }
    if (request.url.includes('/things')) return (await listThings(request))!
    return new Response(inside())
  })
  const handler = onFetch.recordRequests(audit, { ...recording, address, route })(
    async (request: Request, env: unknown) =>
      (await isHealthy(request, env)) ?? authenticated(request, env),
  )
  return served(async (request, env) => {
    try {
      return await handler(request, env)
    } catch (error) {
      return answerTo(error)
    }
  })
}

function onHonoApp(): Promise<Running> {
  const app = new Hono()
  app.use(onHono.recordRequests(audit, { ...recording, address }))
  app.use(health(onHono), onHono.basicAuth(authWithAddress))
  for (const mount of endpoints(onHono)) app.use(mount)
  app.get('/things', onHono.listRoute<Item>(things))
  app.all('/inside', (context) => context.text(inside()))
  app.onError((error) => {
    arrive(error)
    // As Hono does without `onError`.
    return 'getResponse' in error
      ? (error as HTTPException).getResponse()
      : new Response('it failed', { status: 500 })
  })
  return served(app.fetch)
}

@Controller()
class InsideController {
  @All('inside')
  @HttpCode(200)
  inside(): string {
    return inside()
  }
}

@Catch()
class Arriving extends BaseExceptionFilter {
  override catch(error: unknown, argumentsHost: ArgumentsHost): void {
    arrive(error)
    super.catch(error, argumentsHost)
  }
}

@Module({ controllers: [InsideController] })
class InsideModule {}

async function running(app: INestApplication): Promise<Running> {
  await app.listen(0, '127.0.0.1')
  return { url: await app.getUrl(), close: () => app.close() }
}

async function onNestWithExpress(): Promise<Running> {
  const app = await NestFactory.create(InsideModule, { logger: false, forceCloseConnections: true })
  app.use(onExpress.recordRequests(audit, recording))
  app.use(health(onExpress), onExpress.basicAuth(authWithAddress), ...endpoints(onExpress))
  app.use('/things', onExpress.listRoute<Item>(things))
  app.useGlobalFilters(new Arriving(app.get(HttpAdapterHost).httpAdapter))
  return running(app)
}

async function onNestWithFastify(): Promise<Running> {
  const adapter = new FastifyAdapter({ forceCloseConnections: true })
  const app = await NestFactory.create<NestFastifyApplication>(InsideModule, adapter, {
    logger: false,
  })
  const fastify = app.getHttpAdapter().getInstance()
  // Nest sets its error handler after the plugins, whose routes keep that of Fastify.
  fastify.addHook('onError', async (_request, _reply, error) => arrive(error))
  await registerOn(app as unknown as FastifyInstance)
  fastify.get('/things', onFastify.listRoute<Item>(things) as never)
  return running(app)
}

const HOSTS: Readonly<Record<string, () => Promise<Running>>> = {
  'node:http': onNodeHttp,
  Connect: onConnectApp,
  Express: onExpressApp,
  Koa: onKoaApp,
  Fastify: onFastifyApp,
  Fetch: onFetchHandlers,
  Hono: onHonoApp,
  'NestJS on Express': onNestWithExpress,
  'NestJS on Fastify': onNestWithFastify,
}

interface Asked {
  readonly path: string
  readonly method?: string
  readonly body?: () => object
}

let channels = 0
const newChannel = (): object => {
  const attributes = { name: `channel-${channels++}`, kind: 'own', config: {} }
  return { data: { type: 'notification_channel', attributes } }
}

/** A request that calls each of the functions. */
const FUNCTIONS: Readonly<Record<string, Asked>> = {
  users: { path: '/inside' },
  address: { path: '/inside' },
  'store.get': { path: '/inside' },
  'store.penalty': { path: '/inside' },
  'store.delete': { path: '/inside' },
  'health details': { path: '/health/ready' },
  'feed username': { path: '/api/events' },
  'feed authorize': { path: '/api/events' },
  'feed visible': { path: '/api/events/counts' },
  'feed onRead': { path: '/api/events' },
  'logs username': { path: '/api/logs/acme/events' },
  'logs authorize': { path: '/api/logs' },
  'logs visible': { path: '/api/logs/acme,umbrella/events' },
  'logs onRead': { path: '/api/logs/acme/events' },
  'subscriptions username': { path: '/api/subscriptions' },
  'subscriptions authorize': { path: '/api/subscriptions/me' },
  kind: {
    path: '/api/notification_channels',
    method: 'POST',
    body: newChannel,
  },
  'views username': { path: '/api/views' },
  'views authorize': { path: '/api/views' },
  'page username': { path: '/audit' },
  'list source': { path: '/things' },
  'list visible': { path: '/things' },
  'list resource': { path: '/things' },
  'list item': { path: '/things' },
}

/** What these throw may be an answer to the client. */
const ANSWERING = new Set(['kind', 'list resource', 'list item'])
/** Functions whose result is used at once. */
const SYNCHRONOUS = new Set(['list resource', 'list item'])
/** These hosts know the address of the client. */
const WITHOUT_ADDRESS = new Set(['Koa', 'Fastify', 'NestJS on Fastify'])

async function ask(url: string, { path, method = 'GET', body }: Asked) {
  const response = await fetch(url + path, {
    method,
    redirect: 'manual',
    headers: {
      authorization: `Basic ${Buffer.from('ann:ann').toString('base64')}`,
      ...(body && { 'content-type': JSON_API }),
    },
    ...(body && { body: JSON.stringify(body()) }),
    signal: AbortSignal.timeout(HUNG_MS),
  })
  return { status: response.status, body: await response.text() }
}

/** For a server that does not answer. */
const HUNG_MS = 20_000

interface Case {
  readonly name: string
  readonly way: string
  readonly value: string
}

/** What is wrong with the answer to a request for which a function fails. */
async function faultOf(url: string, { name, way, value }: Case): Promise<string | undefined> {
  isInside = false
  arrived.length = 0
  failing = { name, fail: () => WAYS[way]!(VALUES[value]) }
  try {
    const { status, body } = await ask(url, FUNCTIONS[name]!)
    if (isInside) return 'let in'
    if (status < 400) return `answered with ${status}`
    if (body.includes(MARK)) return 'showed the log'
    return ANSWERING.has(name) ? undefined : arrivalFault(value)
  } catch (error) {
    return isInside ? 'let in' : `no answer: ${String(error)}`
  } finally {
    failing = undefined
  }
}

/** The error handling got the error itself, or an error with the value as its cause. */
function arrivalFault(value: string): string | undefined {
  const thrown = VALUES[value]
  const [error] = arrived
  if (arrived.length !== 1) return `${arrived.length} errors arrived`
  if (Object.is(error, thrown) && value in ERRORS) return undefined
  if (!valueTypes.isNativeError(error)) return 'no error arrived'
  if (value in ERRORS && value !== 'an error of another realm') return 'another error arrived'
  return Object.is(error.cause, thrown) ? undefined : 'the cause is missing'
}

beforeAll(async () => {
  audit = new AuditLog({
    store: memoryStore(),
    types: {},
    subscriptions: {
      deliver: false,
      kinds: {
        own: {
          read: () => host('kind', { config: {}, secrets: {} })(),
          open: () => ({ deliver: async () => undefined }),
        },
      },
    },
  })
  logs = new AuditLogs({ stores: memoryLogs(), types: {} })
  await audit.recordCustom('note', { text: MARK })
  for (const key of ['acme', 'umbrella']) await logs.log(key).recordCustom('note', { text: MARK })
})
afterAll(async () => {
  await audit.close()
  await logs.close()
})

describe.each(Object.entries(HOSTS))('on %s', (hostName, start) => {
  let server: Running
  beforeAll(async () => {
    server = await start()
  })
  afterAll(() => server.close())
  beforeEach(() => {
    const spy = vi.spyOn(process, 'emitWarning').mockImplementation(arrive)
    return () => spy.mockRestore()
  })

  it('requests are answered while nothing fails', async () => {
    for (const asked of Object.values(FUNCTIONS)) {
      const { status } = await ask(server.url, asked)
      expect([asked.path, status < 300]).toEqual([asked.path, true])
    }
    expect((await ask(server.url, { path: '/api/events' })).body).toContain(MARK)
  })

  it('nothing that a function throws lets anyone in', async () => {
    const faults: string[] = []
    for (const name of Object.keys(FUNCTIONS)) {
      if (name === 'address' && WITHOUT_ADDRESS.has(hostName)) continue
      const ways = SYNCHRONOUS.has(name) ? ['throws'] : Object.keys(WAYS)
      const cases =
        name === 'users'
          ? [
              ...Object.keys(VALUES).flatMap((value) => [
                ['throws', value],
                ['rejects', value],
              ]),
              ...SOME.flatMap((value) => ways.slice(2).map((way) => [way, value])),
            ]
          : SOME.map((value, i) => [ways[i % ways.length]!, value])
      for (const [way, value] of cases as [string, string][]) {
        const fault = await faultOf(server.url, { name, way, value })
        if (fault !== undefined) faults.push(`${name} ${way} ${value}: ${fault}`)
      }
    }
    expect(faults).toEqual([])
  })

  it('requests are recorded without what a function of recordRequests throws', async () => {
    const faults: string[] = []
    const called = new Set<string>()
    for (const name of ['describe', 'requestId', 'username', 'address', 'route'])
      for (const [i, value] of SOME.entries()) {
        isInside = false
        arrived.length = 0
        const way = i % 2 === 0 ? 'throws' : 'rejects'
        const fail = (): unknown => {
          called.add(name)
          return WAYS[way]!(VALUES[value])
        }
        failing = { name: `record ${name}`, fail }
        const { status } = await ask(server.url, { path: '/inside', method: 'POST' })
        failing = undefined
        const [last] = (await audit.list('limit=1')).events
        const isRecorded =
          last?.type.startsWith('api:') && last.attributes['response_status'] === 200
        const areErrors = arrived.every((error) => valueTypes.isNativeError(error))
        const isReported = arrived.length > 0 || !called.has(name)
        if (status !== 200 || !isInside || !isRecorded || !areErrors || !isReported)
          faults.push(
            `${name} ${way} ${value}: ${JSON.stringify({ status, isInside, isRecorded, areErrors, isReported })}`,
          )
      }
    expect(faults).toEqual([])
    expect([...called]).toEqual(expect.arrayContaining(['describe', 'requestId', 'username']))
  })

  it('users that never settle let no one in', async () => {
    const client = new AbortController()
    const called = new Promise<void>((resolve) => {
      failing = {
        name: 'users',
        fail() {
          resolve()
          return new Promise(() => undefined)
        },
      }
    })
    const authorization = `Basic ${Buffer.from('ann:ann').toString('base64')}`
    isInside = false
    const asked = fetch(`${server.url}/inside`, {
      headers: { authorization },
      signal: client.signal,
    })
    await called
    failing = undefined
    // A later request is answered, this one is not.
    expect((await ask(server.url, { path: '/api/events/me' })).status).toBe(200)
    client.abort()
    await expect(asked).rejects.toThrow('aborted')
    expect(isInside).toBe(false)
  })

  it('a stream that a function breaks is cut off', async () => {
    // @hono/node-server writes the errors of streams.
    const silent = vi.spyOn(console, 'error').mockImplementation(() => undefined)
    onTestFinished(() => silent.mockRestore())
    for (const value of ['undefined', 'route', 'a proxy that throws']) {
      arrived.length = 0
      const stream = await openStream(`${server.url}/api/events/stream`)
      failing = { name: 'feed onRead', fail: () => WAYS['rejects']!(VALUES[value]) }
      await audit.recordCustom('note', { text: MARK })
      expect([value, await stream.ended]).toEqual([value, 'cut off'])
      failing = undefined
      expect(stream.sent.events).toEqual([])
      expect(arrived.every((error) => valueTypes.isNativeError(error))).toBe(true)
    }
  })
})

describe('thrownError', () => {
  it.each(Object.entries(NO_ERRORS))(
    'gives an error with a message and %s as cause',
    (_, value) => {
      const error = thrownError(value)
      expect(Object.is(error, value)).toBe(false)
      expect(error).toBeInstanceOf(Error)
      expect(Object.is(error.cause, value)).toBe(true)
      expect(typeof error.message).toBe('string')
      expect(thrownError(error)).toBe(error)
    },
  )

  it.each(Object.entries(ERRORS))('gives %s as it is', (_, value) => {
    expect(thrownError(value)).toBe(value)
  })

  it('keeps the message, and shows no members of an object', () => {
    const messageOf = (value: unknown): string => thrownError(value).message
    expect(messageOf('away')).toBe("a value that is not an error was thrown: 'away'")
    expect(messageOf({ message: 'away', password: 'x' })).toBe(
      'a value that is not an error was thrown: away',
    )
    expect(messageOf({ password: 'x' })).toBe('a value that is not an error was thrown: an object')
    expect(messageOf(errorWith({ status: 200 }))).toBe('it failed')
  })
})

it.each([undefined, null, false, 0, ''])('recordErrors passes an error on for %o', (value) => {
  const passed: unknown[] = []
  onNode.recordErrors(value, {} as never, {} as never, (error) => void passed.push(error))
  expect(passed).toEqual([expect.objectContaining({ cause: value })])
})

describe('a user name that every object has', () => {
  it.each(['__proto__', 'constructor', 'toString', 'hasOwnProperty', 'valueOf'])(
    '%s does not sign in',
    async (name) => {
      const authenticate = basicAuthentication({ users: { ann: 'ann' }, failures: false })
      for (const password of [
        '',
        '[object Object]',
        'undefined',
        'null',
        String(Object.prototype[name as 'toString']),
      ]) {
        const encoded = Buffer.from(`${name}:${password}`).toString('base64')
        expect(await authenticate(`Basic ${encoded}`, () => '')).toMatchObject({
          refusal: { status: 401 },
        })
      }
    },
  )

  it('signs in only if it is a user', async () => {
    const users = JSON.parse('{"__proto__":"secret"}') as Record<string, string>
    const authenticate = basicAuthentication({ users, failures: false })
    const attempt = (password: string) =>
      authenticate(`Basic ${Buffer.from(`__proto__:${password}`).toString('base64')}`, () => '')
    expect(await attempt('secret')).toEqual({ username: '__proto__' })
    expect(await attempt('other')).toMatchObject({ refusal: { status: 401 } })
  })

  it.each(['ann:ann', ['ann'], null, undefined, 5])(
    '%o instead of users is refused at once',
    (users) => {
      expect(() => basicAuthentication({ users: users as never })).toThrow(
        expect.objectContaining({
          code: 'INVALID_OPTION',
          message: expect.stringContaining('users must be') as string,
        }),
      )
    },
  )
})
