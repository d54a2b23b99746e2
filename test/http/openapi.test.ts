import { AuditLog, defineEventTypes } from 'daybook'
import { auditRoutes, basicAuth } from 'daybook/koa'
import { memoryStore } from 'daybook/memory'
import { workflowEventTypes, workflowLinks } from 'daybook/workflow'
import Koa from 'koa'
import * as v from 'valibot'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { problems } from '../../src/http/problem.js'
import { errorCodes } from '../../src/errors.js'
import { predicates } from '../../src/filter/predicates.js'
import { expectError } from '../support/expect-error.js'
import { JSON_API, newEvent, send, serve, type TestServer } from '../support/http.js'
import { compileIn, objectsIn, type OpenApiDocument } from '../support/openapi.js'
import { serveMounted } from './access.js'

const PATH = '/api/events/openapi.json'

let server: TestServer
let document: OpenApiDocument

beforeAll(async () => {
  server = await serve()
  document = JSON.parse((await server.send(PATH)).body) as OpenApiDocument
})
afterAll(() => server.close())

describe('GET /api/events/openapi.json', () => {
  it('names every predicate, link attribute, error code and event type', () => {
    const text = JSON.stringify(document.components.parameters['filter'])
    for (const predicate of predicates.keys())
      expect(text).toMatch(new RegExp(`[ (|]${predicate}[,.|)]`))
    const consts = new Set([...objectsIn(document)].map((object) => object['const']))
    const names = { ...errorCodes, ...problems, ...workflowEventTypes }
    for (const name of Object.keys(names)) expect(consts, name).toContain(name)
    const input = JSON.stringify(document.components.schemas['NewEventDocument'])
    for (const { attribute } of workflowLinks) expect(input).toContain(`"${attribute}"`)
  })

  it('lists exactly the error codes of each status', () => {
    const codesOf = (status: number): unknown[] => {
      const objects = [...objectsIn(document.components.responses[`Problem${status}`])]
      return objects
        .map((object) => object['const'])
        .filter((code) => code !== undefined && code !== String(status))
    }
    expect(codesOf(406)).toEqual(['NOT_ACCEPTABLE'])
    expect(codesOf(409)).toContain('WRONG_RESOURCE_TYPE')
    expect(codesOf(400)).not.toContain('NOT_ACCEPTABLE')
  })

  it('describes filters so that clients can validate them', () => {
    const { schema } = document.components.parameters['filter'] as { schema: object }
    const validate = compileIn(document, schema)
    for (const filter of [
      { type_eq: 'x', name_cont_any: ['a', 'b'], m: 'or' },
      { created_at_not_null: '1', sorts: ['type', 'name desc'] },
      { type_in: 'x', g: { 0: {} } },
    ])
      expect(validate(filter), JSON.stringify(filter)).toBe(true)
    for (const filter of [{ type_equals: 'x' }, { type_eq: ['x'] }, { m: 'xor' }, { eq: 'x' }])
      expect(validate(filter), JSON.stringify(filter)).toBe(false)
  })

  it('describes the body of a POST as the endpoint accepts it', async () => {
    const validate = compileIn(document, document.components.schemas['NewEventDocument']!)
    const uuid = '0196b3c2-0000-7000-8000-00000000000A'
    const ids = workflowLinks.flatMap(({ attribute, kind }) =>
      kind === 'uuid' ? [[attribute, uuid]] : [],
    )
    for (const [attributes, isRight] of [
      [{ type: 'own', n: 1, nested: { a: [1] } }, true],
      [{ type: 'own', ...Object.fromEntries(ids), project_path: '/projects/a.b-c_1' }, true],
      [{ type: 'own', node_path: '/projects/a/environments/b/assets/..c', change_id: null }, true],
      [{ type: '' }, false],
      [{ type: 'x'.repeat(256) }, false],
      [{ n: 1 }, false],
      [{ type: 'own', username: 'eve' }, false],
      [{ type: 'own', change_id: 'x' }, false],
      [{ type: 'own', change_id: 7 }, false],
      [{ type: 'own', project_path: '/projects/a/environments/b' }, false],
      [{ type: 'own', node_path: '/projects/..' }, false],
      [{ type: 'own', node_path: '/projects/a/environments' }, false],
    ] as const) {
      const request = newEvent(attributes)
      expect(validate(JSON.parse(request.body as string)), request.body as string).toBe(isRight)
      const { status } = await server.send('/api/events', request)
      expect(status < 300, request.body as string).toBe(isRight)
    }
  })

  it('is JSON, and can be compressed', async () => {
    const whole = await server.send(PATH, { headers: { accept: 'application/json' } })
    expect(whole.headers['content-type']).toBe('application/json')
    const short = await server.send(PATH, { headers: { 'accept-encoding': 'br' } })
    expect(short.bytes.length).toBeLessThan(whole.bytes.length / 4)
    expect(short.headers.etag).toBe(whole.headers.etag)
    expectError(await server.send(PATH, { headers: { accept: JSON_API } }), 406, 'NOT_ACCEPTABLE')
  })

  it("contains the host's types, limits and path, for users that the host allows", async () => {
    const types = defineEventTypes({
      'api:orders:create': { description: 'Someone ordered', data: ['total'] },
      'api:orders:destroy': { data: v.object({ order: v.string() }) },
    })
    const audit = new AuditLog({ store: memoryStore(), types, limits: { maxBytes: 2048 } })
    const app = new Koa()
    app.use(basicAuth({ users: { ann: 'ann', eve: 'eve' } }))
    const authorize = (ctx: { state: object }, action: string): boolean =>
      action !== 'describe' || Object.values(ctx.state).includes('ann')
    app.use(auditRoutes(audit, { path: '/log', authorize }))
    const url = await serveMounted(app.callback(), audit, '/log')

    const { body } = await send(url, '/log/openapi.json')
    const own = JSON.parse(body) as OpenApiDocument
    expect(Object.keys(own.paths)).toContain('/log/{id}')
    const { oneOf } = own.components.schemas['SystemEventType'] as { oneOf: unknown[] }
    expect(oneOf).toContainEqual({
      const: 'api:orders:create',
      description: 'Someone ordered',
      'x-attributes': ['total'],
    })
    expect(oneOf).toContainEqual({ const: 'api:orders:destroy' })
    expect(body).toContain('At most 2048 bytes')
    expect((await send(url, '/log/openapi.json', { user: 'eve' })).status).toBe(403)
    expect((await send(url, '/log', { user: 'eve' })).status).toBe(200)
  })
})
