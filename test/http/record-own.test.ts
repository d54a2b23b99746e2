import type { AuditLog } from 'daybook'
import { describe, expect, it } from 'vitest'
import { type App, frameworks, headerOf } from '../support/frameworks.js'
import { newEvent, type RawRequest, send } from '../support/http.js'
import { eventsAtClose, eventsOf, openLog, serveOn } from './until-finished.js'

/* A service on each framework. Its handlers parse the path differently from the endpoints of the log. */

/** The path in the view of such a service: decoded, without dots, parameters and doubled slashes. */
function readPath(target: string): string {
  const [sent = ''] = target.replace(/^[a-z]+:\/\/[^/]+/i, '').split('?')
  const text = decodeURIComponent(decodeURIComponent(sent)).replaceAll('\\', '/').toLowerCase()
  const segments: string[] = []
  for (const segment of text.split('/')) {
    const [name = ''] = segment.split(';')
    if (name === '..') segments.pop()
    else if (name !== '' && name !== '.') segments.push(name)
  }
  return `/${segments.join('/')}`
}

const OF_SERVICE = new Set(['/projects', '/audit/settings', '/api/events/mine'])

/** The user of a request as the service knows it. */
const known = (context: object): string | null => headerOf(context, 'x-user') ?? null

/** The user as the endpoints find it. */
function username(context: object): string | null {
  const name = known(context)
  if (name === 'fail') throw new Error('the directory is away')
  return name
}

/** An app in which the service handles some requests, and the log the other ones. */
const appOf = (audit: AuditLog, required: boolean): App => ({
  record: [audit, { required, username: known }],
  own: ({ method, target }) =>
    method === 'POST' && OF_SERVICE.has(readPath(target)) ? { status: 201 } : undefined,
  mounts: [
    ['auditRoutes', audit, { username, authorize: (context: object) => known(context) !== 'bob' }],
    ['auditPage', audit, { username }],
  ],
})

/** Targets below the paths of the endpoints. The service treats them as its own paths. */
const TARGETS = [
  '/api/events/../../projects',
  '/api/events/./../../projects',
  '/api/events/%2e%2e/%2E%2E/projects',
  '/api/events/%252e%252e/%252e%252e/projects',
  '/api/events/..%2f..%2fprojects',
  '/api/events/..\\..\\projects',
  '/api/events/..;a=b/../projects',
  '/api/events/..//..//projects',
  '/api/events/../../PROJECTS?x=/api/events',
  '//api/events/../../projects',
  'http://example.com/api/events/../../projects',
  'http://example.com/api/events/mine',
  '/audit/../projects',
  '/audit/%2e%2e/projects',
  '/audit/settings',
  '/audit/Settings;v=1',
  '/api/events/mine',
]

const recorded = async (audit: AuditLog): Promise<unknown[]> =>
  (await eventsOf(audit)).map(({ type, attributes }) => [type, attributes['response_status']])

const REFUSED = 'error:unmatched:create'
const UNHANDLED = 'error:api:controller:unhandled'

describe.each(Object.entries(frameworks))('on %s', (_name, framework) => {
  const run = async (required = false) => {
    const audit = openLog()
    const url = await serveOn(framework(appOf(audit, required)))
    const request = async (path: string, raw: RawRequest = {}, name: string | null = 'ann') => {
      const headers = { ...raw.headers, ...(name !== null && { 'x-user': name }) }
      return (await send(url, path, { ...raw, user: null, headers })).status
    }
    return { audit, request }
  }

  it.each([[false], [true]])(
    'a request that the service answers is recorded for any path (required: %s)',
    async (required) => {
      const { audit, request } = await run(required)
      const statuses: number[] = []
      for (const target of TARGETS) statuses.push(await request(target, { method: 'POST' }))
      const handled = statuses.filter((status) => status === 201)
      // @hono/node-server refuses one of the requests.
      expect(handled.length).toBeGreaterThanOrEqual(TARGETS.length - 1)
      const type = expect.stringMatching(/^api:/) as string
      expect(await recorded(audit)).toEqual(handled.map((status) => [type, status]))
    },
  )

  it.each([[false], [true]])(
    'a request that an endpoint of the log answers leaves no event unless it is refused (required: %s)',
    async (required) => {
      const { audit, request } = await run(required)
      const answers: readonly [string, RawRequest, string | null, number][] = [
        ['/api/events', newEvent({ type: 'noted' }), 'ann', 201],
        ['/api/events', newEvent({ type: 'noted' }), null, 401],
        ['/api/events', { method: 'POST' }, 'ann', 415],
        ['/api/events', { method: 'DELETE' }, 'ann', 405],
        ['/api/events', {}, 'ann', 200],
        ['/api/events/nothing/here', { method: 'POST' }, 'ann', 404],
        ['/audit', { method: 'POST' }, 'ann', 405],
        ['/audit', { method: 'POST' }, null, 401],
        ['/api/events', {}, null, 401],
        ['/api/events/stream', {}, 'bob', 403],
        ['/api/events', {}, 'bob', 403],
      ]
      for (const [path, raw, name, status] of answers)
        expect([path, raw.method, await request(path, raw, name)]).toEqual([
          path,
          raw.method,
          status,
        ])
      expect(await recorded(audit)).toEqual([
        ['noted', undefined],
        ['error:audit_log:refused', 401],
        ['error:audit_log:refused', 403],
      ])
      const counted = await eventsAtClose(audit)
      expect(
        counted.map(({ username, attributes: { count, response_status, error } }) => [
          response_status,
          username,
          count,
          typeof error,
        ]),
      ).toEqual([
        [401, null, 2, 'string'],
        [403, 'bob', 1, 'string'],
      ])
    },
  )

  it('a request near the paths of the endpoints is handled by the service', async () => {
    const { audit, request } = await run()
    for (const path of ['/api/event', '/api/eventsX', '/auditors', '//audit', '/API/events'])
      expect([path, await request(path, { method: 'POST' })]).toEqual([path, 404])
    expect(await recorded(audit)).toEqual(Array.from({ length: 5 }, () => [REFUSED, 404]))
  })

  it('an error of a function of the host is a failure of the service', async () => {
    const { audit, request } = await run()
    expect(await request('/api/events', newEvent({ type: 'noted' }), 'fail')).toBe(500)
    expect(await recorded(audit)).toEqual([[UNHANDLED, 500]])
  })
})
