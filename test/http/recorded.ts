import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { bodyParser } from '@koa/bodyparser'
import type Router from '@koa/router'
import {
  type AuditEvent,
  AuditLog,
  type AuditLogOptions,
  type EventStore,
  type EventTypes,
} from 'daybook'
import { recordRequests, type RecordRequestsOptions } from 'daybook/koa'
import { memoryStore } from 'daybook/memory'
import Koa, { type Middleware } from 'koa'
import { afterEach, expect } from 'vitest'
import { type RawRequest, type RawResponse, send } from '../support/http.js'

export const parser = bodyParser({ enableTypes: ['json'] })

export const done: Middleware = (ctx) => {
  ctx.status = 204
}

/** An app that records its requests, on a separate port. */
export interface RecordedApp {
  readonly audit: AuditLog
  readonly server: Server
  readonly port: number
  /** Errors that Koa emitted. */
  readonly errors: unknown[]
  /** All recorded events, oldest first. */
  events(): Promise<readonly AuditEvent[]>
  types(): Promise<string[]>
  send(path: string, request?: RawRequest): Promise<RawResponse>
  postJson(path: string, body: unknown, headers?: Record<string, string>): Promise<RawResponse>
  close(): Promise<void>
}

export interface RecordedOptions {
  /** Middleware around the recording. */
  readonly outside?: readonly Middleware[]
  readonly record?: RecordRequestsOptions | false
  readonly types?: EventTypes
  readonly store?: EventStore
  readonly log?: Partial<AuditLogOptions<EventTypes>>
  /** Koa's option. */
  readonly proxy?: boolean
}

export async function startRecorded(
  middleware: readonly Middleware[],
  {
    outside = [],
    record = {},
    types = {},
    store = memoryStore(),
    log = {},
    proxy = false,
  }: RecordedOptions = {},
): Promise<RecordedApp> {
  const audit: AuditLog = new AuditLog({ store, types, ...log })
  const app = new Koa({ proxy })
  const errors: unknown[] = []
  app.on('error', (error) => errors.push(error))
  for (const one of outside) app.use(one)
  if (record !== false) app.use(recordRequests(audit, record))
  for (const one of middleware) app.use(one)
  const handle = app.callback()
  const server = createServer((request, response) => void handle(request, response))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  const url = `http://127.0.0.1:${port}`
  const events = async () => (await audit.list({ limit: 1000 })).events
  return {
    audit,
    server,
    port,
    errors,
    events,
    types: async () => (await events()).map(({ type }) => type),
    send: (path, request = {}) => send(url, path, { user: null, ...request }),
    postJson: (path, body, headers = {}) =>
      send(url, path, {
        method: 'POST',
        user: null,
        headers: { 'content-type': 'application/json', ...headers },
        body: JSON.stringify(body),
      }),
    async close() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
      await audit.close()
    },
  }
}

export const routed = (...routers: readonly Router[]): Middleware[] =>
  routers.map((router) => router.routes() as Middleware)

/**
 * Sends requests, `<METHOD> <path>`, one after another, and expects the types of their events; `null` for a request
 * without an event.
 */
export async function expectTypes(
  { send, events }: Pick<RecordedApp, 'send' | 'events'>,
  expected: Readonly<Record<string, string | null>>,
): Promise<void> {
  const seen: (readonly [type: string, method: unknown, path: unknown])[] = []
  for (const [request, type] of Object.entries(expected)) {
    const [method = '', path = ''] = request.split(' ')
    await send(path, { method })
    if (type !== null) seen.push([type, method, path.split('?')[0]])
  }
  const recorded = (await events()).map(({ type, attributes }) => [
    type,
    attributes['request_method'],
    attributes['request_path'],
  ])
  expect(recorded).toEqual(seen)
}

/** The only recorded event. */
export async function onlyEvent(app: RecordedApp): Promise<AuditEvent> {
  const events = await app.events()
  expect(events).toHaveLength(1)
  return events[0]!
}

/** Resolves with the next event. */
export const nextEvent = ({ audit }: RecordedApp): Promise<AuditEvent> =>
  new Promise((resolve) => audit.on('recorded', resolve))

/** Starts an app for each test. It is closed after the test. */
export function useRecorded() {
  let app: RecordedApp | undefined
  afterEach(async () => {
    await app?.close()
    app = undefined
  })
  const start = async (
    middleware: readonly Middleware[],
    options?: RecordedOptions,
  ): Promise<RecordedApp> => (app = await startRecorded(middleware, options))
  return {
    start,
    /** The events of the app started last. */
    events: () => app!.events(),
    /** Starts an app and expects the types of the events of its requests. */
    expectTypes: async (
      middleware: readonly Middleware[],
      expected: Readonly<Record<string, string | null>>,
      options?: RecordedOptions,
    ): Promise<void> => expectTypes(await start(middleware, options), expected),
  }
}
