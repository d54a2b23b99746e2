import type { AuditRoutesOptions, EventsRead } from 'daybook/koa'
import { expect, it } from 'vitest'
import { expectError } from '../support/expect-error.js'
import { type AccessServer, PATH, startFeed } from './access.js'
import { inFull } from './counts.js'

/** A feed with one event, and the path of that event. */
async function started(feed: AuditRoutesOptions = {}): Promise<AccessServer & { one: string }> {
  const server = inFull(await startFeed(feed))
  const { id } = await server.record('ann')
  return { ...server, one: `${PATH}/${id}` }
}

/** Endpoints that read. The documents of endpoints that show events change with each event. */
const endpoints = [
  ['a list', '', 'changes'],
  ['one event', 'ONE', 'stays'],
  ['counts', '/counts?buckets=0', 'changes'],
  ['groups', '/groups?by=username', 'changes'],
  ['a history', '/history?resource[n]=1', 'stays'],
  ['types', '/types', 'stays'],
  ['the user', '/me', 'stays'],
  ['the OpenAPI document', '/openapi.json', 'stays'],
] as const

it.each(endpoints)('%s has an entity tag, and answers HEAD', async (_what, target, change) => {
  const server = await started()
  const path = target === 'ONE' ? server.one : PATH + target
  const { status, headers } = await server.send(path)
  expect([status, headers.etag]).toEqual([200, expect.stringMatching(/^W\/"[\w-]{27}"$/)])
  const known = { headers: { 'if-none-match': headers.etag } }
  const same = await server.send(path, known)
  expect([same.status, same.body]).toEqual([304, ''])
  const head = await server.send(path, { method: 'HEAD' })
  expect([head.status, head.headers.etag, head.body]).toEqual([200, headers.etag, ''])
  await server.record('ann')
  expect((await server.send(path, known)).status).toBe(change === 'changes' ? 200 : 304)
})

it.each(['/types', '/me', '/stream', '/openapi.json', '/none', '/counts', '/groups', '/history'])(
  '%s can only be read, by users who are known, in the types that it has',
  async (path) => {
    const server = await started()
    for (const method of ['PUT', 'DELETE']) {
      const refused = await server.send(PATH + path, { method })
      expectError(refused, 405, 'METHOD_NOT_ALLOWED')
      expect(refused.headers.allow).toBe(path === '/counts' ? 'GET, HEAD, POST' : 'GET, HEAD')
    }
    const unknown = await server.send(PATH + path, { user: null })
    expectError(unknown, 401, 'UNAUTHENTICATED')
    expect(unknown.headers['www-authenticate']).toBe('Basic realm="Daybook", charset="UTF-8"')
    const headers = { accept: 'text/html' }
    expectError(await server.send(PATH + path, { headers }), 406, 'NOT_ACCEPTABLE')
  },
)

it.each([
  ['list', ''],
  ['count', '/counts?facets=type'],
  ['count', '/groups?by=type'],
  ['list', '/history?resource[n]=1'],
])('onRead gets the action %s without events of %s', async (action, target) => {
  const reads: EventsRead[] = []
  const server = await startFeed({ onRead: (_ctx, read) => void reads.push(read) })
  await server.send(PATH + target)
  const query = target.replace(/^.*\?/, '')
  expect(reads).toEqual([{ action, username: 'ann', query, events: [] }])
})
