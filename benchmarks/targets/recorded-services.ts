import { createServer, type Server } from 'node:http'
import { json } from 'node:stream/consumers'
import { createAdaptorServer } from '@hono/node-server'
import { bodyParser } from '@koa/bodyparser'
import Router from '@koa/router'
import type { AuditLog } from 'daybook'
import * as forExpress from 'daybook/express'
import * as forFastify from 'daybook/fastify'
import * as forFetch from 'daybook/fetch'
import * as forHono from 'daybook/hono'
import * as forKoa from 'daybook/koa'
import * as forNode from 'daybook/node'
import express from 'express'
import Fastify from 'fastify'
import { Hono } from 'hono'
import Koa from 'koa'
import { listen, type Listening, listenOn } from '../harness/listen.js'

/*
 * The same small service on each framework: one route, which responds at once with the JSON that it got. With a log, its
 * requests are recorded.
 */

export const PATH = '/api/things'

let things = 0
const created = (body: unknown): object => ({ id: ++things, ...(body as object) })

const onKoa = (audit?: AuditLog): Promise<Listening> => {
  const app = new Koa()
  if (audit) app.use(forKoa.recordRequests(audit))
  app.use(bodyParser())
  const router = new Router()
  router.post(PATH, (ctx) => {
    ctx.status = 201
    ctx.body = created(ctx.request.body)
  })
  app.use(router.routes())
  return listen(app)
}

const onExpress = (audit?: AuditLog): Promise<Listening> => {
  const app = express()
  if (audit) app.use(forExpress.recordRequests(audit))
  app.use(express.json())
  app.post(PATH, (request, response) => {
    response.status(201).json(created(request.body))
  })
  return listenOn(createServer(app))
}

const onFastify = async (audit?: AuditLog): Promise<Listening> => {
  const app = Fastify({ forceCloseConnections: true })
  if (audit) await app.register(forFastify.recordRequests(audit))
  app.post(PATH, (request, reply) => reply.code(201).send(created(request.body)))
  const url = await app.listen({ port: 0, host: '127.0.0.1' })
  return { url, close: () => void app.close() }
}

const onHono = (audit?: AuditLog): Promise<Listening> => {
  const app = new Hono()
  if (audit) app.use(forHono.recordRequests(audit))
  app.post(PATH, async (context) => context.json(created(await context.req.json()), 201))
  return listenOn(createAdaptorServer({ fetch: app.fetch }) as Server)
}

const onFetch = (audit?: AuditLog): Promise<Listening> => {
  const handle = async (request: Request): Promise<Response> =>
    Response.json(created(await request.json()), { status: 201 })
  const fetch = audit ? forFetch.recordRequests(audit)(handle, PATH) : handle
  return listenOn(createAdaptorServer({ fetch }) as Server)
}

const onNode = (audit?: AuditLog): Promise<Listening> => {
  const handle: forNode.RecordedListener = async (request, response) => {
    const body = await json(request)
    Object.assign(request, { body })
    response
      .writeHead(201, { 'content-type': 'application/json' })
      .end(JSON.stringify(created(body)))
  }
  const listener = audit ? forNode.recordListener(audit, handle, { route: () => PATH }) : handle
  return listenOn(createServer(listener))
}

export const services = {
  Koa: onKoa,
  Express: onExpress,
  Fastify: onFastify,
  Hono: onHono,
  Fetch: onFetch,
  'node:http': onNode,
}
export type Framework = keyof typeof services
