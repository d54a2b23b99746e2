import http from 'node:http'
import type { AddressInfo } from 'node:net'
import { gunzipSync } from 'node:zlib'
import type { AuditEvent, DeliveryContext, Subscription } from 'daybook'
import { DeliveryError } from 'daybook'
import { expect } from 'vitest'

export interface Received {
  readonly method: string | undefined
  readonly path: string | undefined
  readonly headers: http.IncomingHttpHeaders
  /** Decompressed. */
  readonly body: string
}

export type Respond = (received: Received, response: http.ServerResponse) => void

export interface Receiver {
  readonly url: string
  readonly port: number
  readonly requests: Received[]
  /** The number of connections that clients have opened. */
  connections(): number
  close(): Promise<void>
}

const receivers: Receiver[] = []

/** Listens on this computer for requests, and keeps them. */
export async function receive(
  respond: Respond = (_, response) => response.writeHead(204).end(),
): Promise<Receiver> {
  const requests: Received[] = []
  let connections = 0
  const server = http.createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      const { method, url, headers } = request
      const sent = Buffer.concat(chunks)
      const body = headers['content-encoding'] === 'gzip' ? gunzipSync(sent) : sent
      const received = { method, path: url, headers, body: body.toString() }
      requests.push(received)
      respond(received, response)
    })
  })
  server.on('connection', () => (connections += 1))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  const receiver: Receiver = {
    url: `http://127.0.0.1:${port}/hook/t0ken?key=s3cret`,
    port,
    requests,
    connections: () => connections,
    async close() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
  receivers.push(receiver)
  return receiver
}

export async function closeReceivers(): Promise<void> {
  await Promise.all(receivers.splice(0).map((receiver) => receiver.close()))
}

/** An event with a number from 0 to 9, in which it differs from other events. */
export const numberedEvent = (
  n: number,
  attributes: AuditEvent['attributes'] = {},
): AuditEvent => ({
  id: `01a20405-0fa8-7676-ba2c-be23e865d0a${n}`,
  created_at: `2026-11-22T16:09:30.28040${n}Z`,
  username: 'ann',
  system: true,
  type: 'api:projects:create',
  source: null,
  attributes: { name: 'shöp', n, ...attributes },
})

const fields = {
  id: '0f3c1f0e-7c1d-4b7e-9a52-6a1d6d3f5b10',
  name: 'errors',
  channel: 'test',
  filter: '',
  from: 'now',
  whenStuck: 'park' as const,
  retain: null,
  paused: false,
  owner: null,
  in_code: true,
}

export const subscription: Subscription = fields

/** The context of the first delivery of these events. */
export function deliveryOf(
  events: readonly AuditEvent[],
  signal = new AbortController().signal,
  report: (type: string, data: object) => void = () => {},
): DeliveryContext {
  const [first, last] = [events[0]!.id, events.at(-1)!.id]
  const id = events.length === 1 ? first : `${first}_${last}`
  const context = { id, subscription, attempt: 1, types: {}, signal, report }
  return context
}

/** The error of a delivery that fails. */
export async function faultOf(sent: unknown): Promise<DeliveryError> {
  const error: unknown = await Promise.resolve(sent).then(
    () => undefined,
    (thrown: unknown) => thrown,
  )
  expect(error).toBeInstanceOf(DeliveryError)
  return error as DeliveryError
}
