import { type CloudEvent, HTTP } from 'cloudevents'
import type { AuditEvent } from 'daybook'
import { webhook, type WebhookFormat, type WebhookOptions } from 'daybook/channels'
import { toCloudEvent, toOcsf, toOtlp } from 'daybook/formats'
import { Webhook } from 'standardwebhooks'
import { afterEach, describe, expect, it } from 'vitest'
import { throughProtobuf, withoutDefaults } from '../support/otlp-messages.js'
import { ocsfFaults } from '../support/ocsf-schema.js'
import {
  closeReceivers,
  deliveryOf,
  numberedEvent as event,
  receive,
  type Received,
} from '../support/receiver.js'

const SECRET = `whsec_${Buffer.alloc(32, 7).toString('base64')}`
const events = [event(1), event(2)]

afterEach(closeReceivers)

/** The request that delivers the events, whose signature has been verified. */
async function sent(
  options: Omit<WebhookOptions, 'url' | 'secret'>,
  delivered: readonly AuditEvent[],
): Promise<Received> {
  const { url, requests } = await receive()
  await webhook({ url, secret: SECRET, ...options }).deliver(delivered, deliveryOf(delivered))
  const [request] = requests
  const signed = new Webhook(SECRET)
  const { 'webhook-timestamp': seconds, 'webhook-id': id } = request!.headers
  const signature = signed.sign(String(id), new Date(Number(seconds) * 1000), request!.body)
  expect(request!.headers['webhook-signature']).toBe(signature)
  return request!
}

const batch = { maxEvents: 10 }
const service = 'orders'
const { types } = deliveryOf(events)

describe('a webhook', () => {
  it('sends CloudEvents in their structured mode, one by one', async () => {
    const { headers, body } = await sent({ format: 'cloudevents', service }, [events[0]!])
    expect(headers['content-type']).toBe('application/cloudevents+json')
    expect(JSON.parse(body)).toEqual(toCloudEvent(events[0]!, { source: 'orders', types }))
    const read = HTTP.toEvent({ headers, body }) as CloudEvent<AuditEvent>
    expect(read.validate()).toBe(true)
    expect(read.data).toMatchObject({ ...events[0] })
  })

  it('sends batches of CloudEvents, also of one event', async () => {
    for (const delivered of [events, events.slice(0, 1)]) {
      const { headers, body } = await sent({ format: 'cloudevents', batch }, delivered)
      expect(headers['content-type']).toBe('application/cloudevents-batch+json')
      const read = HTTP.toEvent({ headers, body }) as CloudEvent<AuditEvent>[]
      expect(read.map(({ id }) => id)).toEqual(delivered.map(({ id }) => id))
      expect(read[0]!.source).toBe('daybook')
    }
  })

  it('sends an event of OCSF, or a list of them', async () => {
    const one = await sent({ format: 'ocsf', service }, [events[0]!])
    expect(one.headers['content-type']).toBe('application/json')
    const expected = events.map((each) => toOcsf(each, { product: { name: 'orders' }, types }))
    expect(JSON.parse(one.body)).toEqual(expected[0])
    const list = JSON.parse(
      (await sent({ format: 'ocsf', service, batch }, events)).body,
    ) as object[]
    expect(list).toEqual(expected)
    expect(list.flatMap((each) => ocsfFaults({ ...each }))).toEqual([])
  })

  it('sends the request that collectors of OpenTelemetry take', async () => {
    for (const options of [{}, { batch }]) {
      const delivered = 'batch' in options ? events : events.slice(0, 1)
      const { headers, body } = await sent({ format: 'otlp', service, ...options }, delivered)
      expect(headers['content-type']).toBe('application/json')
      const request = JSON.parse(body) as object
      expect(request).toEqual(toOtlp(delivered, { service: 'orders', types }))
      expect(throughProtobuf(request).json).toEqual(withoutDefaults(request))
    }
  })

  it('sends a line of JSON for each event', async () => {
    const { headers, body } = await sent({ format: 'ndjson', batch }, events)
    expect(headers['content-type']).toBe('application/x-ndjson')
    expect(body.endsWith('\n')).toBe(true)
    const lines = body.trimEnd().split('\n')
    expect(lines.map((line) => JSON.parse(line) as AuditEvent)).toEqual(events)
  })

  it('compresses any format', async () => {
    const { headers, body } = await sent({ format: 'ndjson', batch, compress: 'gzip' }, events)
    expect(headers['content-encoding']).toBe('gzip')
    expect(body.split('\n')).toHaveLength(3)
  })

  it.each<[object, string]>([
    [{ format: 'xml' }, 'format must be one of standard, cloudevents, ocsf, otlp, ndjson'],
    [{ format: 'toString' }, 'format must be one of'],
    [{ format: 7 }, 'format must be one of'],
    [{ format: 'ocsf', service: '' }, 'service must be a text'],
    [{ service: 7 }, 'service must be a text'],
    [{ format: 'cloudevents', service: 'our orders' }, 'service must be a URI reference'],
  ])('refuses %j', (options, message) => {
    const wrong = { url: 'http://localhost', secret: SECRET, ...options } as WebhookOptions
    expect(() => webhook(wrong)).toThrow(
      expect.objectContaining({
        code: 'INVALID_OPTION',
        message: expect.stringContaining(message) as string,
      }),
    )
  })

  it('accepts any name of a service where no format asks for a URI reference', () => {
    for (const format of ['standard', 'ocsf', 'otlp', 'ndjson'] satisfies WebhookFormat[])
      expect(() =>
        webhook({ url: 'http://localhost', secret: SECRET, format, service: 'our orders' }),
      ).not.toThrow()
  })
})
