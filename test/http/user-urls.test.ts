import dns from 'node:dns'
import type { Channel, ChannelSetup } from 'daybook'
import { slackKind, type UserUrlOptions, webhookKind } from 'daybook/channels'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { closeReceivers, deliveryOf, faultOf, numberedEvent, receive } from '../support/receiver.js'

afterEach(async () => {
  vi.restoreAllMocks()
  await closeReceivers()
})

const LOOPBACK = { allow: ['127.0.0.0/8', '::1'], allowHttp: true } as const

const secrets = { secret: `whsec_${Buffer.alloc(32, 7).toString('base64')}`, headers: {} }
const setupOf = (url: string): ChannelSetup => ({ config: { url }, secrets })

/** The channel of a URL that was stored without a check. */
const open = (url: string, options: UserUrlOptions): Channel =>
  webhookKind(options).open(setupOf(url))

const deliver = (channel: Channel): unknown => {
  const events = [numberedEvent(1)]
  return channel.deliver(events, deliveryOf(events))
}

/** Resolves `name` to these addresses, one list for each lookup. The last list is used for all further lookups. */
function answerLookups(name: string, ...answers: readonly (readonly string[])[]): () => number {
  let count = 0
  vi.spyOn(dns, 'lookup').mockImplementation(((
    host: string,
    options: dns.LookupOptions,
    callback: (error: Error | null, found?: unknown, family?: number) => void,
  ) => {
    if (host !== name) return callback(Object.assign(new Error('ENOTFOUND'), { code: 'ENOTFOUND' }))
    const answer = answers[Math.min(count++, answers.length - 1)]!
    const found = answer.map((address) => ({ address, family: address.includes(':') ? 6 : 4 }))
    if (options.all) return callback(null, found)
    return callback(null, found[0]!.address, found[0]!.family)
  }) as unknown as typeof dns.lookup)
  return () => count
}

const HOSTILE = [
  ...['127.0.0.1', '127.1', '2130706433', '0x7f000001', '0177.0.0.1', '0', '0.0.0.0', 'localhost'],
  ...['127.0.0.1.', '①②⑦.⓪.⓪.①', '169.254.169.254', '10.0.0.1', '192.168.1.1', '172.16.0.1'],
  ...['100.64.0.1', '198.18.0.1', '192.0.2.1', '192.88.99.1', '224.0.0.1', '255.255.255.255'],
  ...['[::1]', '[::]', '[::ffff:127.0.0.1]', '[::ffff:7f00:1]', '[::127.0.0.1]', '[::7f00:1]'],
  ...['[::ffff:0:127.0.0.1]', '[64:ff9b::7f00:1]', '[64:ff9b:1::7f00:1]', '[2002:7f00:1::]'],
  ...['[2001::1]', '[2001:db8::1]', '[fe80::1]', '[fec0::1]', '[fc00::1]', '[ff02::1]'],
  ...['[100::1]', '[3fff::1]', '[5f00::1]'],
]

describe('a URL that a user gave', () => {
  it.each(HOSTILE)('does not lead to %s', async (host) => {
    const { port, connections } = await receive()
    const url = `http://${host}:${port}/`
    const kind = webhookKind({ allowHttp: true })
    await expect(async () => kind.read({ url })).rejects.toMatchObject({
      code: 'INVALID_CHANNEL',
      pointer: '/config/url',
    })
    const fault = await faultOf(deliver(kind.open(setupOf(url))))
    expect(fault.kind).toBe('address')
    expect(connections()).toBe(0)
  })

  it.each(['127.0.0.1', '[::127.0.0.1]', 'rebind.example'])(
    'does not lead to a private address over TLS: %s',
    async (host) => {
      const { port, connections } = await receive()
      answerLookups('rebind.example', ['127.0.0.1'])
      const url = `https://${host}:${port}/`
      const kind = webhookKind()
      await expect(async () => kind.read({ url })).rejects.toThrow('is not allowed')
      expect((await faultOf(deliver(kind.open(setupOf(url))))).kind).toBe('address')
      expect(connections()).toBe(0)
    },
  )

  it.each([
    ['a name', ['127.0.0.1']],
    ['a name of several', ['203.0.112.1', '::127.0.0.1']],
  ])('does not lead to a private address by %s', async (_what, addresses) => {
    const { port, connections } = await receive()
    const url = `http://rebind.example:${port}/`
    answerLookups('rebind.example', addresses)
    await expect(async () => webhookKind({ allowHttp: true }).read({ url })).rejects.toThrow(
      'url leads to an address that is not allowed',
    )
    expect(await faultOf(deliver(open(url, { allowHttp: true })))).toMatchObject({
      kind: 'address',
      permanent: false,
      message: `http://rebind.example:${port}: its address is not allowed`,
    })
    expect(connections()).toBe(0)
  })

  it('does not lead to a private address when its name changes after the check', async () => {
    const { port, connections } = await receive()
    const url = `http://rebind.example:${port}/`
    const kind = webhookKind({ allowHttp: true })
    const lookups = answerLookups('rebind.example', ['203.0.112.1'], ['127.0.0.1'])
    const { config, secrets } = await kind.read({ url })
    const fault = await faultOf(deliver(kind.open({ config, secrets })))
    expect(fault.kind).toBe('address')
    // Each connection looks the name up once, and uses the checked address.
    expect(lookups()).toBe(2)
    expect(connections()).toBe(0)
  })

  it('is not followed to another address', async () => {
    const { url } = await receive((_, response) =>
      response.writeHead(307, { location: 'http://169.254.169.254/latest/meta-data/' }).end(),
    )
    const fault = await faultOf(deliver(open(url, LOOPBACK)))
    expect(fault).toMatchObject({ kind: 'status', status: 307 })
  })

  it.each<[string, readonly string[], readonly string[], boolean]>([
    ['an address of a range', ['127.0.0.0/8'], ['127.0.0.1'], true],
    ['the address itself', ['127.0.0.1'], ['127.0.0.1'], true],
    ['of both families', ['::1/128', '127.0.0.1/32'], ['127.0.0.1', '::1'], true],
    ['only one of two', ['127.0.0.1'], ['127.0.0.1', '10.0.0.1'], false],
    ['another range', ['10.0.0.0/8', 'fd00::/8'], ['127.0.0.1'], false],
  ])('may lead to an address that the host allows: %s', async (_, allow, addresses, isAllowed) => {
    const { requests, port } = await receive()
    const warn = vi.spyOn(console, 'warn')
    answerLookups('inside.example', addresses)
    const sent = deliver(open(`http://inside.example:${port}/`, { allow, allowHttp: true }))
    if (isAllowed) await sent
    else expect((await faultOf(sent)).kind).toBe('address')
    expect(requests).toHaveLength(isAllowed ? 1 : 0)
    expect(warn).not.toHaveBeenCalled()
  })

  it('waits if its name cannot be looked up', async () => {
    answerLookups('other.example', ['203.0.112.1'])
    const kind = webhookKind()
    const { config, secrets } = await kind.read({ url: 'https://gone.example/' })
    const fault = await faultOf(deliver(kind.open({ config, secrets })))
    expect(fault).toMatchObject({ kind: 'network', message: 'https://gone.example: ENOTFOUND' })
  })

  it.each([
    ['http://example.com/', 'must be an https: URL'],
    ['ftp://example.com/', 'must be an http: or https: URL'],
    ['https://ann:s3cret@example.com/', 'must not have a user name or a password'],
    ['s3cret', 'must be an http: or https: URL'],
    [7, 'must be an http: or https: URL'],
    [null, 'must be an http: or https: URL'],
  ])('is refused: %s', async (url, problem) => {
    answerLookups('example.com', ['203.0.112.1'])
    for (const [kind, member] of [
      [webhookKind(), 'url'],
      [slackKind(), 'webhook_url'],
    ] as const) {
      const error: unknown = await Promise.resolve()
        .then(() => kind.read({ [member]: url }))
        .catch((thrown: unknown) => thrown)
      expect(error).toMatchObject({ code: 'INVALID_CHANNEL', pointer: `/config/${member}` })
      expect((error as Error).message).toContain(problem)
      expect((error as Error).message).not.toContain('s3cret')
    }
  })

  it.each(['10.0.0.0/33', '10.0.0/8', 'example.com', '10.0.0.0/', ''])(
    'cannot be allowed by %j, which is not a range',
    (range) => {
      expect(() => webhookKind({ allow: [range] })).toThrow(
        expect.objectContaining({ code: 'INVALID_OPTION' }),
      )
    },
  )
})
