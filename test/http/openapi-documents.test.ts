import fs from 'node:fs'
import { Validator } from '@seriousme/openapi-schema-validator'
import { AuditLog } from 'daybook'
import { memoryStore } from 'daybook/memory'
import { workflowEventTypes } from 'daybook/workflow'
import { afterAll, describe, expect, it } from 'vitest'
import { managementRoutes, viewsRoutes } from '../../src/http/openapi/routes.js'
import { expectError } from '../support/expect-error.js'
import { JSON_API } from '../support/http.js'
import {
  compileAll,
  compileIn,
  componentsOf,
  describeEndpoints,
  describeSubscriptions,
  describeViews,
  objectsIn,
  type OpenApiDocument,
} from '../support/openapi.js'
import { PATH } from './access.js'
import { requests, serveManagement, SUBSCRIPTIONS } from './managing.js'
import { serveViews, VIEWS } from './views-served.js'

const audit = new AuditLog({ store: memoryStore(), types: workflowEventTypes })
afterAll(() => audit.close())

const subscriptions = describeSubscriptions('/api')

/** The methods of one path. */
const all = (path: string, methods: string): string[] =>
  methods.split(' ').map((method) => `${method} ${path}`)

const SUBSCRIPTION = '/api/subscriptions/{id}'
const CHANNEL = '/api/notification_channels/{id}'

const documents: readonly {
  readonly name: string
  readonly document: OpenApiDocument
  readonly minSchemas: number
  readonly operations: readonly string[]
}[] = [
  {
    name: 'the feed',
    document: describeEndpoints(audit, PATH),
    minSchemas: 40,
    operations: [
      ...all(PATH, 'get post'),
      `post ${PATH}/search`,
      `get ${PATH}/stream`,
      ...all(`${PATH}/counts`, 'get post'),
      ...'groups export report history checkpoint ledger types me openapi.json {id} {id}/proof'
        .split(' ')
        .map((name) => `get ${PATH}/${name}`),
    ],
  },
  {
    name: 'subscriptions and channels',
    document: subscriptions,
    minSchemas: 40,
    operations: [
      ...all(SUBSCRIPTIONS, 'get post'),
      `get ${SUBSCRIPTIONS}/me`,
      `get ${SUBSCRIPTIONS}/openapi.json`,
      ...all(SUBSCRIPTION, 'get patch delete'),
      ...['pause', 'resume', 'replay', 'test', 'redrive', 'discard'].map(
        (name) => `post ${SUBSCRIPTION}/${name}`,
      ),
      `get ${SUBSCRIPTION}/parked`,
      ...all('/api/notification_channels', 'get post'),
      ...all(CHANNEL, 'get patch delete'),
      ...['enable', 'disable', 'rotate_secret', 'test'].map((name) => `post ${CHANNEL}/${name}`),
    ],
  },
  {
    name: 'views',
    document: describeViews(VIEWS),
    minSchemas: 15,
    operations: [
      ...all(VIEWS, 'get post'),
      `get ${VIEWS}/me`,
      `get ${VIEWS}/openapi.json`,
      ...all(`${VIEWS}/{id}`, 'get patch delete'),
    ],
  },
]

describe.each(documents)('the OpenAPI document of $name', (row) => {
  const { document, minSchemas, operations } = row

  it('is valid in OpenAPI 3.1', async () => {
    const validator = new Validator()
    expect(await validator.validate({ ...document })).toMatchObject({ valid: true })
    expect(validator.version).toBe('3.1')
  })

  it('has schemas that each compile in strict mode', () => {
    expect(compileAll(document)).toBeGreaterThan(minSchemas)
  })

  it('has no dangling references and no unused components', () => {
    const { referred, defined } = componentsOf(document)
    expect(referred).toEqual(defined)
  })

  it('has a summary and a description of every endpoint', () => {
    const endpoints = [...objectsIn(document)].filter(({ operationId }) => operationId)
    for (const { operationId, summary, description } of endpoints) {
      expect(summary, operationId as string).toMatch(/^[A-Z][^.]+$/)
      expect(description, operationId as string).toMatch(/^[A-Z`].+\.$/)
    }
  })

  it('describes every endpoint, with ids of their own', () => {
    const described = Object.entries(document.paths).flatMap(([path, item]) =>
      Object.keys(item).map((method) => `${method} ${path}`),
    )
    expect(described).toEqual(operations)
    const ids = [...objectsIn(document)].flatMap(({ operationId }) => operationId ?? [])
    expect(new Set(ids).size).toBe(operations.length)
  })
})

it('a document without a title is not valid', async () => {
  const wrong = { ...subscriptions, info: {} }
  expect(await new Validator().validate(wrong)).toMatchObject({ valid: false })
})

it.each([
  ['Subscriptions and channels', '/api', managementRoutes],
  ['Views', VIEWS, viewsRoutes],
] as const)('the reference lists the endpoints of %s', (heading, start, routes) => {
  const reference = fs.readFileSync(
    new URL('../../docs/reference/http.md', import.meta.url),
    'utf8',
  )
  const section = reference.split(`\n## ${heading}\n`)[1]!.split('\n## ')[0]!
  const rows = [...section.matchAll(/^\| `([A-Z]+) ([^`]+)` \| (\S+) \| (\d+)/gm)]
  const listed = rows.map(([, ...cells]) => cells.join(' '))
  const described = routes.map(({ method, path, action, responses }) =>
    [
      method,
      start + path.replace('{id}', '<id>'),
      action === 'me' ? 'none' : `\`${action}\``,
      Object.keys(responses)[0],
    ].join(' '),
  )
  expect(listed.toSorted()).toEqual(described.toSorted())
})

it('bodies of subscriptions are described as the endpoints accept them', async () => {
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
    const validate = compileIn(subscriptions, subscriptions.components.schemas[schema]!)
    expect(validate(JSON.parse(body as string)), name).toBe(true)
    expect(validate({}), name).toBe(schema === 'Replay')
  }
  expect(used.toSorted()).toEqual(Object.values(bodies).toSorted())
})

it('the document of subscriptions has the paths of the mount, and an entity tag', async () => {
  const server = await serveManagement({ routes: { path: '/audit/api' } })
  expect((await server.send(`${SUBSCRIPTIONS}/openapi.json`)).status).toBe(404)
  const path = '/audit/api/subscriptions/openapi.json'
  const { status, headers, body } = await server.send(path)
  expect([status, headers['content-type']]).toEqual([200, 'application/json'])
  const own = JSON.parse(body) as OpenApiDocument
  expect(Object.keys(own.paths)).toContain('/audit/api/notification_channels/{id}/test')
  expect(headers.etag).toBeDefined()
  const refused = await server.send(path, { headers: { accept: JSON_API } })
  expectError(refused, 406, 'NOT_ACCEPTABLE')
})

it('the document of views is served', async () => {
  const server = await serveViews()
  const { body } = await server.send(`${VIEWS}/openapi.json`)
  expect(JSON.parse(body)).toEqual(describeViews(VIEWS))
})
