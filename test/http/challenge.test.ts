import { AuditLogs } from 'daybook'
import { memoryLogs } from 'daybook/memory'
import * as node from 'daybook/node'
import { describe, expect, it, onTestFinished } from 'vitest'
import { type ChallengeOptions, readChallenge } from '../../src/http/challenge.js'
import { pageEndpoint } from '../../src/http/page/page.js'
import { errorResponse } from '../../src/http/problem.js'
import { type ErrorDocument, errorOf, send } from '../support/http.js'
import { listen } from '../support/node-server.js'
import { openLog, serveOn } from './until-finished.js'

const BASIC = 'Basic realm="Daybook", charset="UTF-8"'

function newLogs(): AuditLogs {
  const logs: AuditLogs = new AuditLogs({ stores: memoryLogs(), types: {} })
  onTestFinished(() => logs.close())
  return logs
}

/** Mounts that answer 401, by a path of each. */
const MOUNTS: Readonly<Record<string, (options: ChallengeOptions) => node.NodeListener>> = {
  '/': (options) => {
    const authenticate = node.basicAuth({ users: { ann: 'ann' }, ...options })
    return (request, response) => authenticate(request, response, () => response.end('in'))
  },
  '/api/events': (options) => node.auditRoutes(openLog(), options),
  '/api/subscriptions': (options) => node.subscriptionRoutes(openLog(), options),
  '/api/views': (options) => node.viewRoutes(openLog(), options),
  '/api/logs': (options) => node.logRoutes(newLogs(), options),
  '/api/logs/acme/events': (options) => node.logRoutes(newLogs(), options),
  '/audit': (options) => node.auditPage(openLog(), options),
}

const PASSWORD = 'send user name and password'

/** The header, and the detail for a request without credentials. */
const CHALLENGES: readonly [ChallengeOptions, header: string | undefined, detail: string][] = [
  [{}, BASIC, PASSWORD],
  [{ challenge: {} }, BASIC, PASSWORD],
  [{ realm: 'a "b"' }, String.raw`Basic realm="a \"b\"", charset="UTF-8"`, PASSWORD],
  [{ challenge: { realm: 'api' } }, 'Basic realm="api", charset="UTF-8"', PASSWORD],
  [{ challenge: { scheme: 'basic' } }, 'basic realm="Daybook", charset="UTF-8"', PASSWORD],
  [
    { challenge: { scheme: 'Bearer', realm: 'api' } },
    'Bearer realm="api"',
    'send credentials of the scheme Bearer',
  ],
  [
    { realm: 'api', challenge: { scheme: 'Bearer' } },
    'Bearer realm="api"',
    'send credentials of the scheme Bearer',
  ],
  // The header of `challenge` takes precedence.
  [
    { realm: 'b', challenge: { scheme: 'x', realm: 'a\\' } },
    'x realm="a\\\\"',
    'send credentials of the scheme x',
  ],
  [{ challenge: false }, undefined, 'the request has no user: sign in'],
  [{ realm: 'b', challenge: false }, undefined, 'the request has no user: sign in'],
]

it.each(CHALLENGES)('a request is refused by the challenge of %j', (options, header, detail) => {
  const unauthenticated = readChallenge(options)
  const details = (['missing', 'wrong'] as const).map((credentials) => {
    const { status, headers, body } = errorResponse(unauthenticated(credentials))
    expect([status, headers['www-authenticate']]).toEqual([401, header])
    return (JSON.parse(body as string) as ErrorDocument).errors[0]!.detail
  })
  const isBasic = detail === PASSWORD
  const wrong = isBasic ? 'user name or password is wrong' : 'the credentials are wrong'
  expect(details).toEqual([detail, wrong])
})

it.each([
  ['realm', { realm: 'Büro' }],
  ['realm', { realm: 'a\r\nset-cookie: a=b' }],
  ['realm', { realm: null }],
  ['realm', { realm: 'Büro', challenge: false }],
  ['challenge.realm', { challenge: { realm: 'Büro' } }],
  ['challenge.realm', { challenge: { realm: 5 } }],
  ['challenge.scheme', { challenge: { scheme: '' } }],
  ['challenge.scheme', { challenge: { scheme: 'Bearer realm="x"' } }],
  ['challenge.scheme', { challenge: { scheme: 'Bearer\r\n' } }],
  ['challenge.scheme', { challenge: { scheme: null } }],
  ['challenge', { challenge: null }],
  ['challenge', { challenge: true }],
  ['challenge', { challenge: 'Bearer' }],
  ['challenge', { challenge: [] }],
])('%s cannot have the challenge %o', (name, options) => {
  expect(() => readChallenge(options as ChallengeOptions)).toThrow(
    expect.objectContaining({
      code: 'INVALID_OPTION',
      message: expect.stringMatching(`^${name} must be `) as string,
    }),
  )
})

it.each(Object.entries(MOUNTS))('%s has the challenge of its options', async (path, mount) => {
  for (const [options, header] of [CHALLENGES[2]!, CHALLENGES[6]!, CHALLENGES[8]!]) {
    const { url, close } = await listen(mount(options))
    const response = await send(url, path, { user: null })
    const wrong = await send(url, path, { user: 'ann:wrong' })
    await close()
    for (const { status, headers } of [response, wrong])
      expect([status, headers['www-authenticate']]).toEqual([401, header])
    expect(errorOf(response)).toMatchObject({
      code: 'UNAUTHENTICATED',
      title: 'authentication is required',
    })
  }
  expect(() => mount({ challenge: [] as ChallengeOptions['challenge'] & [] })).toThrow(
    expect.objectContaining({ code: 'INVALID_OPTION' }),
  )
})

it('a name that is not a text is an error of the host', async () => {
  const url = await serveOn((request, response) =>
    node.auditRoutes(openLog(), { username: () => ({}) as string })(request, response, (error) =>
      response.writeHead(500).end(String(error)),
    ),
  )
  const { status, body } = await send(url, '/api/events')
  expect([status, body]).toEqual([500, expect.stringContaining('username must return a text')])
})

describe('signIn of the page', () => {
  const NAVIGATION = { 'sec-fetch-mode': 'navigate', accept: 'text/html' }

  async function serve(options: node.AuditPageOptions) {
    const url = await serveOn(node.auditPage(openLog(), options))
    return (path: string, headers: Record<string, string> = {}, method = 'GET') =>
      send(url, path, { user: null, headers, method })
  }

  it.each([
    ['/login', '/login'],
    ['/login?next=/audit#top', '/login?next=/audit#top'],
    ['/anmelden/für uns', '/anmelden/f%C3%BCr%20uns'],
    ['/a/../login', '/login'],
    ['https://id.example.com/login', 'https://id.example.com/login'],
    ['HTTP://id.example.com', 'http://id.example.com/'],
  ])('%s redirects a browser that opens the page to %s', async (signIn, location) => {
    const get = await serve({ signIn })
    const opened = await get('/audit?filter[type_eq]=x', NAVIGATION)
    expect([opened.status, opened.headers.location]).toEqual([303, location])
    expect([opened.body, opened.headers['www-authenticate']]).toEqual(['', undefined])
    expect(opened.headers['cache-control']).toBe('no-store')
    expect(opened.headers['referrer-policy']).toBe('no-referrer')
  })

  it('redirects only requests that open a page, and of users who are not signed in', async () => {
    const get = await serve({ signIn: '/login' })
    // Browsers send no mode to a host without TLS.
    expect((await get('/audit/', { accept: 'text/html,*/*' })).status).toBe(303)
    expect((await get('/audit', NAVIGATION, 'HEAD')).status).toBe(303)
    for (const [path, headers, method] of [
      ['/audit', {}, 'GET'],
      ['/audit', { accept: '*/*' }, 'GET'],
      ['/audit', { 'sec-fetch-mode': 'cors', accept: 'text/html' }, 'GET'],
      ['/audit/icon.svg', { 'sec-fetch-mode': 'no-cors' }, 'GET'],
      ['/audit', NAVIGATION, 'POST'],
    ] as const) {
      const refused = await get(path, headers, method)
      expect([refused.status, refused.headers['www-authenticate']]).toEqual([401, undefined])
    }
    const signedIn = await serve({ signIn: '/login', username: () => 'ann' })
    expect((await signedIn('/audit', NAVIGATION)).status).toBe(200)
  })

  it('keeps a challenge that is set already', async () => {
    const get = await serve({ signIn: '/login', challenge: { scheme: 'Bearer' } })
    expect((await get('/audit')).headers['www-authenticate']).toBe('Bearer realm="Daybook"')
  })

  it.each([
    '',
    'login',
    '//other.example',
    '/\\other.example',
    '/\t/other.example',
    '\\\\other.example',
    'javascript:alert(1)',
    'data:text/html,x',
    'ftp://other.example',
    'https:/',
    'https://',
    '/audit',
    '/audit/login',
    '/login/../audit?x',
    null,
    false,
    5,
  ])('cannot be %o', (signIn) => {
    expect(() => pageEndpoint(openLog(), { signIn: signIn as string })).toThrow(
      expect.objectContaining({
        code: 'INVALID_OPTION',
        message: expect.stringMatching(/^signIn must /) as string,
      }),
    )
  })
})
