import { setImmediate as nextTurn } from 'node:timers/promises'
import { basicAuth, type BasicAuthOptions } from 'daybook/koa'
import Database from 'better-sqlite3'
import Koa from 'koa'
import { RateLimiterSQLite } from 'rate-limiter-flexible'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { basicAuthentication } from '../../src/http/basic-auth.js'
import type { FailureCounter, FailureCounterOptions } from '../../src/http/failure-counters.js'
import { errorOf, JSON_API, send } from '../support/http.js'
import { tempDir } from '../support/temp.js'
import { serveOn } from './until-finished.js'

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
  vi.useFakeTimers({ toFake: ['Date', 'performance', 'setTimeout', 'clearTimeout'] })
  onTestFinished(() => void vi.useRealTimers())
  const start = Date.now()
  const clock = {
    set ms(ms: number) {
      vi.advanceTimersByTime(start + ms - Date.now())
    },
  }
  const authenticate = basicAuthentication(options)
  const attempt = async (authorization: string, address = HERE): Promise<Attempt> => {
    const result = await authenticate(authorization, () => address)
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
    ['in the usual form', basic('ann', 'ann'), 'ann'],
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
    ['no password', basic('ann', '')],
    ['an empty password for nobody', basic('eve', '')],
    ['no user name', basic('', 'ann')],
    ['no colon', `Basic ${base64('ann')}`],
    ['a control character', basic('ann', 'ann\n')],
    ['a byte order mark before the name', basic('\uFEFFann', 'ann')],
    ['bytes that are not UTF-8', `Basic ${base64(Uint8Array.of(0x61, 0x3a, 0xff))}`],
    ['no base64', 'Basic ann:ann'],
    ['nothing after the scheme', 'Basic '],
    ['another scheme', `Bearer ${base64('ann:ann')}`],
    ['more than a header should hold', basic('ann', 'ann'.padEnd(100_000, 'n'))],
    ['as many spaces', `Basic ${' '.repeat(100_000)}${base64('ann:ann')}`],
  ])('are refused: %s', async (_, header) => {
    const { attempt } = authentication({ users: KNOWN })
    expect(await attempt(header)).toEqual(REFUSED)
  })

  it.each(['__proto__', 'constructor', 'toString', 'hasOwnProperty', 'valueOf'])(
    'are refused for the name of an inherited member: %s',
    async (name) => {
      const { attempt } = authentication({ users: { ann: 'ann' }, failures: false })
      const member = String(Object.prototype[name as 'toString'])
      for (const password of ['', 'ann', '[object Object]', 'undefined', 'null', member])
        expect(await attempt(basic(name, password))).toEqual(REFUSED)
    },
  )

  it('are accepted for a user with the name of an inherited property', async () => {
    const users = JSON.parse('{"__proto__":"secret"}') as Record<string, string>
    const { attempt } = authentication({ users })
    expect(await attempt(basic('__proto__', 'secret'))).toEqual({ username: '__proto__' })
    expect(await attempt(basic('__proto__', 'other'))).toEqual(REFUSED)
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
    ...['ann:ann', ['ann'], null, undefined, 5].map((users): [string, BasicAuthOptions] => [
      'users must be',
      { users: users as never },
    ]),
    ['the password of ann is empty', { users: { ann: '' } }],
    ['the password of ann is empty', { users: { ann: undefined as unknown as string } }],
    ['realm must be printable ASCII', { users: KNOWN, realm: 'Büro' }],
    ['failures.perUser must be', { users: KNOWN, failures: { perUser: 0 } }],
    ['failures.perAddress must be', { users: KNOWN, failures: { perAddress: 1.5 } }],
    ['failures.perAccount must be', { users: KNOWN, failures: { perAccount: -1 } }],
    ['failures.within must be', { users: KNOWN, failures: { within: { seconds: -1 } } }],
    [
      'failures.within must be at most 24 days',
      { users: KNOWN, failures: { within: { days: 25 } } },
    ],
    ['failures.store must be', { users: KNOWN, failures: { store: {} as never } }],
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

  it('count for one minute after the first', async () => {
    const { attempt, clock } = authentication({ users: KNOWN })
    for (let n = 0; n < 10; n++) {
      clock.ms = n * 1000
      await attempt(wrong('ann', n))
    }
    clock.ms = 59_999
    expect(await attempt(wrong('ann'))).toEqual({ status: 429, retryAfter: '1' })
    clock.ms = 60_000
    for (let n = 0; n < 10; n++) expect(await attempt(wrong('ann', n))).toEqual(REFUSED)
    expect(await attempt(wrong('ann'))).toEqual({ status: 429, retryAfter: '60' })
    clock.ms = 120_000
    expect(await attempt(basic('ann', 'ann'))).toEqual({ username: 'ann' })
  })

  it('of a user are counted from 0 after a success', async () => {
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
    // Thousands of faked timers are slow.
    vi.useRealTimers()
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

  describe('per account', () => {
    const addressOf = (n: number): string => `198.18.${n >> 8}.${n & 255}`
    const users = (_: string, password: string): boolean => password === 'right'

    /** Attempts with wrong passwords for one user, each from another address. */
    async function guess(attempt: ReturnType<typeof authentication>['attempt'], names: string[]) {
      for (const [n, name] of names.entries())
        expect(await attempt(wrong(name), addressOf(n))).toEqual(REFUSED)
    }

    /** Makes attempts at once. Resolves to the result of each, and the seconds after which it came. */
    async function atOnce(count: number, act: (n: number) => Promise<Attempt>) {
      const start = performance.now()
      const outcomes = Array.from({ length: count }, async (_, n) => {
        const outcome = await act(n)
        return { ...outcome, seconds: Math.round((performance.now() - start) / 1000) }
      })
      const all = Promise.all(outcomes)
      await nextTurn()
      await vi.advanceTimersByTimeAsync(20_000)
      return all
    }

    it('are limited to 100 from any addresses; further attempts are delayed to one per second', async () => {
      const { attempt } = authentication({ users })
      await guess(attempt, Array<string>(100).fill('ann'))
      const later = await atOnce(30, (n) => attempt(wrong('ann'), addressOf(100 + n)))
      const checked = later.filter(({ status }) => status === 401)
      expect(checked.map(({ seconds }) => seconds)).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10])
      const refused = later.filter(({ status }) => status === 429)
      expect(refused).toHaveLength(20)
      for (const one of refused) expect(one).toMatchObject({ retryAfter: '11', seconds: 0 })
      // No user is locked out, because the right password is only delayed. Other users are not affected.
      expect(await atOnce(1, () => attempt(basic('ann', 'right')))).toEqual([
        { username: 'ann', seconds: 1 },
      ])
      expect(await attempt(basic('bob', 'right'))).toEqual({ username: 'bob' })
    })

    it('do not delay a user at an address of an earlier success', async () => {
      const { attempt } = authentication({ users })
      expect(await attempt(basic('ann', 'right'))).toEqual({ username: 'ann' })
      await guess(attempt, Array<string>(100).fill('ann'))
      expect(await attempt(basic('ann', 'right'))).toEqual({ username: 'ann' })
      const [elsewhere] = await atOnce(1, () => attempt(basic('ann', 'right'), ELSEWHERE))
      expect(elsewhere).toEqual({ username: 'ann', seconds: 1 })
    })

    it('count together for spellings that a directory may treat as the same', async () => {
      const { attempt } = authentication({ users, failures: { perUser: 2, perAccount: 3 } })
      await guess(attempt, ['ann', 'ANN', 'Ａnn'])
      const [next] = await atOnce(1, () => attempt(basic('ann', 'right'), ELSEWHERE))
      expect(next).toEqual({ username: 'ann', seconds: 1 })
      expect(await attempt(wrong('bob'))).toEqual(REFUSED)
      expect(await attempt(wrong('Bob'))).toEqual(REFUSED)
      expect((await attempt(wrong('BOB'))).status).toBe(429)
    })

    it('delay the results of concurrent attempts', async () => {
      const slow = async (_: string, password: string): Promise<boolean> => {
        await new Promise((resolve) => setImmediate(resolve))
        return password === 'right'
      }
      const { attempt } = authentication({ users: slow, failures: { perAccount: 20 } })
      const outcomes = await atOnce(50, (n) =>
        attempt(n === 40 ? basic('ann', 'right') : wrong('ann'), addressOf(n)),
      )
      expect(
        outcomes.filter(({ seconds, status }) => seconds === 0 && status === 401),
      ).toHaveLength(20)
      expect(outcomes[40]).toEqual({ status: 429, retryAfter: '11', seconds: 0 })
    })
  })

  it('count for all processes with a store', async () => {
    const shared = new Map<string, { consumedPoints: number; msBeforeNext: number }>()
    const store = ({ keyPrefix, duration }: FailureCounterOptions): FailureCounter => ({
      get: async (key) => shared.get(keyPrefix + key) ?? null,
      async penalty(key) {
        const consumedPoints = (shared.get(keyPrefix + key)?.consumedPoints ?? 0) + 1
        const count = { consumedPoints, msBeforeNext: duration * 1000 }
        shared.set(keyPrefix + key, count)
        return count
      },
      delete: async (key) => shared.delete(keyPrefix + key),
    })
    const processes = Array.from({ length: 5 }, () =>
      authentication({ users: KNOWN, failures: { store } }),
    )
    for (const { attempt } of [...processes, ...processes])
      expect(await attempt(wrong('ann'))).toEqual(REFUSED)
    for (const { attempt } of processes)
      expect(await attempt(basic('ann', 'ann'))).toEqual({ status: 429, retryAfter: '60' })
    // The keys do not contain names, so that keys of long names fit into any store.
    expect(await processes[0]!.attempt(wrong('n'.repeat(5000)))).toEqual(REFUSED)
    for (const key of shared.keys()) expect(key).toMatch(/^daybook-\w+[\w-]{43}$/)
  })

  it('are counted for all processes by limiters of rate-limiter-flexible', async () => {
    const temp = tempDir()
    onTestFinished(() => temp.remove())
    const open = (): Database.Database => {
      const database = new Database(temp.file('failures.db'))
      onTestFinished(() => void database.close())
      return database
    }
    const table = { storeType: 'better-sqlite3', tableName: 'failures' }
    const created = { ...table, points: 1, duration: 1, storeClient: open() }
    await new Promise<void>((resolve, reject) => {
      const limiter = new RateLimiterSQLite(created, (error?: Error) =>
        error ? reject(error) : resolve(),
      )
      expect(limiter).toBeDefined()
    })
    const openProcess = () => {
      const storeClient = open()
      const store = (options: FailureCounterOptions): FailureCounter =>
        new RateLimiterSQLite({ ...options, ...table, storeClient, tableCreated: true })
      return authentication({ users: KNOWN, failures: { perUser: 2, store } })
    }
    const [first, second] = [openProcess(), openProcess()]
    expect(await first.attempt(wrong('ann'))).toEqual(REFUSED)
    expect(await second.attempt(basic('ann', 'ann'))).toEqual({ username: 'ann' })
    expect(await first.attempt(wrong('ann', 1))).toEqual(REFUSED)
    expect(await second.attempt(wrong('ann', 2))).toEqual(REFUSED)
    expect((await first.attempt(wrong('ann'))).status).toBe(429)
    expect((await second.attempt(basic('ann', 'ann'))).status).toBe(429)
  })

  it('pass errors of the store on', async () => {
    const store = (): FailureCounter => {
      const fail = () => Promise.reject(new Error('the store is away'))
      return { get: fail, penalty: fail, delete: fail }
    }
    const { attempt } = authentication({ users: KNOWN, failures: { store } })
    await expect(attempt(basic('ann', 'ann'))).rejects.toThrow('the store is away')
  })
})

describe('basicAuth of daybook/koa', () => {
  function serve(options: BasicAuthOptions, app = new Koa()): Promise<string> {
    app.use(basicAuth(options))
    app.use((ctx) => void (ctx.body = 'in'))
    return serveOn(app.callback())
  }

  it('responds to other requests with a challenge and a JSON:API error', async () => {
    const url = await serve({ users: KNOWN, realm: 'a "realm" \\' })
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
    const url = await serve({ users: KNOWN, failures: { perUser: 2 } })
    for (const user of ['ann:1', 'ann:2']) expect((await send(url, '/', { user })).status).toBe(401)
    const response = await send(url, '/', { user: 'ann' })
    expect(response.status).toBe(429)
    expect(response.headers['www-authenticate']).toBeUndefined()
    expect(Number(response.headers['retry-after'])).toSatisfy((s) => s >= 1 && s <= 60)
    expect(errorOf(response)).toMatchObject({ status: '429', code: 'TOO_MANY_TRIES' })
    expect((await send(url, '/', { user: 'bob:a:b:c' })).status).toBe(200)
  })

  // The part of X-Forwarded-For that a client sends comes before the addresses that the proxies add.
  it.each<
    [
      string,
      { proxy: true; maxIpsCount?: number; proxyIpHeader?: string },
      (client: string, forged: string) => Record<string, string>,
    ]
  >([
    ['a proxy that replaces it', { proxy: true }, (client) => ({ 'x-forwarded-for': client })],
    [
      'one proxy and maxIpsCount 1',
      { proxy: true, maxIpsCount: 1 },
      (client, forged) => ({ 'x-forwarded-for': `${forged}, ${client}` }),
    ],
    [
      'two proxies and maxIpsCount 2',
      { proxy: true, maxIpsCount: 2 },
      (client, forged) => ({ 'x-forwarded-for': `${forged}, ${client}, 10.0.0.1` }),
    ],
    [
      'a proxy that sets the header in proxyIpHeader',
      { proxy: true, proxyIpHeader: 'X-Real-IP', maxIpsCount: 1 },
      (client, forged) => ({ 'x-forwarded-for': forged, 'x-real-ip': client }),
    ],
  ])(
    'counts a forged X-Forwarded-For as the same client behind %s',
    async (_, options, headersOf) => {
      const app: Koa = new Koa(options)
      const url = await serve({ users: KNOWN, failures: { perUser: 2 } }, app)
      const from = async (client: string, forged: string, user: string): Promise<number> =>
        (await send(url, '/', { user, headers: headersOf(client, forged) })).status
      expect(await from(HERE, '198.18.0.1', 'ann:wrong')).toBe(401)
      expect(await from(HERE, '198.18.0.2, 198.18.0.3', 'ann:wrong')).toBe(401)
      expect(await from(HERE, '198.18.0.4', 'ann')).toBe(429)
      expect(await from(ELSEWHERE, HERE, 'ann')).toBe(200)
    },
  )
})
