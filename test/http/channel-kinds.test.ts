import fs from 'node:fs'
import { AuditLog, type ChannelKind, type ChannelSetup, type JsonObject } from 'daybook'
import { emailKind, slackKind, webhookKind } from 'daybook/channels'
import { sqliteStore } from 'daybook/sqlite'
import { Webhook } from 'standardwebhooks'
import { afterEach, describe, expect, it, vi } from 'vitest'
import {
  closeReceivers,
  deliveryOf,
  numberedEvent,
  receive,
  type Received,
} from '../support/receiver.js'
import { tempDir } from '../support/temp.js'

afterEach(async () => {
  vi.useRealTimers()
  await closeReceivers()
})

const WAIT = { timeout: 60_000 }
const LOOPBACK = { allow: ['127.0.0.1'], allowHttp: true } as const

const events = [numberedEvent(1)]
const deliver = (kind: ChannelKind, setup: ChannelSetup): unknown =>
  kind.open(setup).deliver(events, deliveryOf(events))

/** True if a receiver with this secret accepts the request. */
function isSigned({ headers, body }: Received, secret: string): boolean {
  try {
    new Webhook(secret).verify(body, headers as Record<string, string>)
    return true
  } catch {
    return false
  }
}

/** Expects that the kind refuses a member of a user's settings. */
async function expectRefused(
  kind: ChannelKind,
  pointer: string,
  ...given: Parameters<ChannelKind['read']>
): Promise<void> {
  const error = { code: 'INVALID_CHANNEL', pointer }
  await expect(async () => kind.read(...given)).rejects.toMatchObject(error)
}

/** The setup as a store returns it: JSON, without the secret that was shown once. */
function stored({ config, secrets }: ChannelSetup): ChannelSetup {
  return JSON.parse(JSON.stringify({ config, secrets })) as ChannelSetup
}

describe('the kind of webhooks', () => {
  const kind = webhookKind(LOOPBACK)

  it('generates a secret that signs, and shows it once', async () => {
    const { url, requests } = await receive()
    const draft = await kind.read({ url })
    expect(draft.config).toEqual({ url })
    expect(draft.secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/)
    await deliver(kind, stored(draft))
    expect(isSigned(requests[0]!, draft.secret!)).toBe(true)
    const changed = await kind.read({ compress: 'gzip' }, stored(draft))
    expect(changed.secret).toBeUndefined()
    expect((await kind.read({ url })).secret).not.toBe(draft.secret)
  })

  it('signs with the former secret too for 24 hours after it was replaced', async () => {
    const { url, requests } = await receive()
    const now = Date.parse('2026-03-01T12:00:00Z')
    vi.useFakeTimers({ now, toFake: ['Date'] })
    const draft = await kind.read({ url })
    const rotated = kind.rotate!(stored(draft), now)
    expect(rotated.secret).toMatch(/^whsec_/)
    const setup = stored(rotated)
    const channel = kind.open(setup)
    const signedBy = async (ms: number): Promise<readonly boolean[]> => {
      vi.setSystemTime(now + ms)
      await channel.deliver(events, deliveryOf(events))
      const request = requests.at(-1)!
      return [draft.secret!, rotated.secret!].map((secret) => isSigned(request, secret))
    }
    const day = 24 * 60 * 60_000
    expect(await signedBy(0)).toEqual([true, true])
    expect(await signedBy(day - 1000)).toEqual([true, true])
    expect(await signedBy(day)).toEqual([false, true])
  })

  it('hides the values of headers, and sends them', async () => {
    const { url, requests } = await receive()
    const draft = await kind.read({ url, headers: { authorization: 'Bearer s3cret' } })
    expect(draft.config).toEqual({ url, headers: { authorization: '[redacted]' } })
    const kept = await kind.read({ ...draft.config, compress: 'gzip' }, stored(draft))
    expect(JSON.stringify(kept.config)).not.toContain('Bearer')
    await deliver(kind, stored(kept))
    expect(requests[0]!.headers).toMatchObject({
      authorization: 'Bearer s3cret',
      'content-encoding': 'gzip',
    })
  })

  it('keeps members that are not given, and removes members that are null', async () => {
    const { url } = await receive()
    const batch = { maxEvents: 10, maxWait: { seconds: 5 } }
    const rate = { count: 2, per: { seconds: 1 } }
    const draft = await kind.read({ url, batch, rate, headers: { 'x-key': '1' } })
    const changed = await kind.read({ rate: null, headers: null }, stored(draft))
    expect(changed.config).toEqual({ url, batch })
    expect(kind.open(stored(draft))).toMatchObject({ rate, batch: { ...batch, maxBytes: 262_144 } })
    expect(kind.open(stored(changed))).not.toHaveProperty('rate')
  })

  it('does not send stored headers to another server', async () => {
    const [first, second] = [await receive(), await receive()]
    const draft = await kind.read({ url: first.url, headers: { authorization: 's3cret' } })
    for (const headers of [undefined, { authorization: '[redacted]' }]) {
      const given = { url: second.url, ...(headers && { headers }) }
      await expectRefused(kind, '/config/headers', given, stored(draft))
    }
    for (const headers of [null, { authorization: 'other' }])
      await kind.read({ url: second.url, headers }, stored(draft))
    const moved = await kind.read({ url: `${first.url}&more=1` }, stored(draft))
    await deliver(kind, stored(moved))
    expect(first.requests[0]!.headers['authorization']).toBe('s3cret')
  })

  it.each<[pointer: string, wrong: JsonObject]>([
    ['/config/url', { url: null }],
    ['/config/secret', { secret: 'whsec_x' }],
    ['/config/headers', { headers: { 'webhook-id': 'x' } }],
    ['/config/headers', { headers: { 'x-key': '[redacted]' } }],
    ['/config/batch', { batch: 10 }],
    ['/config/batch/maxEvents', { batch: { maxEvents: 1001 } }],
    ['/config/batch/maxBytes', { batch: { maxBytes: 0.5 } }],
    ['/config/batch', { batch: { maxEvent: 1 } }],
    ['/config/batch/maxWait', { batch: { maxWait: 10 } }],
    ['/config/batch/maxWait', { batch: { maxWait: { hours: 2 } } }],
    ['/config/rate', { rate: { count: 1, per: { seconds: 1 }, burst: 3 } }],
    ['/config/rate/per', { rate: { count: 1, per: { days: 2 } } }],
    ['/config/rate/count', { rate: { per: { seconds: 1 } } }],
    ['/config/rate/per', { rate: { count: 1, per: '1s' } }],
    ['/config/compress', { compress: 'br' }],
    ['/config/format', { format: 'xml' }],
  ])('refuses a wrong member: %s', async (pointer, wrong) => {
    const url = 'http://127.0.0.1:1/'
    await expectRefused(kind, pointer, { url, ...wrong })
  })

  it('sends the format that the user chooses, with the service name of the host', async () => {
    const { url, requests } = await receive()
    const service = 'https://orders.example/audit'
    const named = webhookKind({ ...LOOPBACK, service })
    const draft = await named.read({ url, format: 'cloudevents' })
    await deliver(named, stored(draft))
    await deliver(named, stored(await named.read({ format: null }, stored(draft))))
    const [cloudEvent, standard] = requests
    expect(cloudEvent!.headers['content-type']).toBe('application/cloudevents+json')
    expect(JSON.parse(cloudEvent!.body)).toMatchObject({ specversion: '1.0', source: service })
    expect(standard!.headers['content-type']).toBe('application/json')
    expect(isSigned(cloudEvent!, draft.secret!)).toBe(true)
  })

  it('needs a URI reference as the name of the service', () => {
    expect(() => webhookKind({ service: 'our orders' })).toThrow(
      expect.objectContaining({ code: 'INVALID_OPTION' }),
    )
  })

  it('does not open a URL that the host no longer allows', async () => {
    const draft = await kind.read({ url: 'http://127.0.0.1:1/' })
    expect(() => webhookKind().open(stored(draft))).toThrow('url must be an https: URL')
  })
})

describe('the kind of Slack channels', () => {
  const kind = slackKind(LOOPBACK)

  it('hides its URL, which is a secret', async () => {
    const { url, requests } = await receive()
    const draft = await kind.read({ webhook_url: url })
    expect(draft).toEqual({
      config: { webhook_url: '[redacted]' },
      secrets: { webhook_url: url },
    })
    const same = await kind.read(draft.config, stored(draft))
    await deliver(kind, stored(same))
    expect(JSON.parse(requests[0]!.body)).toEqual({ text: 'ann created project shöp' })
    expect(kind.rotate).toBeUndefined()
  })

  it('needs a URL', async () => {
    for (const given of [{}, { webhook_url: '[redacted]' }])
      await expectRefused(kind, '/config/webhook_url', given)
  })
})

describe('the kind of e-mail channels', () => {
  const sent: object[] = []
  const transport = { sendMail: async (message: object) => void sent.push(message) }
  const kind = emailKind({ transport, from: 'Audit log <audit@acme.example>' })

  it('sends to the recipients that a user gave, with the subject of the user', async () => {
    const draft = await kind.read({ to: 'ops@acme.example', subject: '{name} of {username}' })
    expect(draft).toEqual({
      config: { to: ['ops@acme.example'], subject: '{name} of {username}' },
      secrets: {},
    })
    await deliver(kind, stored(draft))
    expect(sent).toMatchObject([
      {
        from: { name: 'Audit log', address: 'audit@acme.example' },
        to: ['ops@acme.example'],
        subject: 'shöp of ann',
      },
    ])
    expect(await kind.read({ subject: null }, stored(draft))).toEqual({
      config: { to: ['ops@acme.example'] },
      secrets: {},
    })
  })

  it.each<[pointer: string, wrong: JsonObject]>([
    ['/config/to', { to: 'nobody' }],
    ['/config/to', { to: null }],
    ['/config/to', { to: ['a@b.example\nBcc: c@d.example'] }],
    ['/config/subject', { subject: '{name' }],
    ['/config/from', { from: 'eve@evil.example' }],
  ])('refuses a wrong member: %s', async (pointer, wrong) => {
    await expectRefused(kind, pointer, { to: 'a@b.example', ...wrong })
  })
})

describe('channels that users create', () => {
  const temp = tempDir()
  afterEach(() => temp.remove())

  it('deliver signed events, and leave no secret in the store, in events and in files', async () => {
    const [hook, chat] = [await receive(), await receive()]
    const audit = new AuditLog({
      store: sqliteStore({ filename: temp.file('audit.db') }),
      types: {},
      subscriptions: {
        kinds: { webhook: webhookKind(LOOPBACK), slack: slackKind(LOOPBACK) },
        secretsKey: Buffer.alloc(32, 5).toString('base64'),
      },
    })
    const { channels } = audit.subscriptions
    const url = `http://127.0.0.1:${hook.port}/`
    const headers = { authorization: 'Bearer s3cret-header' }
    const made = await channels.create({ name: 'hook', kind: 'webhook', config: { url, headers } })
    await channels.create({ name: 'chat', kind: 'slack', config: { webhook_url: chat.url } })
    const filter = 'filter[type_eq]=test:number'
    await audit.subscriptions.create({ name: 'to-hook', channel: 'hook', filter })
    await audit.subscriptions.create({ name: 'to-chat', channel: 'chat', filter })
    await audit.recordCustom('test:number', { n: 1 })
    await vi.waitUntil(() => hook.requests.length === 1 && chat.requests.length === 1, WAIT)
    expect(isSigned(hook.requests[0]!, made.secret!)).toBe(true)
    expect(hook.requests[0]!.headers['authorization']).toBe('Bearer s3cret-header')
    expect(JSON.parse(chat.requests[0]!.body)).toEqual({ text: '[custom] test:number: 1' })

    const rotated = await channels.rotateSecret(made.channel.id)
    await audit.recordCustom('test:number', { n: 2 })
    await vi.waitUntil(() => hook.requests.length === 2, WAIT)
    for (const secret of [made.secret!, rotated.secret!])
      expect(isSigned(hook.requests[1]!, secret)).toBe(true)

    const shown = JSON.stringify([await channels.list(), (await audit.list('limit=1000')).events])
    await audit.close()
    const files = fs.readdirSync(temp.dir).map((name) => fs.readFileSync(temp.file(name)))
    const stored = Buffer.concat(files).toString('latin1')
    expect(stored).toContain(url)
    for (const secret of [
      's3cret',
      't0ken',
      'whsec_',
      made.secret!.slice(6),
      rotated.secret!.slice(6),
    ])
      for (const text of [shown, stored]) expect(text).not.toContain(secret)
  })
})
