import type http from 'node:http'
import { Readable } from 'node:stream'
import { setTimeout as delay } from 'node:timers/promises'
import Router, { type RouterMiddleware } from '@koa/router'
import { getRequestListener } from '@hono/node-server'
import connect from 'connect'
import type { AuditLog } from 'daybook'
import * as forExpress from 'daybook/express'
import * as forFastify from 'daybook/fastify'
import * as forFetch from 'daybook/fetch'
import * as forHono from 'daybook/hono'
import * as forKoa from 'daybook/koa'
import * as forNode from 'daybook/node'
import express, { type ErrorRequestHandler, type RequestHandler } from 'express'
import Fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify'
import { H3, type H3Event } from 'h3'
import { toNodeHandler } from 'h3/node'
import { type Context, Hono } from 'hono'
import Koa from 'koa'
import * as forH3 from './h3/index.js'

/* One app, built on each framework. */

export type Listener = (request: http.IncomingMessage, response: http.ServerResponse) => unknown

export type State = Record<PropertyKey, unknown>

/** A request to the app. */
export interface Call {
  readonly method: string
  /** The URL as the client sent it. */
  readonly target: string
  /** The object in which authentication sets `username`. */
  readonly state: State
  readonly params: Readonly<Record<string, unknown>>
  /** The value of a header, or an empty text. */
  header(name: string): string
  /** Aborts when the client has disconnected. */
  readonly closed: AbortSignal
}

export interface Answer {
  readonly status: number
  readonly type?: string
  /** A list is streamed. */
  readonly body?: string | readonly string[]
}

export type Handler = (call: Call) => Answer | Promise<Answer>

/** Handlers by `<METHOD> <path>`. */
export type Routes = Readonly<Record<string, Handler>>

/** The names of the entry points `daybook/koa` and so on. `h3` is an adapter of the tests. */
export type EntryName = 'koa' | 'node' | 'express' | 'fastify' | 'fetch' | 'hono' | 'h3'

/** A function of an entry point with its arguments, or a function that creates a mount for the entry point. */
export type Layer =
  | readonly [name: string, ...args: readonly unknown[]]
  | ((entry: EntryName) => unknown)

/** Requests pass through the members in this order. */
export interface App {
  /** The arguments of `recordRequests`. Without them, requests are not recorded. */
  readonly record?: readonly [audit: AuditLog, options?: object] | undefined
  /** Middleware of the host. It answers a request, or passes it on. */
  readonly own?: (call: Call) => Answer | undefined
  readonly mounts?: readonly Layer[]
  /** The options of `listRoute` by path. */
  readonly lists?: Readonly<Record<string, object>>
  readonly routes?: Routes
  /** The error handler. By default, the framework handles errors. */
  readonly answerTo?: (error: unknown) => Answer
  /** Gets the errors that the framework handles. */
  readonly onError?: (error: unknown) => void
}

/** Builds an app on a framework. */
export type Framework = (app: App) => Listener

const missing: Answer = { status: 404, type: 'text/plain', body: 'nothing is here' }

/** A response to an error, as many hosts send it. */
function plainAnswer(error: unknown): Answer {
  const { status, statusCode } = error as { readonly status?: number; readonly statusCode?: number }
  return { status: status ?? statusCode ?? 500, body: 'it failed' }
}

/** Options that some entry points do not take, by function. */
type Untaken = Readonly<Record<string, readonly string[]>>

/** The mounts of an app on one entry point. */
function mountsOf<Mount>(
  [name, entry]: readonly [EntryName, object],
  { record, mounts = [], lists = {} }: App,
  untaken: Untaken = {},
) {
  const take = (called: string, args: readonly unknown[]): Mount => {
    const taken = args.map((arg) => {
      if (Object.getPrototypeOf(arg) !== Object.prototype) return arg
      const members = Object.entries(arg as object)
      return Object.fromEntries(members.filter(([key]) => !untaken[called]?.includes(key)))
    })
    return (entry as Record<string, (...args: readonly unknown[]) => Mount>)[called]!(...taken)
  }
  return {
    recording: record && take('recordRequests', record),
    mounts: mounts.map((layer) => {
      if (typeof layer === 'function') return layer(name) as Mount
      const [called, ...args] = layer
      return take(called, args)
    }),
    lists: Object.entries(lists).map(
      ([path, options]) => [path, take('listRoute', [options])] as const,
    ),
  }
}

const routesOf = ({ routes = {} }: App) =>
  Object.entries(routes).map(([key, handler]) => {
    const [method = '', path = ''] = key.split(' ')
    return { method, path, handler }
  })

async function* chunksOf(chunks: readonly string[]): AsyncGenerator<string> {
  for (const chunk of chunks) {
    await delay(1)
    yield chunk
  }
}

function send(response: http.ServerResponse, { status, type, body }: Answer): void {
  response.statusCode = status
  if (type) response.setHeader('content-type', type)
  if (typeof body === 'object') Readable.from(chunksOf(body)).pipe(response)
  else response.end(body)
}

function signalOf(response: http.ServerResponse): AbortSignal {
  const controller = new AbortController()
  response.once('close', () => controller.abort())
  return controller.signal
}

type NodeExchange = readonly [request: http.IncomingMessage, response: http.ServerResponse]

/** A call of a framework on `node:http`. `state` is the object that its handlers get. */
const callOf = (
  [request, response]: NodeExchange,
  params: Call['params'] = {},
  state: object = request,
): Call => ({
  method: request.method ?? '',
  target: (request as { originalUrl?: string }).originalUrl ?? request.url ?? '',
  state: state as State,
  params,
  header: (name) => String(request.headers[name] ?? ''),
  closed: signalOf(response),
})

/** A simple router, for services without a framework. */
function routerOf(app: App) {
  const routes = routesOf(app).map((route) => ({
    ...route,
    pattern: new RegExp(`^${route.path.replaceAll(/:(\w+)/g, '(?<$1>[^/]+)')}$`),
  }))
  return ({ method, url = '' }: Pick<http.IncomingMessage, 'method' | 'url'>) => {
    const [path = ''] = url.split('?')
    for (const route of routes) {
      const match = route.method === method ? route.pattern.exec(path) : null
      if (match) return { ...route, params: { ...match.groups } }
    }
    return undefined
  }
}

type FindRoute = ReturnType<typeof routerOf>

/** The app with the option `route` of `recordRequests`, for entry points that know no router. */
const withRoute = (app: App, route: (request: never) => string | undefined): App =>
  app.record ? { ...app, record: [app.record[0], { route, ...app.record[1] }] } : app

async function runOnNode(find: FindRoute, ...[request, response]: NodeExchange): Promise<void> {
  const route = find(request)
  Object.assign(request, { params: route?.params })
  const call = callOf([request, response], route?.params)
  send(response, route ? await route.handler(call) : missing)
}

const onNode: Framework = (app) => {
  const find = routerOf(app)
  const { record, own, answerTo = plainAnswer, ...rest } = app
  const { mounts, lists } = mountsOf<forNode.NodeMiddleware>(['node', forNode], rest)
  const run: Listener = async (request, response) => {
    try {
      await runOnNode(find, request, response)
    } catch (error) {
      forNode.recordErrors(error, request, response, () => send(response, answerTo(error)))
    }
  }
  const listed: Listener = (request, response) => {
    const list = lists.find(([path]) => request.url!.startsWith(path))
    return list ? list[1](request, response, () => undefined) : run(request, response)
  }
  const mounted = mounts.reduceRight<Listener>(
    (next, mount) => (request, response) => mount(request, response, () => next(request, response)),
    listed,
  )
  const listener: Listener = (request, response) => {
    const answer = own?.(callOf([request, response]))
    return answer ? send(response, answer) : mounted(request, response)
  }
  if (!record) return listener
  const [audit, options] = record
  const route = (request: http.IncomingMessage): string | undefined => find(request)?.path
  return forNode.recordListener(audit, listener, { route, ...options })
}

/** An error handler of Connect and Express. */
const handlerOf =
  ({ answerTo, onError }: App) =>
  (
    error: unknown,
    _request: unknown,
    response: http.ServerResponse,
    next: (error: unknown) => void,
  ) => {
    onError?.(error)
    if (answerTo) send(response, answerTo(error))
    else next(error)
  }

const ownOnNode =
  ({ own }: App): forNode.NodeMiddleware =>
  (request, response, next) => {
    const answer = own?.(callOf([request, response]))
    if (answer) send(response, answer)
    else next()
  }

const onConnect: Framework = (app) => {
  const find = routerOf(app)
  const route = (request: http.IncomingMessage): string | undefined => find(request)?.path
  const { recording, mounts, lists } = mountsOf<forNode.NodeMiddleware>(
    ['node', forNode],
    withRoute(app, route),
  )
  const server = connect()
  for (const mount of [...(recording ? [recording] : []), ownOnNode(app), ...mounts])
    server.use(mount)
  for (const [path, list] of lists) server.use(path, list)
  const run = async (...exchange: readonly [...NodeExchange, connect.NextFunction]) => {
    const [request, response, next] = exchange
    try {
      await runOnNode(find, request, response)
    } catch (error) {
      next(error)
    }
  }
  server.use((...exchange) => void run(...exchange))
  server.use(forNode.recordErrors as connect.ErrorHandleFunction)
  return server.use(handlerOf(app) as connect.ErrorHandleFunction)
}

/** The middleware of an app for Express, and for frameworks that are built on it. */
export function expressMounts(app: App) {
  const { recording, mounts, lists } = mountsOf<RequestHandler>(['express', forExpress], app, {
    recordRequests: ['address', 'route'],
  })
  const own = ownOnNode(app) as RequestHandler
  return { mounts: [...(recording ? [recording] : []), own, ...mounts], lists }
}

/** Express, with further middleware before everything else. */
export const expressAfter =
  (...before: readonly RequestHandler[]): Framework =>
  (app) => {
    const server = express().set('env', 'test')
    const { mounts, lists } = expressMounts(app)
    for (const mount of [...before, ...mounts]) server.use(mount)
    for (const [path, list] of lists) server.get(path, list)
    for (const { method, path, handler } of routesOf(app)) {
      const route = server.route(path)
      route[method.toLowerCase() as 'post'](async (request, response) =>
        send(response, await handler(callOf([request, response], request.params))),
      )
    }
    server.use((_request, response) => send(response, missing))
    return server.use(handlerOf(app) as ErrorRequestHandler)
  }

const WITHOUT_ADDRESS = { recordRequests: ['address', 'route'], basicAuth: ['address'] }

function answerOnKoa(ctx: Koa.Context, { status, type, body }: Answer): void {
  ctx.status = status
  if (type) ctx.set('content-type', type)
  if (body !== undefined) ctx.body = typeof body === 'string' ? body : Readable.from(chunksOf(body))
}

const callOnKoa = ({ req, res, params, state }: Koa.Context): Call =>
  callOf([req, res], params as Call['params'], state)

const onKoa: Framework = (app) => {
  const { answerTo, onError, own } = app
  const server = new Koa()
  server.silent = true
  if (onError) server.on('error', onError)
  if (answerTo)
    server.use(async (ctx, next) => {
      await next().catch((error: unknown) => answerOnKoa(ctx, answerTo(error)))
    })
  const { recording, mounts, lists } = mountsOf<Koa.Middleware>(
    ['koa', forKoa],
    app,
    WITHOUT_ADDRESS,
  )
  if (recording) server.use(recording)
  server.use((ctx, next) => {
    const answer = own?.(callOnKoa(ctx))
    return answer ? answerOnKoa(ctx, answer) : next()
  })
  for (const mount of mounts) server.use(mount)
  const router = new Router()
  for (const [path, list] of lists) router.get(path, list as RouterMiddleware)
  for (const { method, path, handler } of routesOf(app)) {
    const handle: RouterMiddleware = async (ctx) => answerOnKoa(ctx, await handler(callOnKoa(ctx)))
    router.register(path, [method], [handle])
  }
  server.use(router.routes())
  server.use((ctx) => answerOnKoa(ctx, missing))
  return server.callback()
}

function answerOnFastify(reply: FastifyReply, { status, type, body }: Answer): FastifyReply {
  reply.code(status)
  if (type) reply.header('content-type', type)
  return reply.send(typeof body === 'object' ? Readable.from(chunksOf(body)) : body)
}

const callOnFastify = (request: FastifyRequest, reply: FastifyReply): Call =>
  callOf([request.raw, reply.raw], request.params as Call['params'], request)

/** Registers the mounts of an app on Fastify, or on a framework that is built on it. */
export async function registerOn(
  server: Pick<FastifyInstance, 'register' | 'addHook' | 'get'>,
  app: App,
): Promise<void> {
  const { recording, mounts, lists } = mountsOf<forFastify.FastifyPlugin>(
    ['fastify', forFastify],
    app,
    WITHOUT_ADDRESS,
  )
  const { onError, own } = app
  if (onError) server.addHook('onError', async (_request, _reply, error) => onError(error))
  if (recording) await server.register(recording)
  server.addHook('onRequest', async (request, reply) => {
    const answer = own?.(callOnFastify(request, reply))
    return answer && answerOnFastify(reply, answer)
  })
  for (const mount of mounts) await server.register(mount)
  for (const [path, list] of lists) server.get(path, list as never)
}

const onFastify: Framework = (app) => {
  const server = Fastify()
  const start = async (): Promise<void> => {
    await registerOn(server, app)
    const { answerTo } = app
    if (answerTo)
      server.setErrorHandler((error, _request, reply) => answerOnFastify(reply, answerTo(error)))
    server.setNotFoundHandler((_request, reply) => answerOnFastify(reply, missing))
    for (const { method, path, handler } of routesOf(app))
      server.route({
        method,
        url: path,
        handler: async (request, reply) =>
          answerOnFastify(reply, await handler(callOnFastify(request, reply))),
      })
    await server.ready()
  }
  const started = start()
  return async (request, response) => {
    await started
    server.routing(request, response)
  }
}

async function* bytesOf(chunks: readonly string[]): AsyncGenerator<Uint8Array> {
  for await (const chunk of chunksOf(chunks)) yield Buffer.from(chunk)
}

function toResponse({ status, type, body }: Answer): Response {
  const content = typeof body === 'object' ? ReadableStream.from(bytesOf(body)) : body
  return new Response(content ?? null, {
    status,
    headers: { ...(type && { 'content-type': type }) },
  })
}

interface Env {
  readonly incoming: http.IncomingMessage
}

type FetchHandler = (request: Request, env: Env) => Promise<Response>

/** @hono/node-server without its own classes `Request` and `Response`, which are global. */
const fetchListener = (handler: (request: Request, env: Env) => unknown): Listener =>
  getRequestListener((request, env) => handler(request, env as Env), {
    overrideGlobalObjects: false,
  })

const callOnFetch = (
  request: Request,
  { incoming }: Env,
  params: Call['params'] = {},
  state: State = request as unknown as State,
): Call => ({
  method: request.method,
  target: incoming.url ?? '',
  state,
  params,
  header: (name) => request.headers.get(name) ?? '',
  closed: request.signal,
})

/** The path of the URL, and the method, as the router of `node:http` reads them. */
const targetOf = ({ method, url }: Request) => ({ method, url: new URL(url).pathname })

/** True for a layer of `daybook/fetch` that takes a handler. All other layers are mounts. */
const isWrapping = (layer: Layer): boolean =>
  typeof layer !== 'function' && layer[0] === 'basicAuth'

const onFetch: Framework = (app) => {
  const { own, answerTo = plainAnswer, onError } = app
  const find = routerOf(app)
  const route = (request: Request): string | undefined => find(targetOf(request))?.path
  type Wrap = (handler: FetchHandler) => FetchHandler
  const { recording, mounts, lists } = mountsOf<forFetch.FetchMount | Wrap>(
    ['fetch', forFetch],
    withRoute(app, route),
  )
  const run: FetchHandler = async (request, env) => {
    const list = lists.find(([path]) => new URL(request.url).pathname === path)?.[1]
    if (list) return (await (list as forFetch.FetchMount)(request, env))!
    const route = find(targetOf(request))
    return toResponse(
      route ? await route.handler(callOnFetch(request, env, route.params)) : missing,
    )
  }
  const mounted = mounts.reduceRight<FetchHandler>((next, mount, i) => {
    if (isWrapping(app.mounts![i]!)) return (mount as Wrap)(next)
    return async (request, env) =>
      (await (mount as forFetch.FetchMount)(request, env)) ?? next(request, env)
  }, run)
  const handle: FetchHandler = async (request, env) => {
    const answer = own?.(callOnFetch(request, env))
    return answer ? toResponse(answer) : mounted(request, env)
  }
  const handler = recording ? (recording as Wrap)(handle) : handle
  return fetchListener(async (request, env) => {
    try {
      return await handler(request, env)
    } catch (error) {
      onError?.(error)
      return toResponse(answerTo(error))
    }
  })
}

type HonoContext = Context<{ Bindings: Env; Variables: Record<string, unknown> }>

function callOnHono(context: HonoContext): Call {
  const { req } = context
  const set = (_target: State, name: string | symbol, value: unknown): boolean => {
    context.set(String(name), value)
    return true
  }
  const state = new Proxy<State>({}, { set })
  return callOnFetch(req.raw, context.env, req.param(), state)
}

const onHono: Framework = (app) => {
  const server = new Hono<{ Bindings: Env; Variables: Record<string, unknown> }>()
  const { recording, mounts, lists } = mountsOf<forHono.HonoMiddleware>(['hono', forHono], app, {
    recordRequests: ['route'],
  })
  if (recording) server.use(recording)
  server.use(async (context, next) => {
    const answer = app.own?.(callOnHono(context))
    return answer ? toResponse(answer) : next()
  })
  for (const mount of mounts) server.use(mount)
  for (const [path, list] of lists) server.get(path, list)
  for (const { method, path, handler } of routesOf(app))
    server.on(method, path, async (context) => toResponse(await handler(callOnHono(context))))
  server.onError((error) => {
    app.onError?.(error)
    if (app.answerTo) return toResponse(app.answerTo(error))
    // Hono does the same without `onError`.
    const { getResponse } = error as { getResponse?: () => Response }
    return getResponse?.call(error) ?? new Response('it failed', { status: 500 })
  })
  server.notFound(() => toResponse(missing))
  return fetchListener(server.fetch)
}

const callOnH3 = ({ req, context }: H3Event): Call => ({
  method: req.method,
  target: req.runtime!.node!.req.url!,
  state: context as unknown as State,
  params: context.params ?? {},
  header: (name) => req.headers.get(name) ?? '',
  closed: req.signal,
})

const onH3: Framework = (app) => {
  const { own, answerTo, onError } = app
  const server = new H3({
    silent: true,
    onError(error) {
      const thrown = error.cause instanceof Error ? error.cause : error
      onError?.(thrown)
      return answerTo && toResponse(answerTo(thrown))
    },
  })
  const { recording, mounts, lists } = mountsOf<forH3.H3Middleware>(['h3', forH3], app, {
    recordRequests: ['route'],
  })
  if (recording) server.use(recording)
  server.use((event, next) => {
    const answer = own?.(callOnH3(event))
    return answer ? toResponse(answer) : next()
  })
  for (const mount of mounts) server.use(mount)
  server.use((event, next) => (event.context.matchedRoute ? next() : toResponse(missing)))
  for (const [path, list] of lists) server.get(path, list as never)
  for (const { method, path, handler } of routesOf(app))
    server.on(method as 'POST', path, async (event) => toResponse(await handler(callOnH3(event))))
  return toNodeHandler(server)
}

export const frameworks: Readonly<Record<string, Framework>> = {
  Koa: onKoa,
  'node:http': onNode,
  Connect: onConnect,
  Express: expressAfter(),
  Fastify: onFastify,
  Fetch: onFetch,
  Hono: onHono,
  h3: onH3,
}

/** The object that the entry points pass to functions of the host. */
interface HostContext {
  readonly headers?: object
  readonly req?: { readonly raw: Request }
  readonly state?: { readonly username?: string | null }
  readonly username?: string | null
  readonly context?: { readonly username?: string | null }
  get?(name: string): unknown
}

/** The value of a header, by the context of any framework. */
export function headerOf(context: object, name: string): string | undefined {
  const { headers, req } = context as HostContext
  const found = headers ?? req!.raw.headers
  if (found instanceof Headers) return found.get(name) ?? undefined
  return (found as Record<string, string | undefined>)[name]
}

/** The user that `basicAuth` found, by the context of any framework. */
export function userOf(context: object): unknown {
  const { state, username, get, context: ofH3 } = context as HostContext
  if (ofH3) return ofH3.username
  return state ? state.username : (username ?? get?.call(context, 'username'))
}
