import { type AuditEvent, AuditLog } from 'daybook'
import { email, type EmailOptions, type Render } from 'daybook/channels'
import { memoryStore } from 'daybook/memory'
import nodemailer from 'nodemailer'
import { afterEach, describe, expect, it, onTestFinished, vi } from 'vitest'
import {
  closeMailServers,
  headerOf,
  type MailServer,
  receiveMails,
  SmtpError,
} from '../support/mail-server.js'
import { deliveryOf, faultOf, numberedEvent, subscription } from '../support/receiver.js'
import { fakeTime, settled, until } from '../unit/subscriptions/world.js'

afterEach(closeMailServers)

/** A project whose name needs no encoding in an e-mail. */
const event = (n: number, name = 'shop'): AuditEvent => numberedEvent(n, { name })

type Reported = readonly [type: string, data: object]

interface Sender {
  readonly reported: Reported[]
  send(events: readonly AuditEvent[]): unknown
}

function senderTo({ port }: MailServer, options: Partial<EmailOptions> = {}): Sender {
  const transport = nodemailer.createTransport({ host: '127.0.0.1', port, ignoreTLS: true })
  const channel = email({
    transport,
    from: 'Audit log <audit@acme.example>',
    to: ['ops@acme.example', 'ann@acme.example'],
    ...options,
  })
  const reported: Reported[] = []
  return {
    reported,
    send: (events) =>
      channel.deliver(
        events,
        deliveryOf(events, undefined, (...report) => reported.push(report)),
      ),
  }
}

const messageIdOf = (id: string): string => `<${id}.${subscription.id}@acme.example>`

const about = { sender: 'audit@acme.example', subject: 'ann created project shop' }
const both = ['ops@acme.example', 'ann@acme.example']

describe('an e-mail channel', () => {
  it('sends sentences as text and as HTML, with headers of automatic mail', async () => {
    const server = await receiveMails()
    const { send, reported } = senderTo(server)
    await send([event(1), event(2, '<b>shop</b> & co')])
    const [mail] = server.mails
    expect(mail).toMatchObject({ sender: 'audit@acme.example', recipients: both })
    const header = headerOf(mail!)
    expect(Object.fromEntries(header)).toMatchObject({
      from: 'Audit log <audit@acme.example>',
      to: 'ops@acme.example, ann@acme.example',
      subject: 'ann created project shop (and 1 more)',
      'message-id': messageIdOf(`${event(1).id}_${event(2).id}`),
      'auto-submitted': 'auto-generated',
      'list-id': '<errors.daybook.acme.example>',
    })
    expect(mail!.source).toContain(
      '2026-11-22 16:09:30 UTC  ann created project shop\r\n' +
        '2026-11-22 16:09:30 UTC  ann created project <b>shop</b> & co\r\n',
    )
    expect(mail!.source.replaceAll('=\r\n', '')).toContain(
      'ann created project &lt;b&gt;shop&lt;/b&gt; &amp; co</td>',
    )
    expect(reported).toEqual([
      [
        'info:email:sent',
        {
          ...about,
          subject: 'ann created project shop (and 1 more)',
          recipients: both,
          message_id: messageIdOf(`${event(1).id}_${event(2).id}`),
        },
      ],
    ])
  })

  it('gathers up to 50 events for up to a minute, and stores each cursor', () => {
    const transport = { sendMail: async () => ({}) }
    expect(email({ transport, from: 'a@b.example', to: 'c@d.example' })).toMatchObject({
      kind: 'email',
      batch: { maxEvents: 50, maxBytes: 262_144, maxWait: { minutes: 1 } },
      checkpoint: 'each',
    })
  })

  it('fills the subject from a template, or uses the sentence if the event lacks a value', async () => {
    const server = await receiveMails()
    const { send } = senderTo(server, { subject: '\\[prod\\] {code}: {sentence} by {username}' })
    await send([numberedEvent(1, { name: 'shop', code: 'a-7' })])
    await send([event(2)])
    expect(server.mails.map((mail) => headerOf(mail).get('subject'))).toEqual([
      '[prod] a-7: ann created project shop by ann',
      'ann created project shop',
    ])
  })

  it('sends a text of the host', async () => {
    const server = await receiveMails()
    const render: Render = (events, { sentence }) => ({
      subject: `Projects:\r\nBcc: eve@evil.example ${events.length}`,
      text: `Look: ${sentence(events[0]!)}`,
    })
    await senderTo(server, { render }).send([event(1)])
    const [mail] = server.mails
    expect(headerOf(mail!).get('subject')).toBe('Projects: Bcc: eve@evil.example 1')
    expect(mail!.source).toContain('\r\n\r\nLook: ann created project shop')
    expect(mail!.source).not.toContain('text/html')
  })

  it('lets no event add a header, a recipient or an end of the text', async () => {
    const server = await receiveMails()
    const evil = 'x\r\nBcc: eve@evil.example\r\n\r\nhello\r\n.\r\nQUIT\r\n<script>alert(1)</script>'
    const { send } = senderTo(server, { subject: '{name}' })
    await send([event(1, evil)])
    expect(server.mails).toHaveLength(1)
    const [mail] = server.mails
    expect(mail!.recipients).toEqual(both)
    expect([...headerOf(mail!).keys()].toSorted()).toEqual([
      'auto-submitted',
      'content-type',
      'date',
      'from',
      'list-id',
      'message-id',
      'mime-version',
      'subject',
      'to',
    ])
    expect(headerOf(mail!).get('subject')).toMatch(/^x Bcc: eve@evil\.example hello \. QUIT/)
    expect(mail!.source.split('<!doctype html>')[1]).not.toContain('<script>')
    expect(mail!.source).not.toMatch(/^Bcc:/m)
  })

  it('reports that it was sent, and the recipients that the server refused', async () => {
    const server = await receiveMails({
      onRcptTo: ({ address }, _, done) =>
        done(address.startsWith('ann') ? new SmtpError(550, 'no such user') : null),
    })
    const { send, reported } = senderTo(server)
    await send([event(1)])
    expect(server.mails[0]!.recipients).toEqual(['ops@acme.example'])
    expect(reported).toEqual([
      [
        'info:email:sent',
        { ...about, recipients: ['ops@acme.example'], message_id: messageIdOf(event(1).id) },
      ],
      [
        'error:email:send_failed',
        {
          ...about,
          recipients: ['ann@acme.example'],
          error: 'the mail server responded with 550 to RCPT TO',
        },
      ],
    ])
  })

  it('has one Message-ID for all attempts, as after a dropped connection', async () => {
    let drops = 1
    const server = await receiveMails({ answer: () => (drops-- > 0 ? 'drop' : undefined) })
    const { send, reported } = senderTo(server)
    const fault = await faultOf(send([event(1)]))
    expect(fault).toMatchObject({ kind: 'network', permanent: false })
    await send([event(1)])
    const ids = server.mails.map((mail) => headerOf(mail).get('message-id'))
    expect(ids).toEqual([messageIdOf(event(1).id), messageIdOf(event(1).id)])
    expect(reported.map(([type]) => type)).toEqual(['error:email:send_failed', 'info:email:sent'])
  })

  it('is sent after a passing refusal', async () => {
    let refusals = 1
    const server = await receiveMails({
      answer: () => (refusals-- > 0 ? new SmtpError(451, 'later, s3cret') : undefined),
    })
    const { send, reported } = senderTo(server)
    const fault = await faultOf(send([event(1)]))
    const message = 'the mail server responded with 451 to DATA'
    expect(fault).toMatchObject({ kind: 'smtp', permanent: false, message })
    await send([event(1)])
    expect(server.mails).toHaveLength(1)
    expect(reported).toMatchObject([
      ['error:email:send_failed', { ...about, recipients: both, error: message }],
      ['info:email:sent', {}],
    ])
  })

  it.each([
    ['the text', { answer: () => new SmtpError(554) }, 554, 'DATA', true],
    ['the size', { answer: () => new SmtpError(552) }, 552, 'DATA', true],
    ['the sender', { onMailFrom: refuseAddress }, 550, 'MAIL FROM', false],
    ['all recipients', { onRcptTo: refuseAddress }, 550, 'RCPT TO', false],
  ] as const)('is refused for good only because of the mail itself: %s', async (...row) => {
    const [, options, code, command, permanent] = row
    const fault = await faultOf(senderTo(await receiveMails(options)).send([event(1)]))
    const message = `the mail server responded with ${code} to ${command}`
    expect(fault).toMatchObject({ kind: 'smtp', permanent, message })
  })

  it('waits if there is no server', async () => {
    const server = await receiveMails()
    await server.close()
    const { send, reported } = senderTo(server)
    expect(await faultOf(send([event(1)]))).toMatchObject({ kind: 'network', permanent: false })
    expect(reported.map(([type]) => type)).toEqual(['error:email:send_failed'])
  })

  it('takes the options of nodemailer, a URL, or an object with sendMail', async () => {
    const server = await receiveMails()
    const url = `smtp://127.0.0.1:${server.port}?ignoreTLS=true`
    await senderTo(server, { transport: url }).send([event(1)])
    await senderTo(server, { transport: { host: '127.0.0.1', port: server.port } }).send([event(2)])
    expect(server.mails).toHaveLength(2)
    const sent: unknown[] = []
    const own = { sendMail: async (message: object) => void sent.push(message) }
    const { send, reported } = senderTo(server, { transport: own })
    await send([event(3)])
    expect(sent).toMatchObject([{ to: both, messageId: messageIdOf(event(3).id) }])
    expect(reported).toEqual([
      ['info:email:sent', { ...about, recipients: both, message_id: messageIdOf(event(3).id) }],
    ])
  })

  it.each<[string, Partial<Record<keyof EmailOptions, unknown>>]>([
    ['from', { from: 'no address' }],
    ['from', { from: 'a\r\nBcc: x <a@b.example>' }],
    ['from', { from: undefined }],
    ['to', { to: [] }],
    ['to', { to: 'a@b.example, c@d.example' }],
    ['to', { to: ['a@b.example\r\nBcc: c@d.example'] }],
    ['to', { to: ['a@b.example>'] }],
    ['to', { to: Array.from({ length: 51 }, (_, n) => `u${n}@b.example`) }],
    ['subject', { subject: '{name' }],
    ['subject', { subject: '' }],
  ])('refuses a wrong option: %s', (name, wrong) => {
    const transport = { sendMail: async () => ({}) }
    const options = { transport, from: 'a@b.example', to: 'c@d.example', ...wrong }
    expect(() => email(options as EmailOptions)).toThrow(
      expect.objectContaining({
        code: 'INVALID_OPTION',
        message: expect.stringMatching(`^email: ${name} `) as string,
      }),
    )
  })
})

describe('a subscription to an e-mail channel', () => {
  it('records the first failure and the success, and sends one mail', async () => {
    let refusals = 2
    const server = await receiveMails({
      answer: () => (refusals-- > 0 ? new SmtpError(451) : undefined),
    })
    // The waits between attempts.
    fakeTime()
    onTestFinished(() => void vi.useRealTimers())
    const transport = { host: '127.0.0.1', port: server.port, ignoreTLS: true }
    const ops = email({
      transport,
      from: 'audit@acme.example',
      to: 'ops@acme.example',
      batch: { maxEvents: 1 },
    })
    const audit = new AuditLog({
      store: memoryStore(),
      types: {},
      subscriptions: { channels: { ops }, subscriptions: { all: { channel: 'ops' } } },
    })
    await audit.recordCustom('test:number', { n: 1 }, { username: 'ann' })
    const outcomes = async () => (await audit.list('filter[system_true]=1&limit=100')).events
    const isSent = async () => (await outcomes()).some(({ type }) => type === 'info:email:sent')
    await until(isSent)
    const { id } = (await audit.subscriptions.list())[0]!
    const about = {
      subscription_id: id,
      sender: 'audit@acme.example',
      subject: 'ann: [custom] test:number: 1',
    }
    const recorded = (await outcomes()).filter(({ type }) => !type.startsWith('api:subscriptions:'))
    expect(recorded.toSorted((a, b) => (a.type < b.type ? -1 : 1))).toMatchObject([
      { type: 'api:notification:error' },
      {
        type: 'error:email:send_failed',
        attributes: { ...about, recipients: ['ops@acme.example'] },
      },
      { type: 'info:email:sent', attributes: { ...about, recipients: ['ops@acme.example'] } },
    ])
    expect(server.mails).toHaveLength(1)
    await settled(audit.close())
  })
})

function refuseAddress(_address: unknown, _session: unknown, done: (error: Error) => void): void {
  done(new SmtpError(550))
}
