import { describe, expect, it, vi } from 'vitest'
import { startService } from '../../examples/workflow-service/app.js'
import { wantsReceivers } from '../../examples/workflow-service/options.js'
import type { Received } from '../../examples/workflow-service/receivers/received.js'
import { startWebhookReceiver } from '../../examples/workflow-service/receivers/webhook-receiver.js'
import { JSON_API, send } from '../support/http.js'

it.each([
  [true, true, true],
  [false, true, false],
  [false, undefined, true],
] as const)('receivers: %s for terminal %s, traffic %s', (wanted, tty, traffic) => {
  expect(wantsReceivers(tty, { traffic })).toBe(wanted)
})

describe('the receivers of the demo', () => {
  it('show the deliveries of its subscriptions', async () => {
    const service = await startService({
      port: 0,
      store: { kind: 'memory' },
      traffic: false,
      receivers: true,
    })
    try {
      const received = async (): Promise<string> => {
        const { status, body } = await send(service.url, '/received')
        expect(status).toBe(200)
        return body
      }
      expect(await received()).toContain('Nothing yet')
      const attributes = { code: 'shop', name: 'Shop & <b>more</b>' }
      const created = await send(service.url, '/api/projects', {
        method: 'POST',
        headers: { 'content-type': JSON_API },
        body: JSON.stringify({ data: { type: 'project', attributes } }),
      })
      expect(created.status).toBe(201)
      await vi.waitUntil(
        async () => (await received()).includes('Shop &amp; &lt;b&gt;more&lt;/b&gt;'),
        { timeout: 60_000 },
      )
      const refused = await send(service.url, '/api/projects/shop', {
        method: 'PATCH',
        user: 'eve',
        headers: { 'content-type': JSON_API },
        body: JSON.stringify({ data: { type: 'project', attributes: { name: 'Café “9”' } } }),
      })
      expect(refused.status).toBe(403)
      await vi.waitUntil(async () => (await received()).includes('to ops@acme.example'), {
        timeout: 60_000,
      })
      expect(await received()).toMatch(/mail: Failed: .*eve/)
    } finally {
      await service.close()
    }
  })

  it('refuse webhooks that are not signed', async () => {
    const arrived: Received[] = []
    const secret = `whsec_${Buffer.alloc(32, 1).toString('base64')}`
    const receiver = await startWebhookReceiver(secret, (one) => void arrived.push(one))
    try {
      const response = await fetch(receiver.url, { method: 'POST', body: '{"data":[]}' })
      expect(response.status).toBe(401)
      expect(arrived).toEqual([])
    } finally {
      await receiver.close()
    }
  })
})
