import { once } from 'node:events'
import http2, { type Http2ServerRequest, type Http2ServerResponse } from 'node:http2'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type AuditEvent, AuditLog } from 'daybook'
import { memoryStore } from 'daybook/memory'
import { recordRequests } from 'daybook/node'
import { expect, it, onTestFinished } from 'vitest'

type Handler = (request: Http2ServerRequest, response: Http2ServerResponse) => void

/** A recorded service on HTTP/2, and a client of it. */
async function start(handle: Handler) {
  const audit = new AuditLog({ store: memoryStore(), types: {} })
  const record = recordRequests(audit)
  const server = http2.createServer((request, response) =>
    record(request as unknown as IncomingMessage, response as unknown as ServerResponse, () =>
      handle(request, response),
    ),
  )
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const client = http2.connect(`http://127.0.0.1:${(server.address() as AddressInfo).port}`)
  onTestFinished(async () => {
    client.destroy()
    server.close()
    await audit.close()
  })
  return { audit, send: () => client.request({ ':path': '/x', ':method': 'POST' }) }
}

it('a response that waits for its event counts as ended', async () => {
  const thrown: unknown[] = []
  const { send } = await start((_request, response) => {
    response.setHeader('x-early', '1')
    response.end('first')
    for (const change of [() => response.setHeader('x-late', '1'), () => response.writeHead(500)])
      try {
        change()
      } catch (error) {
        thrown.push((error as NodeJS.ErrnoException).code)
      }
    response.statusCode = 500
    response.write('second')
    response.end('third')
    expect(response.headersSent).toBe(true)
    expect(response.writableEnded).toBe(true)
  })
  const stream = send()
  stream.end()
  const [headers] = (await once(stream, 'response')) as [http2.IncomingHttpHeaders]
  let body = ''
  for await (const chunk of stream.setEncoding('utf8')) body += chunk
  expect(headers).toMatchObject({ ':status': 200, 'x-early': '1' })
  expect(headers).not.toHaveProperty('x-late')
  expect(body).toBe('first')
  expect(thrown).toEqual(['ERR_HTTP2_HEADERS_SENT', 'ERR_HTTP2_HEADERS_SENT'])
})

it('a request whose stream the client resets is aborted', async () => {
  let respond = (_response: Http2ServerResponse): void => {}
  const arrived = new Promise<Http2ServerResponse>((resolve) => (respond = resolve))
  const { audit, send } = await start((_request, response) => respond(response))
  const recorded = new Promise<AuditEvent>((resolve) => {
    audit.on('recorded', resolve)
  })
  const stream = send()
  stream.on('error', () => {})
  stream.end()
  await arrived
  stream.close(http2.constants.NGHTTP2_CANCEL)
  expect((await recorded).attributes).toMatchObject({ request_path: '/x', aborted: true })
})
