import type { AuditEvent } from 'daybook'
import { type Render, slack, type SlackOptions } from 'daybook/channels'
import { afterEach, describe, expect, it } from 'vitest'
import { closeReceivers, deliveryOf, faultOf, numberedEvent, receive } from '../support/receiver.js'

afterEach(closeReceivers)

const deliver = (options: SlackOptions, ...events: readonly AuditEvent[]): unknown => {
  const given = events.length === 0 ? [numberedEvent(1)] : events
  return slack(options).deliver(given, deliveryOf(given))
}

describe('a Slack channel', () => {
  it('posts a line for each event, with its markup escaped', async () => {
    const { url, requests } = await receive()
    await deliver(
      { url },
      numberedEvent(1),
      numberedEvent(2, { name: '<!channel> & <http://x|y>' }),
    )
    expect(requests).toHaveLength(1)
    expect(requests[0]!.headers['content-type']).toBe('application/json')
    expect(JSON.parse(requests[0]!.body)).toEqual({
      text: [
        'ann created project shöp',
        'ann created project &lt;!channel&gt; &amp; &lt;http://x|y&gt;',
      ].join('\n'),
    })
  })

  it('sends at most one message each second, of at most 20 events, and stores each cursor', () => {
    expect(slack({ url: 'https://hooks.example/x' })).toMatchObject({
      kind: 'slack',
      batch: { maxEvents: 20, maxBytes: 262_144 },
      rate: { count: 1, per: { seconds: 1 } },
      checkpoint: 'each',
    })
  })

  it('sends a text of the host as it is', async () => {
    const { url, requests } = await receive()
    const render: Render = (events, { sentence }) => ({ text: `*${sentence(events[0]!)}* <!here>` })
    await deliver({ url, render })
    expect(JSON.parse(requests[0]!.body)).toEqual({ text: '*ann created project shöp* <!here>' })
  })

  it.each<[string, Render]>([
    ['no name', () => Promise.reject(new Error('no name'))],
    [
      'no name',
      () => {
        throw new Error('no name')
      },
    ],
    ['render returned no text', () => ({}) as { text: string }],
  ])('fails for good if a text of the host cannot be rendered: %s', async (message, render) => {
    const { url, requests } = await receive()
    const fault = await faultOf(deliver({ url, render }))
    expect(fault).toMatchObject({ kind: 'rendering', permanent: true, message })
    expect(requests).toEqual([])
  })

  it('waits as long as Slack asks', async () => {
    const { url } = await receive((_, response) =>
      response.writeHead(429, { 'retry-after': '7' }).end(),
    )
    const fault = await faultOf(deliver({ url }))
    expect(fault).toMatchObject({ kind: 'status', status: 429, retryAfterMs: 7000 })
  })

  it('refuses a wrong URL without repeating it', () => {
    expect(() => slack({ url: 'ftp://s3cret/' })).toThrow(
      /^slack: url must be an http: or https: URL$/,
    )
  })
})
