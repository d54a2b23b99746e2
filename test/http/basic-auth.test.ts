import { AuditLog, currentActor } from 'daybook'
import { basicAuth, type BasicAuthOptions } from 'daybook/koa'
import { memoryStore } from 'daybook/memory'
import Koa from 'koa'
import { afterEach, describe, expect, it, onTestFinished } from 'vitest'
import { basicAuthentication } from '../../src/http/basic-auth.js'
import { networkOf } from '../../src/http/login-rate-limit.js'
import { errorOf, JSON_API, send } from '../support/http.js'
import { listen, type Listening } from '../support/node-server.js'

const base64 = (text: string | Uint8Array): string => Buffer.from(text).toString('base64')
const basic = (username: string, password: string): string =>
  `Basic ${base64(`${username}:${password}`)}`

const HERE = '192.0.2.1'
const ELSEWHERE = '192.0.2.2'

interface Attempt {
  readonly username?: string
  readonly status?: number
  readonly retryAfter?: string | undefined
}

/** Authentication without a server, with a manual clock. */
function authentication(options: BasicAuthOptions) {
  const clock = { ms: 0 }
  const authenticate = basicAuthentication(options, () => clock.ms)
  const attempt = async (authorization: string, address = HERE): Promise<Attempt> => {
    const result = await authenticate(authorization, address)
    if ('username' in result) return result
    const { status, headers } = result.refusal
    return { status, retryAfter: headers['retry-after'] }
  }
  return { clock, attempt }
}

const KNOWN = { ann: 'ann', bob: 'a:b:c', zoë: 'pässwörd 😀' }
const REFUSED: Attempt = { status: 401, retryAfter: undefined }

describe('credentials', () => {
  it.each([
    ['as they should be', basic('ann', 'ann'), 'ann'],
    ['with colons in the password', basic('bob', 'a:b:c'), 'bob'],
    ['in UTF-8', basic('zoë', 'pässwörd 😀'), 'zoë'],
    ['with the scheme in any case', `bAsIC ${base64('ann:ann')}`, 'ann'],
    ['after several spaces', `Basic   ${base64('ann:ann')}  `, 'ann'],
  ])('are accepted %s', async (_, header, username) => {
    const { attempt } = authentication({ users: KNOWN })
    expect(await attempt(header)).toEqual({ username })
  })

  it.each([
    ['none', ''],
    ['a wrong password', basic('ann', 'nna')],
    ['the beginning of the password', basic('ann', 'an')],
    ['a user that there is not', basic('eve', 'ann')],
    ['a member that every object has', basic('constructor', 'ann')],
    ['no password', basic('ann', '')],
    ['an empty password for nobody', basic('eve', '')],
    ['no user name', basic('', 'ann')],
    ['no colon', `Basic ${base64('ann')}`],
    ['a control character', basic('ann', 'ann\n')],
    ['a byte order mark before the name', basic('\uFEFFann', 'ann')],
    ['bytes that are no UTF-8', `Basic ${base64(Uint8Array.of(0x61, 0x3a, 0xff))}`],
    ['no base64', 'Basic ann:ann'],
    ['nothing after the scheme', 'Basic '],
    ['another scheme', `Bearer ${base64('ann:ann')}`],
    ['more than a header should hold', basic('ann', 'ann'.padEnd(100_000, 'n'))],
    ['as many spaces', `Basic ${' '.repeat(100_000)}${base64('ann:ann')}`],
  ])('are refused: %s', async (_, header) => {
    const { attempt } = authentication({ users: KNOWN })
    expect(await attempt(header)).toEqual(REFUSED)
  })

  it('are passed to the hook, except with an empty password', async () => {
    const calls: string[][] = []
    const { attempt } = authentication({
      users: async (username, password) => {
        calls.push([username, password])
        return password === 'right'
      },
    })
    expect(await attempt(basic('ann', 'right'))).toEqual({ username: 'ann' })
    expect(await attempt(basic('ann', 'wrong'))).toEqual(REFUSED)
    expect(await attempt(basic('ann', ''))).toEqual(REFUSED)
    expect(calls).toEqual([
      ['ann', 'right'],
      ['ann', 'wrong'],
    ])
  })

  it('are accepted only if the hook returns true', async () => {
    const users = () => ({ error: 'no such user' }) as unknown as boolean
    expect(await authentication({ users }).attempt(basic('ann', 'ann'))).toEqual(REFUSED)
  })

  it.each<[string, BasicAuthOptions]>([
    ['the password of ann is empty', { users: { ann: '' } }],
    ['the password of ann is empty', { users: { ann: undefined as unknown as string } }],
    ['realm must be printable ASCII', { users: KNOWN, realm: 'Büro' }],
    ['failures.perUser must be', { users: KNOWN, failures: { perUser: 0 } }],
    ['failures.perAddress must be', { users: KNOWN, failures: { perAddress: 1.5 } }],
    ['failures.within must be', { users: KNOWN, failures: { within: { seconds: -1 } } }],
  ])('cannot be checked at all: %s', (message, options) => {
    expect(() => basicAuthentication(options)).toThrow(
      expect.objectContaining({
        code: 'INVALID_OPTION',
        message: expect.stringContaining(message) as string,
      }),
    )
  })
})

describe('failed attempts', () => {
  const wrong = (username: string, n = 0): string => basic(username, `wrong ${n}`)

  it('per user and address are limited to 10; the password is not checked after that', async () => {
    const calls: string[] = []
    const users = (username: string, password: string): boolean => {
      calls.push(username)
      return password === 'right'
    }
    const { attempt, clock } = authentication({ users })
    for (let n = 0; n < 10; n++) {
      clock.ms = n * 1000
      expect(await attempt(wrong('ann', n))).toEqual(REFUSED)
    }
    expect(await attempt(wrong('ann'))).toEqual({ status: 429, retryAfter: '51' })
    // The correct password is not checked either.
    expect(await attempt(basic('ann', 'right'))).toEqual({ status: 429, retryAfter: '51' })
    expect(calls).toHaveLength(10)
    // Other users, and the same user at another address, are not affected.
    expect(await attempt(basic('bob', 'right'))).toEqual({ username: 'bob' })
    expect(await attempt(basic('ann', 'right'), ELSEWHERE)).toEqual({ username: 'ann' })
  })

  it('count for one minute', async () => {
    const { attempt, clock } = authentication({ users: KNOWN })
    for (let n = 0; n < 10; n++) {
      clock.ms = n * 1000
      await attempt(wrong('ann', n))
    }
    clock.ms = 59_999
    expect(await attempt(wrong('ann'))).toEqual({ status: 429, retryAfter: '1' })
    clock.ms = 60_000
    expect(await attempt(wrong('ann'))).toEqual(REFUSED)
    expect(await attempt(wrong('ann'))).toEqual({ status: 429, retryAfter: '1' })
    clock.ms = 61_000
    expect(await attempt(basic('ann', 'ann'))).toEqual({ username: 'ann' })
  })

  it('of a user are reset by a success', async () => {
    const { attempt } = authentication({ users: KNOWN })
    for (let round = 0; round < 5; round++) {
      for (let n = 0; n < 9; n++) expect(await attempt(wrong('ann', n))).toEqual(REFUSED)
      expect(await attempt(basic('ann', 'ann'))).toEqual({ username: 'ann' })
    }
  })

  it('of an address count with any user names, even with successes in between', async () => {
    const { attempt } = authentication({ users: KNOWN })
    for (let n = 0; n < 100; n++) {
      expect(await attempt(wrong(`user ${n}`))).toEqual(REFUSED)
      if (n < 99) expect(await attempt(basic('ann', 'ann'))).toEqual({ username: 'ann' })
    }
    expect(await attempt(basic('ann', 'ann'))).toEqual({ status: 429, retryAfter: '60' })
    expect(await attempt(basic('ann', 'ann'), ELSEWHERE)).toEqual({ username: 'ann' })
  })

  it('do not include requests without credentials or with an error of the hook', async () => {
    let isDown = true
    const users = async (): Promise<boolean> => {
      if (isDown) throw new Error('the directory is away')
      return true
    }
    const { attempt } = authentication({ users, failures: { perUser: 1, perAddress: 1 } })
    for (let n = 0; n < 5; n++) {
      expect(await attempt('')).toEqual(REFUSED)
      await expect(attempt(basic('ann', 'ann'))).rejects.toThrow('the directory is away')
    }
    isDown = false
    expect(await attempt(basic('ann', 'ann'))).toEqual({ username: 'ann' })
  })

  it('are limited equally when concurrent, and concurrent successes of other users pass', async () => {
    const users = async (_: string, password: string): Promise<boolean> => {
      await new Promise((resolve) => setImmediate(resolve))
      return password === 'right'
    }
    const { attempt } = authentication({ users })
    const many = async (count: number, header: (n: number) => string) => {
      const attempts = Array.from({ length: count }, (_, n) => attempt(header(n)))
      const outcomes = await Promise.all(attempts)
      return (outcome: string | number): number =>
        outcomes.filter(({ username, status }) => outcome === (username ?? status)).length
    }
    const right = basic('ann', 'right')

    expect((await many(500, () => right))('ann')).toBe(500)
    // The correct password is among the concurrent guesses, but after the limit.
    const ofOne = await many(500, (n) => (n === 250 ? right : wrong('ann', n)))
    expect([ofOne(401), ofOne(429)]).toEqual([10, 490])
    const ofMany = await many(500, (n) => wrong(`user ${n}`))
    expect([ofMany(401), ofMany(429)]).toEqual([90, 410])
  })

  it('are evicted when too many user names would fill the memory', async () => {
    const { attempt } = authentication({ users: KNOWN, failures: { perUser: 1 } })
    expect(await attempt(wrong('first'))).toEqual(REFUSED)
    expect((await attempt(wrong('first'))).status).toBe(429)
    const long = 'n'.repeat(5000)
    const addressOf = (n: number): string => `198.18.${n >> 8}.${n & 255}`
    for (let n = 0; n < 2000; n++)
      expect(await attempt(wrong(`${long}${n}`), addressOf(n))).toEqual(REFUSED)
    expect((await attempt(wrong(`${long}1999`), addressOf(1999))).status).toBe(429)
    expect(await attempt(wrong('first'))).toEqual(REFUSED)
  })

  it('can have other limits, or none', async () => {
    const strict = authentication({
      users: KNOWN,
      failures: { perUser: 2, perAddress: 3, within: { hours: 1 } },
    })
    for (const n of [1, 2]) expect(await strict.attempt(wrong('ann', n))).toEqual(REFUSED)
    expect(await strict.attempt(wrong('ann'))).toEqual({ status: 429, retryAfter: '3600' })
    expect(await strict.attempt(wrong('bob'))).toEqual(REFUSED)
    expect(await strict.attempt(wrong('zoë'))).toEqual({ status: 429, retryAfter: '3600' })

    const open = authentication({ users: KNOWN, failures: false })
    for (let n = 0; n < 200; n++) expect(await open.attempt(wrong('ann', n))).toEqual(REFUSED)
  })

  it('are counted by the /64 network of an IPv6 address', async () => {
    const { attempt } = authentication({ users: KNOWN, failures: { perUser: 1 } })
    expect(await attempt(wrong('ann'), '2001:db8:1:2::7')).toEqual(REFUSED)
    expect((await attempt(wrong('ann'), '2001:db8:1:2:aaaa:bbbb:cccc:dddd')).status).toBe(429)
    expect(await attempt(wrong('ann'), '2001:db8:1:3::7')).toEqual(REFUSED)
  })

  it.each([
    ['192.0.2.1', '192.0.2.1'],
    ['::ffff:192.0.2.1', '::ffff:192.0.2.1'],
    ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2'],
    ['2001:db8::', '2001:db8:0:0'],
    ['2001:db8::1', '2001:db8:0:0'],
    ['1::2:3:4:5:6', '1:0:0:2'],
    ['::1', '0:0:0:0'],
    ['fe80::1%eth0', 'fe80:0:0:0'],
    ['', ''],
  ])('of %s are those of %s', (address, network) => {
    expect(networkOf(address)).toBe(network)
  })
})

describe('basicAuth of daybook/koa', () => {
  let server: Listening | undefined
  afterEach(() => server?.close())

  async function serve(options: BasicAuthOptions, app = new Koa()): Promise<Listening> {
    const audit = new AuditLog({ store: memoryStore(), types: {} })
    onTestFinished(() => audit.close())
    app.silent = true
    app.use(basicAuth(options))
    app.use(async (ctx) => {
      // As in host code that has no access to the request.
      const event = await audit.recordCustom('note', {})
      ctx.body = { state: ctx.state, actor: currentActor()?.username, username: event?.username }
    })
    server = await listen(app.callback())
    return server
  }

  it('sets the user name and the actor', async () => {
    const { url } = await serve({ users: KNOWN })
    const { status, body } = await send(url, '/', { user: 'bob:a:b:c' })
    expect([status, JSON.parse(body)]).toEqual([
      200,
      { state: { username: 'bob' }, actor: 'bob', username: 'bob' },
    ])
  })

  it('responds to other requests with a challenge and a JSON:API error', async () => {
    const { url } = await serve({ users: KNOWN, realm: 'a "realm" \\' })
    const none = await send(url, '/', { user: null })
    const wrong = await send(url, '/', { user: 'ann:wrong' })
    for (const response of [none, wrong]) {
      expect([response.status, response.headers['content-type']]).toEqual([401, JSON_API])
      expect(response.headers['www-authenticate']).toBe(
        String.raw`Basic realm="a \"realm\" \\", charset="UTF-8"`,
      )
      expect(response.headers['cache-control']).toBe('no-store')
    }
    expect(errorOf(none)).toMatchObject({ status: '401', code: 'UNAUTHENTICATED' })
    expect(errorOf(none).detail).toBe('send user name and password')
    // The error does not reveal which of the two is wrong.
    const unknown = await send(url, '/', { user: 'nobody:wrong' })
    expect(unknown.body).toBe(wrong.body)
  })

  it('responds 429 with Retry-After after too many failures', async () => {
    const { url } = await serve({ users: KNOWN, failures: { perUser: 2 } })
    for (const user of ['ann:1', 'ann:2']) expect((await send(url, '/', { user })).status).toBe(401)
    const response = await send(url, '/', { user: 'ann' })
    expect(response.status).toBe(429)
    expect(response.headers['www-authenticate']).toBeUndefined()
    expect(Number(response.headers['retry-after'])).toSatisfy((s) => s >= 1 && s <= 60)
    expect(errorOf(response)).toMatchObject({ status: '429', code: 'TOO_MANY_TRIES' })
    expect((await send(url, '/', { user: 'bob:a:b:c' })).status).toBe(200)
  })

  it('counts by the client address behind a trusted proxy', async () => {
    const app = new Koa({ proxy: true })
    const { url } = await serve({ users: KNOWN, failures: { perUser: 1 } }, app)
    const from = async (address: string, user: string): Promise<number> => {
      const headers = { 'x-forwarded-for': address }
      return (await send(url, '/', { user, headers })).status
    }
    expect(await from(HERE, 'ann:wrong')).toBe(401)
    expect(await from(HERE, 'ann')).toBe(429)
    expect(await from(ELSEWHERE, 'ann')).toBe(200)
  })

  it('passes errors of the hook to Koa', async () => {
    const errors: unknown[] = []
    const app = new Koa()
    const failure = new Error('the directory is away')
    app.on('error', (error) => errors.push(error))
    const users = (): boolean => {
      throw failure
    }
    const { url } = await serve({ users }, app)
    expect((await send(url, '/')).status).toBe(500)
    expect(errors).toEqual([failure])
  })
})
