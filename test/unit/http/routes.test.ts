import { expect, it } from 'vitest'
import { rightOf } from '../../../src/http/openapi/route.js'
import { eventsRoutes, severalLogsRoutes, viewsRoutes } from '../../../src/http/openapi/routes.js'

/** The endpoints of one log: the right, and the right for several logs. */
const RIGHTS: readonly (readonly [endpoint: string, right?: string, ofSeveral?: string])[] = [
  ['GET ', 'list', 'list'],
  ['POST /search', 'list', 'list'],
  ['POST ', 'create'],
  ['GET /stream', 'stream', 'stream'],
  ['GET /counts', 'count', 'count'],
  ['POST /counts', 'count', 'count'],
  ['GET /groups', 'count', 'count'],
  ['GET /export', 'export', 'export'],
  ['GET /report', 'export', 'export'],
  ['GET /history', 'list', 'list'],
  ['GET /checkpoint', 'read'],
  ['GET /ledger', 'read'],
  ['GET /types', 'types'],
  ['GET /me'],
  ['GET /openapi.json', 'describe'],
  ['GET /{id}', 'read', 'read'],
  ['GET /{id}/proof', 'read'],
]

/** Endpoints that only a single log has. */
const OF_ONE = /^POST $|\/checkpoint$|\/ledger$|\/proof$/

it('the endpoints of one log need these rights', () => {
  const rights = eventsRoutes.map((route) => [`${route.method} ${route.path}`, rightOf(route)])
  expect(rights).toEqual(RIGHTS.map(([endpoint, right]) => [endpoint, right]))
})

it('the endpoints of several logs are those of one log that read, with the same rights', () => {
  const rights = severalLogsRoutes.map(({ method, path, right }) => [`${method} ${path}`, right])
  const expected = RIGHTS.filter(([endpoint]) => !OF_ONE.test(endpoint)).map(
    ([endpoint, , right]) => [
      endpoint === 'GET /openapi.json' ? endpoint : endpoint.replace(' ', ' /events'),
      right,
    ],
  )
  expect(rights).toEqual([['GET ', undefined], ...expected])
})

it('the endpoints of several logs take their keys, and no consistency token', () => {
  const withKeys = severalLogsRoutes.filter(({ parameters, form = [] }) =>
    [...parameters, ...form].includes('logs'),
  )
  const others = severalLogsRoutes.filter((route) => !withKeys.includes(route))
  expect(others.map(({ action }) => action)).toEqual(['logs', 'types', 'describe'])
  for (const { problems } of withKeys) expect(problems).toContain(404)
  for (const { parameters, problems } of severalLogsRoutes) {
    expect(parameters).not.toContain('Consistency-Token')
    expect(problems).not.toContain(412)
  }
})

it.each([
  ['GET', '', [200, 206, 304], [400, 406], ['filter', 'limit', 'If-None-Match']],
  ['POST', '', [201], [400, 406, 409, 413, 415, 422], []],
  ['GET', '/{id}', [200, 304], [400, 404, 406], ['id', 'If-None-Match']],
  ['PATCH', '/{id}', [200], [400, 404, 406, 409, 413, 415, 422], ['id']],
  ['DELETE', '/{id}', [204], [400, 404], ['id']],
])('%s <views>%s has the statuses and parameters of its kind', (method, path, ...expected) => {
  const route = viewsRoutes.find((one) => one.method === method && one.path === path)!
  expect([Object.keys(route.responses).map(Number), route.problems, route.parameters]).toEqual(
    expected,
  )
})
