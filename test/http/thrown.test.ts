import { types as valueTypes } from 'node:util'
import vm from 'node:vm'
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
import { AuditLog, AuditLogError, AuditLogs } from 'daybook'
import { memoryLogs, memoryStore } from 'daybook/memory'
import * as onNode from 'daybook/node'
import { HTTPException } from 'hono/http-exception'
import { afterAll, beforeAll, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest'
import { thrownError } from '../../src/http/thrown-error.js'
import { type App, expressMounts, frameworks, registerOn } from '../support/frameworks.js'
import { JSON_API } from '../support/http.js'
import { listen, type Listening } from '../support/node-server.js'
import { openStream } from '../support/server-sent.js'

/*
 * Functions of the host that throw anything, on every host. The request must be refused, the server must answer, and
 * the error handling of the host must get an error.
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

/** Errors that reach the error handling of the host unchanged. */
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

/**
 * One value of each kind: false values, words with a meaning for routers, successes, and errors that are passed on
 * unchanged.
 */
const SOME = [
  'undefined',
  'route',
  'a proxy that throws',
  'an error that is a success',
  'an error of ours',
  'an empty text',
  'a success',
  'an error of another realm',
]

// oxlint-disable-next-line unicorn/no-thenable -- a function of a host may return one
const thenable = (then: PropertyDescriptor): object => Object.defineProperty({}, 'then', then)

/** Ways in which a function fails. */
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

/** The function that fails now, and its way. */
let failing: { readonly name: string; readonly fail: () => unknown } | undefined

/** A function of the host that returns the value, unless this function is to fail. */
const host =
  <Value>(name: string, value: Value) =>
  (): Value =>
    failing?.name === name ? (failing.fail() as Value) : value

/** The errors that the error handling of the host got. */
const arrived: unknown[] = []
/** True after a handler of the host has run. */
let isInside = false
function inside(): string {
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
  address: host('address', '127.0.0.1'),
  users: () => (failing?.name === 'store.penalty' ? false : host('users', true)()),
  failures: { store: counter },
}
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
  address: host('record address', '127.0.0.1'),
  route: host('record route', '/inside'),
}

let audit: AuditLog
let logs: AuditLogs

const newApp = (): App => ({
  record: [audit, recording],
  mounts: [
    ['auditHealth', audit, { details: host('health details', true) }],
    ['basicAuth', auth],
    ['auditRoutes', audit, reading('feed')],
    ['logRoutes', logs, reading('logs')],
    ['subscriptionRoutes', audit, managing('subscriptions')],
    ['viewRoutes', audit, managing('views')],
    ['auditPage', audit, { username: host('page username', 'ann') }],
  ],
  lists: { '/things': things },
  routes: {
    'GET /inside': () => ({ status: 200, body: inside() }),
    'POST /inside': () => ({ status: 200, body: inside() }),
  },
  onError: arrive,
})

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

async function running(app: INestApplication): Promise<Listening> {
  await app.listen(0, '127.0.0.1')
  return { url: await app.getUrl(), close: () => app.close() }
}

async function onNestWithExpress(): Promise<Listening> {
  const app = await NestFactory.create(InsideModule, { logger: false, forceCloseConnections: true })
  const { mounts, lists } = expressMounts(newApp())
  for (const mount of mounts) app.use(mount)
  for (const [path, list] of lists) app.use(path, list)
  app.useGlobalFilters(new Arriving(app.get(HttpAdapterHost).httpAdapter))
  return running(app)
}

async function onNestWithFastify(): Promise<Listening> {
  const adapter = new FastifyAdapter({ forceCloseConnections: true })
  const app = await NestFactory.create<NestFastifyApplication>(InsideModule, adapter, {
    logger: false,
  })
  // Nest sets its error handler after the plugins. Their routes keep the error handler of Fastify.
  await registerOn(app.getHttpAdapter().getInstance(), newApp())
  return running(app)
}

type Start = () => Promise<Listening>

const HOSTS: readonly (readonly [name: string, start: Start])[] = [
  ...Object.entries(frameworks).map(([name, framework]): [string, Start] => [
    name,
    () => listen(framework(newApp())),
  ]),
  ['NestJS on Express', onNestWithExpress],
  ['NestJS on Fastify', onNestWithFastify],
]

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
  kind: { path: '/api/notification_channels', method: 'POST', body: newChannel },
  'views username': { path: '/api/views' },
  'views authorize': { path: '/api/views' },
  'page username': { path: '/audit' },
  'list source': { path: '/things' },
  'list visible': { path: '/things' },
  'list resource': { path: '/things' },
  'list item': { path: '/things' },
}

/** Functions that may throw a response to the client. */
const ANSWERING = new Set(['kind', 'list resource', 'list item'])
/** Functions whose result is used at once. */
const SYNCHRONOUS = new Set(['list resource', 'list item'])
/** Hosts that know the address of the client. */
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

/** Time after which a server counts as hung. */
const HUNG_MS = 20_000

/** Cases: each function fails in each way. `users` fails with all values, other functions with a part of them. */
function casesFor(host: string): readonly (readonly [name: string, way: string, value: string])[] {
  const names = Object.keys(FUNCTIONS).filter(
    (name) => name !== 'address' || !WITHOUT_ADDRESS.has(host),
  )
  return names.flatMap((name, n) => {
    const ways = Object.keys(WAYS)
    if (name === 'users')
      return ways.flatMap((way) => SOME.map((value) => [name, way, value] as const))
    return ways.map((way, i) => {
      const value = SOME[(n + i) % SOME.length]!
      return [name, SYNCHRONOUS.has(name) ? 'throws' : way, value] as const
    })
  })
}

interface Case {
  readonly name: string
  readonly way: string
  readonly value: string
}

/** The faults of the answer to a request for which a function fails. */
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

describe.each(HOSTS)('on %s', (hostName, start) => {
  let server: Listening
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
    for (const [name, way, value] of casesFor(hostName)) {
      const fault = await faultOf(server.url, { name, way, value })
      if (fault !== undefined) faults.push(`${name} ${way} ${value}: ${fault}`)
    }
    expect(faults).toEqual([])
  })

  it('requests are recorded even if a function of recordRequests throws', async () => {
    const faults: string[] = []
    const called = new Set<string>()
    for (const [n, name] of ['describe', 'requestId', 'username', 'address', 'route'].entries())
      for (const [i, way] of ['throws', 'rejects'].entries()) {
        isInside = false
        arrived.length = 0
        const value = SOME[(2 * n + i) % SOME.length]!
        const fail = (): unknown => {
          called.add(name)
          return WAYS[way]!(VALUES[value])
        }
        failing = { name: `record ${name}`, fail }
        const { status } = await ask(server.url, { path: '/inside', method: 'POST' })
        failing = undefined
        const [last] = (await audit.list('limit=1')).events
        const seen = {
          status,
          isInside,
          isRecorded: last?.type.startsWith('api:') && last.attributes['response_status'] === 200,
          areErrors: arrived.every((error) => valueTypes.isNativeError(error)),
          isReported: arrived.length > 0 || !called.has(name),
        }
        const isRight = Object.values(seen).every((one) => one === true || one === 200)
        if (!isRight) faults.push(`${name} ${way} ${value}: ${JSON.stringify(seen)}`)
      }
    expect(faults).toEqual([])
    expect([...called]).toEqual(expect.arrayContaining(['describe', 'requestId', 'username']))
  })

  it('users that never settle admit no one', async () => {
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
    // This request gets no response, but a later request does.
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
      // The others end a stream without a word.
      expect(arrived).toHaveLength(/Fastify|Fetch|Hono|h3/.test(hostName) ? 0 : 1)
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
