import type { EventStore } from 'daybook'
import { sqliteStore } from 'daybook/sqlite'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { expectError } from '../support/expect-error.js'
import { runScript } from '../support/child.js'
import {
  newEvent,
  type RawRequest,
  type RawResponse,
  serve,
  type TestServer,
} from '../support/http.js'
import { useSchemas } from '../support/schemas.js'
import { tempDir } from '../support/temp.js'

const CHILD = 'test/processes/idempotent-child.ts'

const withKey = (key: string, attributes: Record<string, unknown>, user = 'ann'): RawRequest => {
  const request = newEvent(attributes)
  return { ...request, user, headers: { ...request.headers, 'idempotency-key': key } }
}

const addresses = (responses: readonly RawResponse[]): Set<string> =>
  new Set(responses.map(({ status, headers }) => `${status} ${headers.location}`))

describe('POST /api/events with an Idempotency-Key', () => {
  let server: TestServer

  beforeEach(async () => {
    server = await serve()
  })
  afterEach(() => server.close())

  const post = (request: RawRequest) => server.send('/api/events', request)
  const stored = async () => (await server.audit.list()).events

  it('repeats the response', async () => {
    const request = withKey('"8e03978e-40d5-43dd-bc93-6894a57f9324"', { type: 'x', n: 1 })
    const [first, again] = [await post(request), await post(request)]
    expect([first.status, first.body]).toEqual([201, ''])
    const [event, ...others] = await stored()
    expect(others).toEqual([])
    expect(first.headers.location).toBe(`/api/events/${event!.id}`)
    expect([again.status, again.body, again.headers.location]).toEqual([
      201,
      '',
      first.headers.location,
    ])
  })

  it('treats equal JSON in any spelling as the same request', async () => {
    const body =
      '{ "data": { "attributes": {"n": 1e0, "a": {"c":"\\u0041","b":[2]}, "type": "x"}, "type": "event" } }'
    const first = withKey('k', { type: 'x', a: { b: [2], c: 'A' }, n: 1 })
    const responses = [await post(first), await post({ ...first, body })]
    expect(addresses(responses).size).toBe(1)
    expect(await stored()).toHaveLength(1)
  })

  it.each([
    ['other data', { type: 'x', n: 2 }],
    ['another type', { type: 'y', n: 1 }],
    ['the same members in another list order', { type: 'x', n: 1, list: [2, 1] }],
  ])('refuses %s', async (_title, attributes) => {
    await post(withKey('k', { type: 'x', n: 1, ...('list' in attributes && { list: [1, 2] }) }))
    const response = await post(withKey('k', attributes))
    expect(response.status).toBe(422)
    expectError(response, 422, 'IDEMPOTENCY_CONFLICT', { header: 'idempotency-key' })
    expect(await stored()).toHaveLength(1)
  })

  it('keeps the keys of users apart', async () => {
    const users = ['ann', 'bob', 'eve']
    const responses = await Promise.all(
      users.map((user, n) => post(withKey('k', { type: 'x', n }, user))),
    )
    expect(responses.map(({ status }) => status)).toEqual([201, 201, 201])
    const names = (await stored()).map(({ username }) => username)
    expect([names.length, new Set(names)]).toEqual([3, new Set(users)])
  })

  it.each([
    ['abc', '"abc"'],
    ['a"b\\c', '"a\\"b\\\\c"'],
  ])('treats the key %s like the structured field %s', async (plain, quoted) => {
    const responses = [plain, quoted].map((key) => post(withKey(key, { type: 'x' })))
    expect(addresses(await Promise.all(responses)).size).toBe(1)
  })

  it.each([
    '""',
    '"abc',
    '"a"b"',
    '"a\\b"',
    '"abc";q=1',
    'a b',
    '"a b"',
    'a, b',
    'é',
    'x'.repeat(256),
  ])('refuses the key %s', async (key) => {
    const response = await post(withKey(key, { type: 'x' }))
    expectError(response, 400, 'INVALID_HEADER', { header: 'idempotency-key' })
    expect(await stored()).toEqual([])
  })

  it('accepts another attempt after a refused body', async () => {
    expect((await post(withKey('k', { type: 'x', change_id: 1 }))).status).toBe(422)
    expect((await post(withKey('k', { type: 'x' }))).status).toBe(201)
  })
})

describe('several processes', () => {
  const schemas = useSchemas('idempotency')
  let temp: ReturnType<typeof tempDir>
  const open = new Set<TestServer>()

  beforeEach(() => {
    temp = tempDir()
  })
  afterEach(async () => {
    for (const server of open) await server.close()
    open.clear()
    temp.remove()
  })

  const places = {
    sqlite: {
      openStore: (): EventStore => sqliteStore({ filename: temp.file('audit.db') }),
      args: () => [temp.file('audit.db')],
    },
    postgres: {
      openStore: () => schemas.openStore(),
      args: () => [schemas.database().url, schemas.schema()],
    },
  }
  const serveOn = async (store: EventStore): Promise<TestServer> => {
    const server = await serve({ store })
    open.add(server)
    return server
  }
  const typesIn = async ({ audit }: TestServer): Promise<string[]> =>
    (await audit.list()).events.map(({ type }) => type)

  it.each(['sqlite', 'postgres'] as const)(
    'create one event on %s from 50 concurrent requests, and refuse others',
    async (place) => {
      const { openStore } = places[place]
      const servers = [await serveOn(openStore()), await serveOn(openStore())]
      const send = (n: number, i: number) =>
        servers[i % 2]!.send('/api/events', withKey('k', { type: 'test:once', n }))
      const responses = await Promise.all(Array.from({ length: 50 }, (_, i) => send(1, i)))
      expect(addresses(responses)).toEqual(new Set([`201 ${responses[0]!.headers.location}`]))
      for (const i of [0, 1]) expect((await send(2, i)).status).toBe(422)
      for (const server of servers) expect(await typesIn(server)).toEqual(['test:once'])
    },
  )

  it.each([
    ['sqlite', 'before the append'],
    ['sqlite', 'before it was noted'],
    ['postgres', 'before it was noted'],
  ] as const)('create one event on %s when a process was killed %s', async (place, death) => {
    const { openStore, args } = places[place]
    const child = runScript(CHILD, [death, ...args()])
    await child.saw('stopped')
    await child.kill()
    const server = await serveOn(openStore())
    const there = await typesIn(server)
    expect(there).toEqual(death === 'before the append' ? [] : ['test:once'])
    const request = withKey('k', { type: 'test:once', n: 1 })
    const responses = [request, request].map((one) => server.send('/api/events', one))
    expect(addresses(await Promise.all(responses)).size).toBe(1)
    const other = await serveOn(openStore())
    const last = await other.send('/api/events', request)
    expect(addresses([last, ...(await Promise.all(responses))]).size).toBe(1)
    expect(await typesIn(server)).toEqual(['test:once'])
  })
})
