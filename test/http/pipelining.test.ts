import type { IncomingMessage, ServerResponse } from 'node:http'
import net from 'node:net'
import { AuditLog } from 'daybook'
import * as koa from 'daybook/koa'
import { memoryStore } from 'daybook/memory'
import * as node from 'daybook/node'
import Koa, { type Middleware } from 'koa'
import { describe, expect, it, onTestFinished } from 'vitest'
import { listen } from '../support/node-server.js'
import { takeWarnings } from '../support/warnings.js'

const username = (): string => 'ann'

type Listener = (request: IncomingMessage, response: ServerResponse) => unknown

const koaListener = (...middlewares: readonly Middleware[]): Listener => {
  const app = new Koa()
  for (const middleware of middlewares) app.use(middleware)
  return app.callback()
}

/** Feeds that respond after the gate has opened. */
const feeds: [name: string, feed: (audit: AuditLog, gate: Promise<void>) => Listener][] = [
  [
    'Koa',
    (audit, gate) =>
      koaListener(
        koa.auditRoutes(audit, { username, authorize: () => gate.then(() => true) }) as Middleware,
      ),
  ],
  [
    'node:http',
    (audit, gate) => node.auditRoutes(audit, { username, authorize: () => gate.then(() => true) }),
  ],
]

interface Watched {
  readonly audit: AuditLog
  readonly port: number
  /** The responses so far, and how often each has emitted `close`. */
  readonly responses: ReadonlyMap<ServerResponse, number>
  /** Numbers of the tails and exports that were started, and that are still running. */
  readonly reads: { begun: number; running: number }
}

/** A log and its server. They are closed at the end of the test. */
async function start(listener: (audit: AuditLog) => Listener): Promise<Watched> {
  const audit = new AuditLog({ store: memoryStore(), types: {} })
  const reads = { begun: 0, running: 0 }
  const watch = async function* <Item>(items: AsyncIterable<Item>): AsyncGenerator<Item> {
    reads.begun++
    reads.running++
    try {
      yield* items
    } finally {
      reads.running--
    }
  }
  const { tail, pages } = audit
  const tails = tail as (...parameters: readonly unknown[]) => AsyncIterable<never>
  Object.assign(audit, {
    tail: (query: unknown, options: { readonly changes?: boolean }) => {
      const items = tails.call(audit, query, options)
      // The shared session of streams outlives them for a while.
      return options.changes ? watch(items) : items
    },
    pages: (...parameters: Parameters<typeof pages>) => watch(pages.apply(audit, parameters)),
  })
  const responses = new Map<ServerResponse, number>()
  const handle = listener(audit)
  const { url, close } = await listen((request, response) => {
    responses.set(response, 0)
    response.on('close', () => responses.set(response, responses.get(response)! + 1))
    return handle(request, response)
  })
  onTestFinished(async () => {
    await close()
    await audit.close()
  })
  return { audit, port: Number(new URL(url).port), responses, reads }
}

function connect({ port }: Watched): net.Socket {
  const client = net.connect(port, '127.0.0.1')
  client.on('error', () => {})
  onTestFinished(() => void client.destroy())
  return client
}

const request = (path: string, method = 'GET'): string =>
  `${method} ${path} HTTP/1.1\r\nHost: a\r\n\r\n`

function gateway(): { gate: Promise<void>; open: () => void } {
  let open = (): void => {}
  const gate = new Promise<void>((resolve) => {
    open = resolve
  })
  return { gate, open }
}

const STREAM = '/api/events/stream'
const CHANGES = `${STREAM}?changes=true`
const EXPORT = '/api/events/export'

/** Records more than a response buffers. */
const recordMuch = ({ audit }: Watched): Promise<unknown> =>
  Promise.all(
    Array.from({ length: 40 }, () => audit.recordCustom('note', { text: 'x'.repeat(5000) })),
  )

const closings = ({ responses }: Watched): number[] => [...responses.values()]

describe.each(feeds)('pipelined requests on one connection of %s', (_name, feed) => {
  const open = Promise.resolve()

  it('are all aborted when the client disconnects', async () => {
    const server = await start((audit) => feed(audit, open))
    await recordMuch(server)
    const client = connect(server)
    // After the end of the first response, another one is at the head of the queue.
    const paths = ['/api/events/types', STREAM, STREAM, CHANGES, CHANGES, EXPORT, EXPORT]
    client.write(paths.map((path) => request(path)).join(''))
    const { responses, reads } = server
    await expect.poll(() => reads).toEqual({ begun: 4, running: 4 })
    await expect.poll(() => closings(server)[0]).toBe(1)
    await expect.poll(() => [...responses.keys()].filter((one) => one.headersSent)).toHaveLength(7)
    client.destroy()
    await expect.poll(() => closings(server)).toEqual([1, 1, 1, 1, 1, 1, 1])
    await expect.poll(() => reads.running).toBe(0)
    expect([...responses.keys()].every(({ destroyed }) => destroyed)).toBe(true)
  })

  it('are aborted if the client disconnected before they were handled', async () => {
    const { gate, open } = gateway()
    const server = await start((audit) => feed(audit, gate))
    await recordMuch(server)
    const client = connect(server)
    const paths = [STREAM, STREAM, CHANGES, EXPORT]
    client.write(paths.map((path) => request(path)).join(''))
    const { responses, reads } = server
    await expect.poll(() => responses.size).toBe(4)
    client.destroy()
    await expect.poll(() => closings(server)[0]).toBe(1)
    open()
    await expect.poll(() => closings(server)).toEqual([1, 1, 1, 1])
    await expect.poll(() => reads.running).toBe(0)
  })

  it('have no limit and cause no listener warning', async () => {
    const warnings = takeWarnings()
    const server = await start((audit) => feed(audit, open))
    const client = connect(server)
    client.write(request(STREAM).repeat(100))
    const { responses } = server
    await expect
      .poll(() => [...responses.keys()].filter((one) => one.headersSent))
      .toHaveLength(100)
    client.destroy()
    await expect.poll(() => closings(server)).toEqual(Array.from({ length: 100 }, () => 1))
    expect(warnings).toEqual([])
  })

  it('leave no listeners behind', async () => {
    const warnings = takeWarnings()
    const server = await start((audit) => feed(audit, open))
    await server.audit.recordCustom('note', { text: 'x' })
    const client = connect(server)
    let received = ''
    client.setEncoding('utf8').on('data', (text: string) => (received += text))
    const { responses } = server
    const listeners = new Set<number>()
    // First sequentially, then all at once.
    for (let count = 1; count <= 20; count++) {
      client.write(request(EXPORT))
      await expect
        .poll(() => closings(server), { interval: 1 })
        .toEqual(Array.from({ length: count }, () => 1))
      const [first] = responses.keys()
      listeners.add(first!.req.socket.listenerCount('close'))
    }
    expect(listeners.size).toBe(1)
    client.write(request(EXPORT).repeat(100))
    await expect.poll(() => closings(server)).toEqual(Array.from({ length: 120 }, () => 1))
    await expect.poll(() => received.match(/^HTTP\/1.1 200 OK/gm)).toHaveLength(120)
    const [first] = responses.keys()
    // The listener of the connection, for any number of requests.
    expect(first!.req.socket.listenerCount('close')).toBeLessThanOrEqual([...listeners][0]! + 1)
    expect(warnings).toEqual([])
  })
})

describe('recorded pipelined requests', () => {
  const attributesOf = async ({ audit }: Watched): Promise<unknown[]> =>
    (await audit.list()).events.map(({ attributes }) => attributes)

  it('leave one event each if the client disconnects before a response that bypasses Koa', async () => {
    const server = await start((audit) =>
      koaListener(koa.recordRequests(audit) as Middleware, (ctx) => {
        ctx.respond = false
      }),
    )
    const client = connect(server)
    client.write(['/a', '/b', '/c'].map((path) => request(path, 'POST')).join(''))
    await expect.poll(() => server.responses.size).toBe(3)
    client.destroy()
    await expect
      .poll(() => attributesOf(server))
      .toEqual(
        expect.arrayContaining(
          ['/a', '/b', '/c'].map((request_path) =>
            expect.objectContaining({ request_path, aborted: true }),
          ),
        ),
      )
    expect(closings(server)).toEqual([1, 1, 1])
  })

  it.each([[false], [true]])(
    'are recorded as aborted with a slow handler, respond %s',
    async (respond) => {
      const { gate, open } = gateway()
      const server = await start((audit) =>
        koaListener(koa.recordRequests(audit) as Middleware, async (ctx) => {
          await gate
          ctx.respond = respond
          ctx.body = 'late'
        }),
      )
      const client = connect(server)
      client.write(['/a', '/b'].map((path) => request(path, 'POST')).join(''))
      await expect.poll(() => server.responses.size).toBe(2)
      client.destroy()
      await expect.poll(() => closings(server)).toEqual([1, 1])
      open()
      await expect
        .poll(() => attributesOf(server))
        .toEqual([
          expect.objectContaining({ aborted: true }),
          expect.objectContaining({ aborted: true }),
        ])
    },
  )
})
