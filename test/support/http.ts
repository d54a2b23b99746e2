import http from 'node:http'
import type { AddressInfo } from 'node:net'
import Router from '@koa/router'
import { AuditLog, type EventStore } from 'daybook'
import {
  auditRoutes,
  type AuditRoutesOptions,
  basicAuth,
  recordRequests,
  type RecordRequestsOptions,
} from 'daybook/koa'
import { memoryStore } from 'daybook/memory'
import { workflowEventTypes, workflowLinks } from 'daybook/workflow'
import Koa, { type Middleware } from 'koa'
import { type AnswerCheck, answerCheck } from './openapi.js'

export const JSON_API = 'application/vnd.api+json'

export interface RawResponse {
  readonly status: number
  readonly headers: http.IncomingHttpHeaders
  /** Raw header names and values. */
  readonly rawHeaders: readonly string[]
  /** The body as text. Only valid for an uncompressed body. */
  readonly body: string
  readonly bytes: Uint8Array
}

export interface RawRequest {
  readonly method?: string
  readonly headers?: http.OutgoingHttpHeaders
  readonly body?: string | Uint8Array
  /** `null` sends no credentials. */
  readonly user?: string | null
  /** Keeps connections. @default each request has one of its own */
  readonly agent?: http.Agent
}

export interface TestServer {
  readonly audit: AuditLog
  readonly url: string
  /** Sends the path byte for byte, as curl -g does; as user `ann` by default. */
  send(path: string, request?: RawRequest): Promise<RawResponse>
  close(): Promise<void>
}

/** The header of Basic authentication, with the name as the password. */
export const basic = (user: string): string =>
  `Basic ${Buffer.from(user.includes(':') ? user : `${user}:${user}`).toString('base64')}`

const checks = new Map<string, AnswerCheck>()

/**
 * From now on every answer that is sent for with {@link send} from the endpoints mounted there has to be one that
 * their OpenAPI document declares, and JSON:API; else `send` rejects. Returns a function that ends the check, because
 * another server may get the address later.
 */
export function checkAnswers(url: string, audit: AuditLog, mount = '/api/events'): () => void {
  return checkAnswersBy(url, answerCheck(audit, mount))
}

/** Like {@link checkAnswers}, with the given check. */
export function checkAnswersBy(url: string, check: AnswerCheck): () => void {
  checks.set(url, check)
  return () => void checks.delete(url)
}

export function send(url: string, path: string, request: RawRequest = {}): Promise<RawResponse> {
  const { method = 'GET', headers = {}, body, user = 'ann', agent = false } = request
  const { hostname, port } = new URL(url)
  return new Promise((resolve, reject) => {
    const authorization = user === null ? {} : { authorization: basic(user) }
    const outgoing = http.request(
      { hostname, port, path, method, headers: { ...authorization, ...headers }, agent },
      (incoming) => {
        const chunks: Buffer[] = []
        incoming.on('data', (chunk: Buffer) => chunks.push(chunk))
        incoming.on('end', () => {
          const { statusCode: status = 0, rawHeaders } = incoming
          const bytes = Buffer.concat(chunks)
          try {
            checks.get(url)?.({ method, target: path, status, headers: incoming.headers, bytes })
          } catch (error) {
            return reject(error)
          }
          const text = bytes.toString('utf8')
          return resolve({ status, headers: incoming.headers, rawHeaders, body: text, bytes })
        })
        incoming.on('error', reject)
      },
    )
    outgoing.on('error', (error: NodeJS.ErrnoException) => {
      // The server has closed the kept connection meanwhile.
      const isStale = outgoing.reusedSocket && error.code === 'ECONNRESET'
      if (isStale) resolve(send(url, path, request))
      else reject(error)
    })
    outgoing.end(body)
  })
}

export interface ServeOptions {
  readonly store?: EventStore
  readonly record?: RecordRequestsOptions | false
  readonly feed?: AuditRoutesOptions
  /** Middleware before everything else, and after authentication. */
  readonly outside?: readonly Middleware[]
  readonly inside?: readonly Middleware[]
  readonly routes?: (router: Router) => void
}

/** A Koa server as a host would build it: recording, Basic authentication, feed, own routes. */
export async function serve(options: ServeOptions = {}): Promise<TestServer> {
  const { store = memoryStore(), record = {}, feed, outside = [], inside = [], routes } = options
  const audit: AuditLog = new AuditLog({ store, types: workflowEventTypes, links: workflowLinks })
  const app = new Koa()
  app.silent = true
  for (const middleware of outside) app.use(middleware)
  if (record !== false) app.use(recordRequests(audit, record))
  app.use(basicAuth({ users: { ann: 'ann', bob: 'bob', eve: 'eve' } }))
  app.use(auditRoutes(audit, feed))
  for (const middleware of inside) app.use(middleware)
  const router = new Router()
  routes?.(router)
  app.use(router.routes())
  const server = app.listen(0, '127.0.0.1')
  await new Promise((resolve) => server.once('listening', resolve))
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const endChecks = checkAnswers(url, audit)
  return {
    audit,
    url,
    send: (path, request) => send(url, path, request),
    async close() {
      endChecks()
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
      await audit.close()
    },
  }
}

interface ResourceDocument {
  readonly type: string
  readonly id: string
  readonly attributes: Readonly<Record<string, unknown>>
  readonly relationships?: { readonly source: { readonly links: { readonly source: string } } }
  readonly links: { readonly self: string }
}

export interface ListDocument {
  readonly data: readonly ResourceDocument[]
  readonly links: { readonly self: string; readonly prev?: string }
}

export interface ErrorDocument {
  readonly errors: readonly {
    readonly status: string
    readonly code: string
    readonly title: string
    readonly detail: string
    readonly source?: { readonly parameter?: string; readonly pointer?: string }
  }[]
}

export const listOf = (response: Pick<RawResponse, 'body'>): ListDocument =>
  JSON.parse(response.body) as ListDocument

export const errorOf = (response: RawResponse): ErrorDocument['errors'][number] =>
  (JSON.parse(response.body) as ErrorDocument).errors[0]!

/** The document of a POST that creates a custom event. */
export const newEvent = (attributes: Record<string, unknown>): RawRequest => ({
  method: 'POST',
  headers: { 'content-type': JSON_API },
  body: JSON.stringify({ data: { type: 'Event', attributes } }),
})
