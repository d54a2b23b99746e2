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

/** Feeds that answer once the gate is open. */
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
  /** The tails and exports that have been begun, and those that still run. */
  readonly reads: { begun: number; running: number }
}

/** A log and its server, for as long as the test takes. */
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
      // That which streams share outlives them for a while.
      return options.changes ? watch(items) : items
    },
    pages: (...parameters: Parameters<typeof pages>) => watch(pages.apply(audit, parameters)),
  })
  const responses = new Map<ServerResponse, number>()
  const answer = listener(audit)
  const { url, close } = await listen((request, response) => {
    responses.set(response, 0)
    response.on('close', () => responses.set(response, responses.get(response)! + 1))
    return answer(request, response)
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

/** More than a response takes before it waits. */
const recordMuch = ({ audit }: Watched): Promise<unknown> =>
  Promise.all(
    Array.from({ length: 40 }, () => audit.recordCustom('note', { text: 'x'.repeat(5000) })),
  )

const closings = ({ responses }: Watched): number[] => [...responses.values()]

describe.each(feeds)('requests sent ahead on one connection of %s', (_name, feed) => {
  const open = Promise.resolve()

  it('are all given up when the client is gone', async () => {
    const server = await start((audit) => feed(audit, open))
    await recordMuch(server)
    const client = connect(server)
    // The first has its turn and ends; of the others one has its turn after it.
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

  it('are given up where the client was gone before their turn to be answered', async () => {
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

  it('are as many as the client likes', async () => {
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

  it('leave nothing behind when they are answered', async () => {
    const warnings = takeWarnings()
    const server = await start((audit) => feed(audit, open))
    await server.audit.recordCustom('note', { text: 'x' })
    const client = connect(server)
    let received = ''
    client.setEncoding('utf8').on('data', (text: string) => (received += text))
    const { responses } = server
    const listeners = new Set<number>()
    // One after the other, then all at once.
    for (let count = 1; count <= 100; count++) {
      client.write(request(EXPORT))
      await expect
        .poll(() => closings(server), { interval: 1 })
        .toEqual(Array.from({ length: count }, () => 1))
      const [first] = responses.keys()
      listeners.add(first!.req.socket.listenerCount('close'))
    }
    expect(listeners.size).toBe(1)
    client.write(request(EXPORT).repeat(100))
    await expect.poll(() => closings(server)).toEqual(Array.from({ length: 200 }, () => 1))
    await expect.poll(() => received.match(/^HTTP\/1.1 200 OK/gm)).toHaveLength(200)
    const [first] = responses.keys()
    // That of the connection, however many they were.
    expect(first!.req.socket.listenerCount('close')).toBeLessThanOrEqual([...listeners][0]! + 1)
    expect(warnings).toEqual([])
  })
})

describe('requests sent ahead that are recorded', () => {
  const attributesOf = async ({ audit }: Watched): Promise<unknown[]> =>
    (await audit.list()).events.map(({ attributes }) => attributes)

  it('leave an event each where the client goes before they are answered past Koa', async () => {
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
    'are told as aborted by a slow handler, respond %s',
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
