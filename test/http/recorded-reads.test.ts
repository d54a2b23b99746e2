import {
  AuditLog,
  AuditLogs,
  type AuditEvent,
  type AuditLogOptions,
  type EventTypes,
} from 'daybook'
import { memoryLogs, memoryStore } from 'daybook/memory'
import { auditRoutes, basicAuth, logRoutes } from 'daybook/node'
import { faultyStore } from 'daybook/testing'
import { expect, it, onTestFinished } from 'vitest'
import { send } from '../support/http.js'
import { listen } from '../support/node-server.js'
import { openStream } from '../support/server-sent.js'

const types = { note: {} }
const OWN = 'filter[type_start]=info:audit_log:read&limit=1000'
const EVENTS = '/api/events'

async function start(options: Partial<AuditLogOptions<EventTypes>> = {}) {
  const store = faultyStore(memoryStore())
  const audit = new AuditLog<EventTypes>({ store, types, ownEvents: { reads: true }, ...options })
  audit.on('rejected', () => {})
  const authenticate = basicAuth({ users: { ann: 'ann', bob: 'bob' } })
  const routes = auditRoutes(audit)
  const { url, close } = await listen((request, response) =>
    authenticate(request, response, () => routes(request, response)),
  )
  onTestFinished(async () => {
    await close()
    await audit.close()
  })
  const reads = async (): Promise<unknown[]> =>
    (await audit.list(OWN)).events.map(({ username, attributes }) => ({ username, ...attributes }))
  return { audit, store, url, reads }
}

it('records nothing unless the option asks for it', async () => {
  const { url, reads } = await start({ ownEvents: undefined })
  await send(url, EVENTS)
  expect(await reads()).toEqual([])
})

/** A request, its action, the names of its conditions, and the values that are kept. */
const REQUESTS: [path: string, action: string, conditions: string[], values: object][] = [
  ['', 'list', [], {}],
  ['?limit=3&q=mallory', 'list', ['q'], {}],
  [
    '?filter[username_eq]=ann&filter[name_cont]=mallory',
    'list',
    ['name', 'username'],
    { username_eq: ['ann'] },
  ],
  ['?filter%5Btype_or_name_eq%5D=mallory', 'list', ['name', 'type'], {}],
  [
    '?filter[g][0][c][0][a]=created_at&filter[g][0][c][0][p]=gt&filter[g][0][c][0][v]=2026-01-01',
    'list',
    ['created_at'],
    { created_at_gt: ['2026-01-01'] },
  ],
  ['/counts?facets[]=name', 'count', ['facets'], {}],
  ['/export?format=ndjson', 'export', [], {}],
  ['/report', 'export', [], {}],
  ['/history?source=/api/a', 'list', ['source'], { source: ['/api/a'] }],
]

it.each(REQUESTS)('records GET %s', async (path, action, conditions, values) => {
  const { url, reads } = await start()
  const { status } = await send(url, EVENTS + path)
  expect(status).toBe(200)
  expect(await reads()).toEqual([{ username: 'ann', action, conditions, values }])
})

it('records which event was read by its id', async () => {
  const { audit, url, reads } = await start()
  const { id } = (await audit.record('note'))!
  await send(url, `${EVENTS}/${id}`)
  await send(url, `${EVENTS}/${id.replace(/.$/, 'x')}`)
  expect(await reads()).toMatchObject([
    { action: 'read', conditions: ['id'], values: { id: [id] } },
  ])
})

it('does not keep the words of a search in a body', async () => {
  const { url, reads } = await start()
  const body = 'filter[name_cont]=mallory&filter[username_eq]=ann'
  const headers = { 'content-type': 'application/x-www-form-urlencoded' }
  const { status } = await send(url, `${EVENTS}/search`, { method: 'POST', headers, body })
  expect(status).toBe(200)
  expect(await reads()).toMatchObject([
    { conditions: ['name', 'username'], values: { username_eq: ['ann'] } },
  ])
})

it('records one event an hour for each user, action and names of conditions', async () => {
  const { url, reads } = await start()
  for (const name of ['a', 'b', 'c']) await send(url, `${EVENTS}?filter[name_eq]=${name}`)
  await send(url, EVENTS, { user: 'bob' })
  expect(await reads()).toMatchObject([
    { username: 'ann', conditions: ['name'] },
    { username: 'bob', conditions: [] },
  ])
})

it('does not record refused requests, and those that read no events', async () => {
  const { url, reads } = await start()
  await send(url, EVENTS, { user: null })
  for (const path of ['?filter[nope]=1', '/me', '/types', '/openapi.json'])
    await send(url, EVENTS + path)
  expect(await reads()).toEqual([])
})

it('records one read of a stream, which gets its event once', async () => {
  const { audit, url, reads } = await start()
  const stream = await openStream(`${url}${EVENTS}/stream`)
  await audit.record('note', { n: 1 })
  await audit.record('note', { n: 2 })
  const seen = (await stream.take(3)).map(({ data }) => JSON.parse(data) as { data: AuditEvent })
  stream.leave()
  expect(JSON.stringify(seen)).toContain('"n":2')
  expect(await reads()).toMatchObject([{ action: 'stream' }])
})

it('refuses a read that it cannot record', async () => {
  const { store, url, reads } = await start()
  store.fail('append', 1)
  expect((await send(url, EVENTS)).status).toBeGreaterThanOrEqual(500)
  expect((await send(url, EVENTS)).status).toBe(200)
  expect(await reads()).toHaveLength(1)
})

it('goes on with a read that it cannot record under the policy drop', async () => {
  const { store, url } = await start({ failurePolicy: 'drop' })
  store.fail('append', 1)
  expect((await send(url, EVENTS)).status).toBe(200)
})

it('records a read of several logs in each of them', async () => {
  const logs = new AuditLogs({ stores: memoryLogs(), types, ownEvents: { reads: true } })
  const authenticate = basicAuth({ users: { ann: 'ann' } })
  const routes = logRoutes(logs)
  const { url, close } = await listen((request, response) =>
    authenticate(request, response, () => routes(request, response)),
  )
  onTestFinished(async () => {
    await close()
    await logs.close()
  })
  for (const key of ['a', 'b', 'c']) await logs.log(key).record('note')
  await send(url, '/api/logs/events?logs[]=a&logs[]=b&filter[name_eq]=x')
  await send(url, '/api/logs/c/events')
  const conditionsOf = async (key: string): Promise<unknown[]> =>
    (await logs.log(key).list(OWN)).events.map(({ attributes }) => attributes['conditions'])
  expect(await conditionsOf('a')).toEqual([['name']])
  expect(await conditionsOf('b')).toEqual([['name']])
  expect(await conditionsOf('c')).toEqual([[]])
})
