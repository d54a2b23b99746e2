import http from 'node:http'
import { type AddressInfo } from 'node:net'
import { Readable } from 'node:stream'
import { setTimeout as delay } from 'node:timers/promises'
import Router from '@koa/router'
import { getRequestListener } from '@hono/node-server'
import connect from 'connect'
import type { Actor, AuditLog } from 'daybook'
import * as forExpress from 'daybook/express'
import * as forFastify from 'daybook/fastify'
import * as forFetch from 'daybook/fetch'
import * as forHono from 'daybook/hono'
import * as forKoa from 'daybook/koa'
import * as forNode from 'daybook/node'
import express, { type ErrorRequestHandler, type RequestHandler } from 'express'
import Fastify, { type FastifyReply } from 'fastify'
import { Hono } from 'hono'
import Koa from 'koa'

/* One service that records its requests, on each framework. */

export type State = Record<PropertyKey, unknown>

/** A request of the service. */
export interface Call {
  /** Where authentication leaves `username`. */
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

export interface Service {
  /** By `<METHOD> <path>`. */
  readonly routes: Readonly<Record<string, Handler>>
  /** Undefined: requests are not recorded. */
  readonly audit?: AuditLog | undefined
  readonly record?: {
    readonly required?: boolean
    readonly routes?: Record<string, string | false>
    readonly username?: () => Actor | string | null
  }
}

export interface RunningHost {
  readonly port: number
  readonly url: string
  close(): Promise<void>
}

export interface RecordedHost {
  start(service: Service): Promise<RunningHost>
}

/** The response of the error handler of every host. */
export function answerTo(error: unknown): Answer {
  const { status = 500, message } = Object(error) as { status?: number; message?: string }
  return { status, type: 'text/plain', body: status < 500 ? String(message) : 'it failed' }
}

const missing: Answer = { status: 404, type: 'text/plain', body: 'nothing is here' }

type Listener = (request: http.IncomingMessage, response: http.ServerResponse) => unknown

export async function serve(listener: Listener): Promise<RunningHost> {
  const server = http.createServer((request, response) => void listener(request, response))
  server.listen(0, '127.0.0.1')
  await new Promise((resolve) => server.once('listening', resolve))
  const { port } = server.address() as AddressInfo
  return {
    port,
    url: `http://127.0.0.1:${port}`,
    async close() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

export async function* chunksOf(chunks: readonly string[]): AsyncGenerator<string> {
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

const callOf = (
  request: http.IncomingMessage,
  response: http.ServerResponse,
  params: Call['params'],
): Call => ({
  state: request as unknown as State,
  params,
  header: (name) => String(request.headers[name] ?? ''),
  closed: signalOf(response),
})

export const entriesOf = ({ routes }: Service) =>
  Object.entries(routes).map(([key, handler]) => {
    const [method = '', path = ''] = key.split(' ')
    return { method, path, handler }
  })

/** A router as services on `node:http` write it. */
function nodeRouter(service: Service) {
  const routes = entriesOf(service).map((route) => ({
    ...route,
    pattern: new RegExp(`^${route.path.replaceAll(/:(\w+)/g, '(?<$1>[^/]+)')}$`),
  }))
  return (request: http.IncomingMessage) => {
    const [path = ''] = (request.url ?? '').split('?')
    for (const route of routes) {
      const match = route.method === request.method ? route.pattern.exec(path) : null
      if (match) return { ...route, params: { ...match.groups } }
    }
    return undefined
  }
}

async function runOnNode(
  find: ReturnType<typeof nodeRouter>,
  request: http.IncomingMessage,
  response: http.ServerResponse,
): Promise<void> {
  const route = find(request)
  Object.assign(request, { params: route?.params })
  send(response, route ? await route.handler(callOf(request, response, route.params)) : missing)
}

const onNode: RecordedHost = {
  start(service) {
    const find = nodeRouter(service)
    const listener = async (
      request: http.IncomingMessage,
      response: http.ServerResponse,
    ): Promise<void> => {
      try {
        await runOnNode(find, request, response)
      } catch (error) {
        forNode.recordErrors(error, request, response, () => send(response, answerTo(error)))
      }
    }
    const { audit, record } = service
    const route = (request: http.IncomingMessage): string | undefined => find(request)?.path
    return serve(audit ? forNode.recordListener(audit, listener, { ...record, route }) : listener)
  },
}

const onConnect: RecordedHost = {
  start(service) {
    const find = nodeRouter(service)
    const app = connect()
    const { audit, record } = service
    const route = (request: http.IncomingMessage): string | undefined => find(request)?.path
    if (audit) app.use(forNode.recordRequests(audit, { ...record, route }))
    app.use((request, response, next: connect.NextFunction) => {
      const run = async (): Promise<void> => {
        try {
          await runOnNode(find, request, response)
        } catch (error) {
          next(error)
        }
      }
      void run()
    })
    app.use(forNode.recordErrors as connect.ErrorHandleFunction)
    const handleError: connect.ErrorHandleFunction = (error: unknown, _request, response, _next) =>
      send(response, answerTo(error))
    app.use(handleError)
    return serve(app)
  },
}

const onExpress: RecordedHost = {
  start(service) {
    const app = express()
    const { audit, record = {} } = service
    if (audit) app.use(forExpress.recordRequests(audit, record))
    for (const { method, path, handler } of entriesOf(service)) {
      const handle: RequestHandler = async (request, response) =>
        send(response, await handler(callOf(request, response, request.params)))
      app.route(path)[method.toLowerCase() as 'post'](handle)
    }
    app.use((_request, response) => send(response, missing))
    const handleError: ErrorRequestHandler = (error: unknown, _request, response, _next) =>
      send(response, answerTo(error))
    return serve(app.use(handleError))
  },
}

const onKoa: RecordedHost = {
  start(service) {
    const app = new Koa()
    const { audit, record = {} } = service
    const answer = (ctx: Koa.Context, { status, type, body }: Answer): void => {
      ctx.status = status
      if (type) ctx.set('content-type', type)
      if (body !== undefined)
        ctx.body = typeof body === 'string' ? body : Readable.from(chunksOf(body))
    }
    app.use(async (ctx, next) => {
      await next().catch((error: unknown) => answer(ctx, answerTo(error)))
    })
    if (audit) app.use(forKoa.recordRequests(audit, record))
    const router = new Router()
    for (const { method, path, handler } of entriesOf(service))
      router.register(
        path,
        [method],
        [
          async (ctx) => {
            const { state, params, res } = ctx
            const header = (name: string): string => ctx.get(name)
            answer(ctx, await handler({ state, params, header, closed: signalOf(res) }))
          },
        ],
      )
    app.use(router.routes())
    app.use((ctx) => answer(ctx, missing))
    return serve(app.callback())
  },
}

const onFastify: RecordedHost = {
  async start(service) {
    const app = Fastify({ forceCloseConnections: true })
    const { audit, record = {} } = service
    const answer = (reply: FastifyReply, { status, type, body }: Answer): FastifyReply => {
      reply.code(status)
      if (type) reply.header('content-type', type)
      return reply.send(typeof body === 'object' ? Readable.from(chunksOf(body)) : body)
    }
    if (audit) await app.register(forFastify.recordRequests(audit, record))
    app.setErrorHandler((error, _request, reply) => answer(reply, answerTo(error)))
    app.setNotFoundHandler((_request, reply) => answer(reply, missing))
    for (const { method, path, handler } of entriesOf(service))
      app.route({
        method,
        url: path,
        handler: async (request, reply) => {
          const params = request.params as Call['params']
          answer(
            reply,
            await handler({
              ...callOf(request.raw, reply.raw, params),
              state: request as unknown as State,
            }),
          )
          return reply
        },
      })
    const url = await app.listen({ port: 0, host: '127.0.0.1' })
    return { url, port: Number(new URL(url).port), close: () => app.close() }
  },
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

/** @hono/node-server without its own classes `Request` and `Response`, which are global. */
const serveFetch = (handler: (request: Request, env: unknown) => unknown): Promise<RunningHost> =>
  serve(getRequestListener(handler, { overrideGlobalObjects: false }))

/** The path of the URL, and the method, as the router of `node:http` reads them. */
const targetOf = ({ method, url }: Request): http.IncomingMessage =>
  ({ method, url: url.replace(/^[a-z]+:\/\/[^/]+/, '') }) as http.IncomingMessage

const onFetch: RecordedHost = {
  start(service) {
    const find = nodeRouter(service)
    const handle = async (request: Request, _env: unknown): Promise<Response> => {
      const route = find(targetOf(request))
      if (!route) return toResponse(missing)
      const { params } = route
      const state = request as unknown as State
      const header = (name: string): string => request.headers.get(name) ?? ''
      return toResponse(await route.handler({ state, params, header, closed: request.signal }))
    }
    const { audit, record } = service
    const route = (request: Request): string | undefined => find(targetOf(request))?.path
    const handler = audit ? forFetch.recordRequests(audit, { ...record, route })(handle) : handle
    return serveFetch(async (request, env) => {
      try {
        return await handler(request, env)
      } catch (error) {
        return toResponse(answerTo(error))
      }
    })
  },
}

const onHono: RecordedHost = {
  start(service) {
    const app = new Hono<{ Variables: Record<string, unknown> }>()
    const { audit, record = {} } = service
    if (audit) app.use(forHono.recordRequests(audit, record))
    for (const { method, path, handler } of entriesOf(service))
      app.on(method, path, async (context) => {
        const { req } = context
        const state = new Proxy<State>(
          {},
          {
            set(_target, name, value) {
              context.set(String(name), value)
              return true
            },
          },
        )
        const header = (name: string): string => req.header(name) ?? ''
        const params = req.param() as Call['params']
        return toResponse(await handler({ state, params, header, closed: req.raw.signal }))
      })
    app.onError((error) => toResponse(answerTo(error)))
    app.notFound(() => toResponse(missing))
    return serveFetch(app.fetch)
  },
}

export const recordedHosts: Readonly<Record<string, RecordedHost>> = {
  Koa: onKoa,
  'node:http': onNode,
  Connect: onConnect,
  Express: onExpress,
  Fastify: onFastify,
  Fetch: onFetch,
  Hono: onHono,
}
