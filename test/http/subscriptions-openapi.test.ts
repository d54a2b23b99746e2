import fs from 'node:fs'
import { Validator } from '@seriousme/openapi-schema-validator'
import { expect, it } from 'vitest'
import { managementRoutes } from '../../src/http/subscriptions/routes.js'
import { errorOf, JSON_API } from '../support/http.js'
import {
  compileAll,
  compileIn,
  componentsOf,
  describeSubscriptions,
  objectsIn,
  type OpenApiDocument,
} from '../support/openapi.js'
import { requests, serveManagement, SUBSCRIPTIONS } from './managing.js'

const PATH = `${SUBSCRIPTIONS}/openapi.json`
const document = describeSubscriptions('/api')

it('is a valid OpenAPI 3.1 document', async () => {
  const validator = new Validator()
  expect(await validator.validate({ ...document })).toMatchObject({ valid: true })
  expect(validator.version).toBe('3.1')
})

it('has schemas that each compile in strict mode', () => {
  expect(compileAll(document)).toBeGreaterThan(40)
})

it('has no dangling references and no unused components', () => {
  const { referred, defined } = componentsOf(document)
  expect(referred).toEqual(defined)
})

it('describes every endpoint, with ids of their own', () => {
  const operations = Object.entries(document.paths).flatMap(([path, item]) =>
    Object.keys(item).map((method) => `${method} ${path}`),
  )
  const one = '/api/subscriptions/{id}'
  const channel = '/api/notification_channels/{id}'
  expect(operations).toEqual([
    'get /api/subscriptions',
    'post /api/subscriptions',
    'get /api/subscriptions/me',
    'get /api/subscriptions/openapi.json',
    ...['get', 'patch', 'delete'].map((method) => `${method} ${one}`),
    ...['pause', 'resume', 'replay', 'test', 'redrive', 'discard'].map(
      (name) => `post ${one}/${name}`,
    ),
    `get ${one}/parked`,
    'get /api/notification_channels',
    'post /api/notification_channels',
    ...['get', 'patch', 'delete'].map((method) => `${method} ${channel}`),
    ...['enable', 'disable', 'rotate_secret', 'test'].map((name) => `post ${channel}/${name}`),
  ])
  const ids = [...objectsIn(document)].flatMap(({ operationId }) =>
    operationId === undefined ? [] : [operationId],
  )
  expect(new Set(ids).size).toBe(operations.length)
})

it('is what the reference lists', () => {
  const reference = fs.readFileSync(
    new URL('../../docs/reference/http.md', import.meta.url),
    'utf8',
  )
  const section = reference.split('\n## Subscriptions and channels\n')[1]!.split('\n## ')[0]!
  const rows = [...section.matchAll(/^\| `([A-Z]+) ([^`]+)` \| (\S+) \| (\d+)/gm)]
  const listed = rows.map(([, ...cells]) => cells.join(' '))
  const described = managementRoutes.map(({ method, path, action, responses }) =>
    [
      method,
      `/api${path.replace('{id}', '<id>')}`,
      action === 'me' ? 'none' : `\`${action}\``,
      Object.keys(responses)[0],
    ].join(' '),
  )
  expect(listed.toSorted()).toEqual(described.toSorted())
})

it('describes bodies as the endpoints accept them', async () => {
  const server = await serveManagement()
  const subscription = await server.create('mine')
  const channel = await server.createChannel('pad')
  const bodies: Readonly<Record<string, string>> = {
    'subscriptions:create': 'NewSubscription',
    'subscriptions:update': 'SubscriptionChange',
    'subscriptions:replay': 'Replay',
    'subscriptions:redrive': 'Which',
    'notification_channels:create': 'NewChannel',
    'notification_channels:update': 'ChannelChange',
  }
  const used: string[] = []
  for (const [name, , { body }] of requests(subscription, channel)) {
    const schema = bodies[name]
    if (schema === undefined) continue
    used.push(schema)
    const validate = compileIn(document, document.components.schemas[schema]!)
    expect(validate(JSON.parse(body as string)), name).toBe(true)
    expect(validate({}), name).toBe(schema === 'Replay')
  }
  expect(used.toSorted()).toEqual(Object.values(bodies).toSorted())
})

it('has the paths of the mount, and an entity tag', async () => {
  const server = await serveManagement({ routes: { path: '/audit/api' } })
  expect((await server.send(PATH)).status).toBe(404)
  const response = await server.send('/audit/api/subscriptions/openapi.json')
  expect([response.status, response.headers['content-type']]).toEqual([200, 'application/json'])
  const own = JSON.parse(response.body) as OpenApiDocument
  expect(Object.keys(own.paths)).toContain('/audit/api/notification_channels/{id}/test')
  expect(response.headers.etag).toBeDefined()
  const refused = await server.send('/audit/api/subscriptions/openapi.json', {
    headers: { accept: JSON_API },
  })
  expect([refused.status, errorOf(refused).code]).toEqual([406, 'NOT_ACCEPTABLE'])
})
