import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Webhook } from 'standardwebhooks'
import type { Arrived } from './received.js'

export interface WebhookReceiver {
  readonly url: string
  close(): Promise<void>
}

/** The part of an event that is shown. */
interface SentEvent {
  readonly created_at: string
  readonly sentence: string
}

/** Accepts the webhooks that are signed with the secret; others get 401. */
export async function startWebhookReceiver(
  secret: string,
  arrived: Arrived,
): Promise<WebhookReceiver> {
  const signatures = new Webhook(secret)
  const receive = (body: string, headers: Record<string, string>): number => {
    let events: readonly SentEvent[]
    try {
      events = (signatures.verify(body, headers) as { data: SentEvent[] }).data
    } catch {
      return 401
    }
    arrived({
      at: new Date(),
      kind: 'webhook',
      title: `${events.length} ${events.length === 1 ? 'event' : 'events'}`,
      text: events.map(({ created_at, sentence }) => `${created_at} ${sentence}`).join('\n'),
    })
    return 204
  }
  const server = createServer((request, response) => {
    let body = ''
    request.setEncoding('utf8').on('data', (text: string) => (body += text))
    request.on('end', () => {
      response.writeHead(receive(body, request.headers as Record<string, string>)).end()
    })
  })
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(0, '127.0.0.1', resolve)
  })
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    async close() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}
