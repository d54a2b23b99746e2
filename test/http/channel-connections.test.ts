import { once } from 'node:events'
import fs from 'node:fs'
import http from 'node:http'
import https from 'node:https'
import net, { type AddressInfo } from 'node:net'
import type { Duplex } from 'node:stream'
import tls from 'node:tls'
import type { Channel } from 'daybook'
import { slack, slackKind, webhook, webhookKind, type WebhookOptions } from 'daybook/channels'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { deliveryOf, faultOf, numberedEvent } from '../support/receiver.js'

/* A receiver of webhooks. A private authority has signed its certificate, it demands one from clients, and only a proxy resolves its name. */

const pem = (name: string): string =>
  fs.readFileSync(new URL(`../fixtures/tls/${name}`, import.meta.url), 'utf8')

const ca = pem('ca.pem')
const client = { ca, cert: pem('client.pem'), key: pem('client.key') }
const secret = `whsec_${Buffer.alloc(32, 7).toString('base64')}`

/** The subjects of the certificates of clients. */
const received: string[] = []
/** The addresses that the proxy was asked to connect to. */
const connected: string[] = []

const receiver = https.createServer(
  { ca, cert: pem('server.pem'), key: pem('server.key'), requestCert: true },
  (request, response) => {
    const { subject } = (request.socket as tls.TLSSocket).getPeerCertificate()
    received.push(String(subject.CN))
    request.resume().on('end', () => response.writeHead(204).end())
  },
)
const proxy = http.createServer().on('connect', (request, socket: Duplex) => {
  connected.push(request.url!)
  const upstream = net.connect(portOf(receiver), '127.0.0.1', () => {
    socket.write('HTTP/1.1 200 OK\r\n\r\n')
    upstream.pipe(socket).pipe(upstream)
  })
  upstream.on('error', () => socket.destroy())
  socket.on('error', () => upstream.destroy())
})

const portOf = (server: net.Server): number => (server.address() as AddressInfo).port

let agents: http.Agent[] = []
let viaProxy: https.Agent

/** An agent whose connections go through the proxy. */
class ProxyAgent extends https.Agent {
  override createConnection(
    options: http.ClientRequestArgs & tls.ConnectionOptions,
    callback?: (error: Error | null, socket: Duplex) => void,
  ): undefined {
    const { host, port } = options
    http
      .request({
        host: '127.0.0.1',
        port: portOf(proxy),
        method: 'CONNECT',
        path: `${host!}:${port!}`,
      })
      .on('connect', (_response, socket) => {
        callback!(
          null,
          tls.connect({
            ...options,
            servername: host!,
            socket,
          } as tls.ConnectionOptions),
        )
      })
      .end()
  }
}

const agentOf = <Agent extends http.Agent>(agent: Agent): Agent => {
  agents.push(agent)
  return agent
}

/** A dispatcher of undici. Channels use one of its methods. */
const dispatcher = {
  async request({
    origin,
    path,
    ...options
  }: {
    readonly origin: string
    readonly path: string
    readonly method: string
    readonly headers: Readonly<Record<string, string>>
    readonly body: Buffer
    readonly signal: AbortSignal
  }) {
    const { method, headers, body, signal } = options
    const sent = https
      .request(origin + path, { method, headers, signal, agent: viaProxy })
      .end(body)
    const [response] = (await once(sent, 'response')) as [http.IncomingMessage]
    return { statusCode: response.statusCode!, headers: response.headers, body: response }
  },
}

beforeAll(async () => {
  for (const server of [receiver, proxy])
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
})
beforeEach(() => {
  viaProxy = agentOf(new ProxyAgent({ ...client, keepAlive: true }))
})
afterEach(() => {
  for (const agent of agents.splice(0)) agent.destroy()
  received.length = 0
  connected.length = 0
})
afterAll(async () => {
  for (const server of [receiver, proxy]) {
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
  }
})

const urlAt = (host: string): string => `https://${host}:${portOf(receiver)}/hook`
const byName = (): string => urlAt('receiver.test')

const deliver = async (channel: Channel): Promise<void> => {
  const events = [numberedEvent(1)]
  await channel.deliver(events, deliveryOf(events))
}

const hook = (options: Partial<WebhookOptions> = {}): Channel =>
  webhook({ url: byName(), secret, ...options })

describe('the connections of a channel', () => {
  it.each<[string, () => Channel]>([
    ['a webhook by an agent', () => hook({ agent: viaProxy })],
    ['a webhook by a dispatcher', () => hook({ dispatcher })],
    ['Slack by an agent', () => slack({ url: byName(), agent: viaProxy })],
    ['Slack by a dispatcher', () => slack({ url: byName(), dispatcher })],
    [
      'a webhook of a user by an agent',
      () =>
        webhookKind({ agent: viaProxy }).open({
          config: { url: byName() },
          secrets: { secret, headers: {} },
        }),
    ],
    [
      'Slack of a user by a dispatcher',
      () => slackKind({ dispatcher }).open({ config: {}, secrets: { webhook_url: byName() } }),
    ],
  ])('%s go through its proxy, with its authority and certificate', async (_what, open) => {
    await deliver(open())
    expect([received, connected]).toEqual([['daybook'], [`receiver.test:${portOf(receiver)}`]])
  })

  it('are opened and kept by an agent', async () => {
    const channel = hook({ agent: viaProxy })
    await deliver(channel)
    await deliver(channel)
    expect([received.length, connected.length]).toEqual([2, 1])
  })

  it('are opened by the global agent without an option', async () => {
    const { globalAgent } = https
    const channel = hook()
    try {
      https.globalAgent = viaProxy
      await deliver(channel)
    } finally {
      https.globalAgent = globalAgent
    }
    expect([received, connected.length]).toEqual([['daybook'], 1])
  })

  it('need the authority', async () => {
    const url = urlAt('127.0.0.1')
    const unknown = await faultOf(deliver(hook({ url })))
    expect(unknown).toMatchObject({ kind: 'network', message: expect.stringMatching(/: [A-Z_]+$/) })
    await deliver(hook({ url, agent: agentOf(new https.Agent(client)) }))
    expect([received, connected]).toEqual([['daybook'], []])
  })

  it('of a user cannot connect to the network of the service', async () => {
    for (const options of [{ agent: viaProxy }, { dispatcher }])
      for (const host of ['127.0.0.1', '127.1', 'localhost', '[::1]', '169.254.169.254']) {
        const kind = webhookKind(options)
        await expect(async () => kind.read({ url: urlAt(host) })).rejects.toThrow('is not allowed')
        // A channel that was stored before.
        const stored = kind.open({ config: { url: urlAt(host) }, secrets: { secret, headers: {} } })
        expect((await faultOf(deliver(stored))).kind).toBe('address')
      }
    expect([received, connected]).toEqual([[], []])
  })

  it('of a user ignore the proxy in the environment', async () => {
    const { globalAgent } = https
    const channel = webhookKind().open({
      config: { url: byName() },
      secrets: { secret, headers: {} },
    })
    try {
      https.globalAgent = viaProxy
      expect((await faultOf(deliver(channel))).kind).toBe('network')
    } finally {
      https.globalAgent = globalAgent
    }
    expect([received, connected]).toEqual([[], []])
  })
})

it.each<[string, Partial<WebhookOptions>, string]>([
  ['both options', { agent: new https.Agent(), dispatcher }, 'agent and dispatcher'],
  ['a dispatcher as the agent', { agent: dispatcher as never }, 'one of undici is a dispatcher'],
  ['an agent as the dispatcher', { dispatcher: new https.Agent() as never }, 'of undici'],
  ['null', { agent: null as never }, 'must be an agent'],
  ['false', { agent: false as never }, 'must be an agent'],
  ['an address', { agent: 'http://proxy.example' as never }, 'must be an agent'],
  ['the agent of another protocol', { agent: new http.Agent() }, 'is one for http: URLs'],
])('%s is refused', (_what, options, message) => {
  const error = expect.objectContaining({
    code: 'INVALID_OPTION',
    message: expect.stringContaining(message) as string,
  }) as Error
  expect(() => hook(options)).toThrow(error)
  expect(() => slack({ url: byName(), ...options })).toThrow(error)
  if (!message.startsWith('is one')) expect(() => webhookKind(options)).toThrow(error)
})
